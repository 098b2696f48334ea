// What the boundaries of the auth plugins have in common: how they name a caller, and how they introduce themselves.
#pragma once

#include <spur/plugin/auth.h>
#include <spur/plugin/plugin.hpp>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "core/version.hpp"

namespace spur::auth {

struct Who {
    const char* mechanism;
    std::uint32_t uid{SPUR_NONE}, gid{SPUR_NONE};
    std::uint32_t flags{};
    std::int64_t issued{}, expires{};
    const char* user{""};
    const char* origin{""};
};

inline void identify(spur_identity* out, const Who& who) {
    spur_identity identity{};
    identity.uid = who.uid;
    identity.gid = who.gid;
    identity.flags = who.flags;
    identity.issued = who.issued;
    identity.expires = who.expires;
    std::snprintf(identity.user, sizeof(identity.user), "%s", who.user);
    std::snprintf(identity.mechanism, sizeof(identity.mechanism), "%s", who.mechanism);
    std::snprintf(identity.origin, sizeof(identity.origin), "%s", who.origin);
    plugin::put(out, identity);
}

// What a credential, or an answer, is for.
template <class Asked>
std::string_view binding_of(const Asked* asked) {
    return {reinterpret_cast<const char*>(asked->binding), sizeof(asked->binding)};
}

inline constexpr const char* interfaces[] = {SPUR_AUTH_IFACE, nullptr};

template <const spur_auth_ops& ops>
const void* query(spur_plugin*, const char* id) {
    return std::string_view{id} == SPUR_AUTH_IFACE ? &ops : nullptr;
}

template <class Instance, const spur_auth_ops& ops, std::size_t Count>
constexpr spur_plugin_desc describe(const char* type, const char* summary, const spur_option (&options)[Count]) {
    return {.size = sizeof(spur_plugin_desc),
            .reserved = 0,
            .type = type,
            .version = program_version,
            .vendor = "Spur",
            .summary = summary,
            .options = options,
            .option_count = Count,
            .option_stride = sizeof(spur_option),
            .interfaces = interfaces,
            .create = plugin::create<Instance>,
            .destroy = plugin::destroy<Instance>,
            .query = query<ops>};
}

}  // namespace spur::auth
