// How tasks are dealt over nodes, sockets and cores, as -m says it: cyclic:block, plane=4, *:fcyclic,pack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace spur {

enum class Spread : std::uint8_t { standard, block, cyclic, full_cyclic, plane, arbitrary };

struct Distribution {
    Spread nodes{Spread::standard};
    Spread sockets{Spread::standard};
    Spread cores{Spread::standard};
    std::uint32_t plane_size{};  // with plane; 0: not said
    std::optional<bool> pack;    // as few nodes as will do
    bool operator==(const Distribution&) const = default;

    // {*|block|cyclic|arbitrary|plane[=N]}[:{*|block|cyclic|fcyclic}[:...]][,{Pack|NoPack}], in any case of letters.
    // An empty text is the standard.
    static Result<Distribution> parse(std::string_view text);
};

// As Slurm shows that of a step: "Block", "CFCyclicBlock", "Cyclic,Pack".
std::string to_string(const Distribution& distribution);

}  // namespace spur
