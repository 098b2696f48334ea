// What a plugin's process is told at its start, and what it answers.
#pragma once

#include <optional>

#include "daemons/common/host/isolation.hpp"
#include "daemons/common/isolate/pack.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::isolate {

struct Opening {
    host::IsolationWanted wanted;  // the axis by its name
    std::string axis;
    log::Level level{log::Level::info};
};
void pack(Pack& out, const host::IsolationWanted& wanted);
std::optional<Opening> unpack_opening(std::string_view bytes);

struct Opened {
    std::string module;      // encode_module()
    std::uint64_t ops{};     // bit i: it has the i-th op
    std::uint32_t header{};  // the word behind `size` of its table: features
    std::optional<Error> refusal;
};
void pack(Pack& out, const Opened& opened);
std::optional<Opened> unpack_opened(std::string_view bytes);

}  // namespace spur::isolate
