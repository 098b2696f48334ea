// gRPC's gzip message encoding. Only servers link it: our own clients send and take messages as they are.
#pragma once

#include "daemons/common/wire/status.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace spur::wire {

// `message` compressed, or nothing where that would not save at least an eighth of it.
[[nodiscard]] std::string gzip(std::string_view message);
// Never makes more than `max_bytes`, however little is sent.
[[nodiscard]] RpcResult<std::string> gunzip(std::string_view packed, std::size_t max_bytes);

}  // namespace spur::wire
