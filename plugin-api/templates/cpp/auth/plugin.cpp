// @TYPE@, the boundary, and what a credential looks like: "uid.gid.time.nonce.signature", signed together with the
// request.
#include "hmac.hpp"

#include <spur/plugin/auth.h>
#include <spur/plugin/plugin.hpp>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

using namespace spur::plugin;

std::string random_hex(std::size_t bytes) {
    Digest random{};
    if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
        throw Failure(SPUR_E_INTERNAL, "the system gave no random numbers");
    return to_hex(random).substr(0, bytes * 2);
}

// The key in `path`; made on first use. Others must not be able to read it.
std::string load_key(const std::string& path) {
    const int made = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made >= 0) {
        const auto key = random_hex(32);
        const bool written = write(made, key.data(), key.size()) == static_cast<ssize_t>(key.size());
        close(made);
        if (!written) throw Failure(SPUR_E_IO, "cannot write the key file " + path);
    }
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw Failure(SPUR_E_UNAVAILABLE, "cannot read the key file " + path + ": " + std::strerror(errno));
    struct stat about {};
    char buffer[1024];
    const auto length = read(file, buffer, sizeof buffer);
    const bool exposed = fstat(file, &about) != 0 || (about.st_mode & 077) != 0;
    close(file);
    if (exposed) throw Failure(SPUR_E_INVALID, "the key file " + path + " can be read by others; chmod 600 it");
    if (length < 32) throw Failure(SPUR_E_INVALID, "the key file " + path + " holds less than 32 bytes");
    return {buffer, static_cast<std::size_t>(length)};
}

std::string key_path(const spur_host* host, const spur_config* config) {
    const std::string configured = option(config, "key_file").text;
    if (!configured.empty()) return configured;
    const auto state_dir = host_fact(host, "state_dir");
    if (state_dir.empty()) throw Failure(SPUR_E_INVALID, "no place for the key: set the option \"key_file\"");
    return state_dir + "/@NAME@.key";
}

struct Auth {
    Auth(const spur_host* host, const spur_config* config)
        : key(load_key(key_path(host, config))),
          lifetime_s(std::min<std::int64_t>(option(config, "lifetime").integer, 86400)) {}

    // What the signature covers: the claims, and the request they are for.
    std::string sign(std::string_view claims, const spur_auth_request& request) const {
        std::string text(claims);
        text += '\n';
        text.append(reinterpret_cast<const char*>(request.binding), sizeof request.binding);
        return to_hex(hmac_sha256(key, text));
    }
    const std::string key;
    const std::int64_t lifetime_s;
};

// Nothing here waits, so `stop` is left alone.
spur_status make(spur_plugin* self, const spur_auth_request* request, const spur_sink* out, const spur_stop*,
                 spur_error* err) {
    return guard(err, [&] {
        auto claims = std::to_string(geteuid()) + '.' + std::to_string(getegid()) + '.' +
                      std::to_string(std::time(nullptr)) + '.' + random_hex(8);
        return push(out, claims + '.' + self_cast<Auth>(self).sign(claims, *request));
    });
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

spur_status verify(spur_plugin* self, const spur_auth_request* request, spur_str credential, spur_identity* out,
                   const spur_claims*, const spur_stop*, spur_error* err) {
    return guard(err, [&] {
        const auto& auth = self_cast<Auth>(self);
        const auto text = view(credential);
        const auto refuse = [&](const char* why) { return fail(err, SPUR_AUTH_REFUSED, why); };
        const auto dot = text.rfind('.');
        if (text.size() > 256 || dot == std::string_view::npos) return refuse("the credential is not one of ours");
        const auto claims = text.substr(0, dot);
        if (!equal(text.substr(dot + 1), auth.sign(claims, *request)))
            return refuse("the signature is wrong: another key, another request, or a changed credential");

        const auto first = claims.find('.'), second = claims.find('.', first + 1), third = claims.find('.', second + 1);
        std::uint32_t uid = 0, gid = 0;
        std::int64_t issued = 0;
        if (!read_number(claims.substr(0, first), uid) ||
            !read_number(claims.substr(first + 1, second - first - 1), gid) ||
            !read_number(claims.substr(second + 1, third - second - 1), issued))
            return refuse("the credential is signed but makes no sense");
        const auto now = static_cast<std::int64_t>(std::time(nullptr));
        if (issued > now + auth.lifetime_s || now - issued > auth.lifetime_s)
            return refuse("the credential has expired, or the clocks of the two hosts differ");

        spur_identity who{};
        who.uid = uid;
        who.gid = gid;
        who.issued = issued;
        who.expires = issued + auth.lifetime_s;
        std::strcpy(who.mechanism, "@NAME@");
        spur::plugin::put(out, who);
        return SPUR_OK;
    });
}

constexpr spur_auth_ops ops{.size = sizeof(spur_auth_ops),
                            .features = SPUR_AUTH_BINDS_REQUEST | SPUR_AUTH_LOCAL_ONLY,
                            .make = make,
                            .verify = verify,
                            .make_answer = nullptr,
                            .verify_answer = nullptr,
                            .issue = nullptr,
                            .challenge = nullptr,
                            .respond = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_AUTH_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"key_file", SPUR_OPTION_PATH, 0, nullptr, "the shared key; by default @NAME@.key in the state directory", nullptr,
     0, 0},
    {"lifetime", SPUR_OPTION_DURATION, 0, "300s", "how long a credential works; at most a day", nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_AUTH_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "credentials signed with a shared key",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<Auth>,
                                .destroy = destroy<Auth>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
