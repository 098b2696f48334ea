// auth/jwt, the boundary. The tokens themselves are in jwt.hpp.
#include <fcntl.h>
#include <pwd.h>
#include <spur/plugin/auth.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/version.hpp"
#include "jwt.hpp"

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

spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* sink, spur_error* err) {
    return guard(err, [&] {
        if (const auto given = view(request->token); !given.empty()) return push(sink, given);
        for (const char* name : {"SPUR_JWT", "SLURM_JWT"})
            if (const char* token = std::getenv(name); token != nullptr && *token != '\0') return push(sink, token);
        const auto& instance = self_cast<Instance>(self);
        std::string buffer;
        const auto user = find_user(nullptr, ::geteuid(), buffer);
        if (!instance.key || !user)
            throw Failure(SPUR_E_DENIED, "there is no token: set SPUR_JWT, from `scontrol token` of an administrator");
        return push(sink, spur::jwt::make({user->pw_name, now(), now() + own_token_s}, *instance.key));
    });
}

spur_status verify(spur_plugin* self, const spur_auth_request*, spur_str credential, spur_identity* out,
                   spur_error* err) {
    return guard(err, [&] {
        const auto& instance = self_cast<Instance>(self);
        if (!instance.key) throw Failure(SPUR_E_UNAVAILABLE, "there is no key to check tokens with");
        const auto claims = spur::jwt::verify(view(credential), *instance.key, now(), instance.leeway);
        if (!claims) return fail(err, SPUR_AUTH_REFUSED, claims.error().text);
        std::string buffer;
        const auto user = find_user(claims->user.c_str(), 0, buffer);
        if (!user)
            return fail(err, SPUR_AUTH_REFUSED,
                        "the token is for user " + claims->user + ", whom this system does not know");
        spur_identity who{};
        who.uid = user->pw_uid;
        who.gid = user->pw_gid;
        who.issued = claims->issued;
        who.expires = claims->expires;
        std::snprintf(who.user, sizeof(who.user), "%s", claims->user.c_str());
        std::snprintf(who.mechanism, sizeof(who.mechanism), "jwt");
        put(out, who);
        return SPUR_OK;
    });
}

spur_status issue(spur_plugin* self, uint32_t, spur_str user, uint32_t lifetime_s, const spur_sink* token,
                  spur_error* err) {
    return guard(err, [&] {
        const auto& instance = self_cast<Instance>(self);
        if (!instance.key) throw Failure(SPUR_E_UNAVAILABLE, "there is no key to sign tokens with");
        return push(token, spur::jwt::make({std::string{view(user)}, now(), now() + lifetime_s}, *instance.key));
    });
}

constexpr spur_auth_ops ops{.size = sizeof(spur_auth_ops),
                            .features = SPUR_AUTH_ISSUES,
                            .make = make,
                            .verify = verify,
                            .make_answer = nullptr,
                            .verify_answer = nullptr,
                            .issue = issue};

const void* query(spur_plugin*, const char* id) { return std::string_view{id} == SPUR_AUTH_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {.key = "key_file",
     .kind = SPUR_OPTION_PATH,
     .flags = 0,
     .fallback = nullptr,
     .help = "the key that signs tokens; needed by the daemons",
     .choices = nullptr,
     .minimum = 0,
     .maximum = 0},
    {.key = "leeway",
     .kind = SPUR_OPTION_DURATION,
     .flags = 0,
     .fallback = "10s",
     .help = "how far clocks may differ",
     .choices = nullptr,
     .minimum = 0,
     .maximum = 3600},
};
constexpr const char* interfaces[] = {SPUR_AUTH_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "auth/jwt",
                                .version = spur::program_version,
                                .vendor = "Spur",
                                .summary = "JSON Web Tokens with Slurm's claims",
                                .options = options,
                                .option_count = 2,
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Instance>,
                                .destroy = destroy<Instance>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
