// What the boundaries of the auth plugins have in common: how they name a caller, and how they introduce themselves.
#pragma once

#include <spur/plugin/auth.h>
#include <spur/plugin/plugin.hpp>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "core/version.hpp"

namespace spur::auth {

inline void identify(spur_identity* out, const char* mechanism, std::uint32_t uid, std::uint32_t gid,
                     std::int64_t issued, std::int64_t expires = 0, const char* user = "") {
    spur_identity who{};
    who.uid = uid;
    who.gid = gid;
    who.issued = issued;
    who.expires = expires;
    std::snprintf(who.user, sizeof(who.user), "%s", user);
    std::snprintf(who.mechanism, sizeof(who.mechanism), "%s", mechanism);
    plugin::put(out, who);
}

// What a credential is for; older callers name no audience.
inline std::string_view audience_of(const spur_auth_request* request) {
    return SPUR_HAS(spur_auth_request, request, audience) ? plugin::view(request->audience) : std::string_view{};
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
