// Where the members of a cluster are reached: its controllers and its nodes. Whoever connects to one asks here, and
// only here, so that a network of the cluster's own (the net axis) can give another answer than the address it goes by.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/text/endpoint.hpp"

namespace spur::wire {

inline constexpr std::string_view controller_name = "spurctld";  // as Audience has it; agents go by their node's name

struct Member {
    std::string_view name;     // of the node, or controller_name
    std::string_view address;  // as it is configured, or as the member said itself: "n1", "n1:6818"
    std::uint16_t port{0};     // where the address names none; 0: the usual one
};

Result<Endpoint> resolve(const Member& member);

// Of a configuration: `hosts`, or the only controller, which serves at `listen_addr`. A host without a port has that of
// `listen_addr`.
Result<std::vector<Endpoint>> resolve_controllers(std::string_view listen_addr, const std::vector<std::string>& hosts);

}  // namespace spur::wire
