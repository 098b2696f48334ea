// How the core's own types are written in the tagged format, see core/store/tagged.hpp.
#pragma once

#include "core/base/bitset.hpp"
#include "core/base/text.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/dependency.hpp"
#include "core/model/gres.hpp"
#include "core/store/tagged.hpp"

namespace spur::archive {

// The version that brought a number of a list made by a macro.
consteval std::uint32_t version_of(std::uint32_t number, std::uint32_t LastNumbers::*list) {
    std::uint32_t version = first_state_version;
    while (version < newest_state_version && number > last_numbers[version - first_state_version].*list) ++version;
    return version;
}

inline constexpr std::uint32_t bit_member_limit = 1U << 20;  // keeps a forged set from eating the machine

void write_body(Writer& out, const Bitset& set);
void write_body(Writer& out, const TaskSet& tasks);
void write_body(Writer& out, const TresList& list);
inline void write_body(Writer& out, const Text& text) { out.bytes(text.view()); }

bool read_body(Reader in, Bitset& set);
bool read_body(Reader in, TaskSet& tasks);
bool read_body(Reader in, TresList& list);
inline bool read_body(Reader in, Text& text) { return text = Text{in.rest()}, true; }

}  // namespace spur::archive
