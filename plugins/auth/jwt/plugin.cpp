// auth/jwt, the boundary. The tokens themselves are in jwt.hpp.
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "jwt.hpp"
#include "plugins/auth/auth_plugin.hpp"

namespace {

using namespace spur::plugin;

constexpr std::int64_t own_token_s = 60;

std::int64_t now() { return static_cast<std::int64_t>(::time(nullptr)); }

// Clients have no key and bring a token; a key that is there must be a secret.
std::optional<std::string> load_key(const std::string& path) {
    if (path.empty()) return std::nullopt;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || ::access(path.c_str(), R_OK) != 0) {
        if (errno == EACCES || errno == ENOENT) return std::nullopt;
        throw Failure(SPUR_E_IO, "cannot look at key_file " + path + ": " + std::strerror(errno));
    }
    if ((info.st_mode & 077) != 0)
        throw Failure(SPUR_E_INVALID, "key_file " + path + " can be read by others; run chmod 600 on it");
    std::ifstream file{path, std::ios::binary};
    std::string key{std::istreambuf_iterator<char>{file}, {}};
    if (key.size() < 16) throw Failure(SPUR_E_INVALID, "key_file " + path + " holds less than 16 bytes");
    return key;
}

struct Instance {
    Instance(const spur_host* host, const spur_config* config)
        : key(load_key(option(config, "key_file").text)), leeway(option(config, "leeway").integer) {
        const std::string_view program{host->program};
        if (!key && (program == "spurctld" || program == "spurd"))
            throw Failure(SPUR_E_INVALID, "auth/jwt needs a readable key_file here; set it in [plugin.\"auth/jwt\"]");
    }
    std::optional<std::string> key;
    std::int64_t leeway;
};

std::optional<passwd> find_user(const char* name, uid_t uid, std::string& buffer) {
    buffer.resize(16384);
    passwd record{};
    passwd* found = nullptr;
    if (name != nullptr)
        getpwnam_r(name, &record, buffer.data(), buffer.size(), &found);
    else
        getpwuid_r(uid, &record, buffer.data(), buffer.size(), &found);
    if (found == nullptr) return std::nullopt;
    return record;
}

spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* sink, const spur_stop*,
                 spur_error* err) {
    return guard(err, [&] {
        if (const auto given = view(request->token); !given.empty()) return push(sink, given);
        const auto& instance = self_cast<Instance>(self);
        std::string buffer;
        const auto user = find_user(nullptr, ::geteuid(), buffer);
        if (!instance.key || !user)
            throw Failure(SPUR_E_DENIED, "there is no token: set SPUR_JWT, from `scontrol token` of an administrator");
        return push(sink, spur::jwt::make({user->pw_name, now(), now() + own_token_s}, *instance.key));
    });
}

// A token that names clusters is good there and nowhere else. A server without a cluster is one that several share.
bool is_meant_for(const std::vector<std::string>& named, std::string_view server) {
    const auto cluster = server.substr(0, server.find('/'));
    return named.empty() || cluster.empty() || std::ranges::find(named, cluster) != named.end();
}

void push_claims(const spur_claims* claims, const spur::jwt::Claims& token) {
    const auto push_one = [&](const char* name, std::string_view value) {
        claims->claim(claims, str(name), str(value));
    };
    std::istringstream scopes{token.scopes.value_or("")};
    for (std::string scope; scopes >> scope;) push_one("scope", scope);
    for (const auto& group : token.groups.value_or(std::vector<std::string>{})) push_one("group", group);
}

spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                   const spur_claims* claims, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        const auto& instance = self_cast<Instance>(self);
        if (!instance.key) throw Failure(SPUR_E_UNAVAILABLE, "there is no key to check tokens with");
        const auto token = spur::jwt::verify(view(credential), *instance.key, now(), instance.leeway);
        if (!token) return fail(err, SPUR_AUTH_REFUSED, token.error().text);
        if (!is_meant_for(token->audience, view(request->server)))
            return fail(err, SPUR_AUTH_REFUSED, "the token is meant for cluster " + token->audience.front());
        std::string buffer;
        const auto user = find_user(token->user.c_str(), 0, buffer);
        if (!user)
            return fail(err, SPUR_AUTH_REFUSED,
                        "the token is for user " + token->user + ", whom this system does not know");
        spur::auth::identify(out, {.mechanism = "jwt",
                                   .uid = user->pw_uid,
                                   .gid = user->pw_gid,
                                   .flags = (token->scopes ? SPUR_IDENTITY_IS_SCOPED : 0) |
                                            (token->groups ? SPUR_IDENTITY_HAS_GROUPS : 0),
                                   .issued = token->issued,
                                   .expires = token->expires,
                                   .user = token->user.c_str()});
        push_claims(claims, *token);
        return SPUR_OK;
    });
}

spur_status issue(spur_plugin* self, const spur_token_request* wanted, const spur_sink* token, const spur_stop*,
                  spur_error* err) {
    return guard(err, [&] {
        const auto& instance = self_cast<Instance>(self);
        if (!instance.key) throw Failure(SPUR_E_UNAVAILABLE, "there is no key to sign tokens with");
        spur::jwt::Claims claims{std::string{view(wanted->user)}, now(), wanted->expires};
        if (const auto scopes = view(wanted->scopes); !scopes.empty()) claims.scopes = scopes;
        if (const auto cluster = view(wanted->audience); !cluster.empty()) claims.audience = {std::string{cluster}};
        return push(token, spur::jwt::make(claims, *instance.key));
    });
}

constexpr spur_auth_ops ops{.size = sizeof(spur_auth_ops),
                            .features = SPUR_AUTH_ISSUES,
                            .make = make,
                            .verify = verify,
                            .make_answer = nullptr,
                            .verify_answer = nullptr,
                            .issue = issue,
                            .challenge = nullptr,
                            .respond = nullptr};

constexpr spur_option options[] = {
    {.key = "key_file", .kind = SPUR_OPTION_PATH, .help = "the key that signs tokens; needed by the daemons"},
    {.key = "leeway",
     .kind = SPUR_OPTION_DURATION,
     .fallback = "10s",
     .help = "how far clocks may differ",
     .minimum = 0,
     .maximum = 3600},
};
constexpr auto desc = spur::auth::describe<Instance, ops>("auth/jwt", "JSON Web Tokens with Slurm's claims", options);

}  // namespace

SPUR_PLUGIN(&desc)
