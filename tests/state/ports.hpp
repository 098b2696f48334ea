// Ports for a test's controllers.
#pragma once

#include <cstdint>

namespace spur::test {

// A port on 127.0.0.1 that is free, as is the one a hundred above, where Raft listens.
std::uint16_t free_port_pair();

}  // namespace spur::test
