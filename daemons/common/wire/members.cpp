// Members are at the addresses they go by: net/none's answer, and the only one so far.
#include "daemons/common/wire/members.hpp"

namespace spur::wire {

Result<Endpoint> resolve(const Member& member) {
    const auto usual = member.name == controller_name ? controller_port : agent_port;
    return Endpoint::parse(member.address, member.port != 0 ? member.port : usual);
}

Result<std::vector<Endpoint>> resolve_controllers(std::string_view listen_addr, const std::vector<std::string>& hosts) {
    Endpoint own{"localhost", controller_port};
    if (!listen_addr.empty()) {
        SPUR_TRY(own, Endpoint::parse(listen_addr));
        if (own.is_everywhere()) own.host = "localhost";
    }
    std::vector<Endpoint> controllers;
    for (const auto& host : hosts) {
        SPUR_TRY(auto named, resolve({controller_name, host, own.port}));
        controllers.push_back(std::move(named));
    }
    if (controllers.empty()) controllers.push_back(std::move(own));
    return controllers;
}

}  // namespace spur::wire
