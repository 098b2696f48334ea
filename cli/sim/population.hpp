// The users and accounts of a trace, as the simulated cluster knows them: everybody has one share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cli/sim/trace.hpp"
#include "core/machine/command.hpp"

namespace spur::cli::sim {

class Population {
public:
    // What makes them known: accounts, users, their associations, and the QOS that jobs ask for.
    std::vector<spur::Command> move_in(const Trace& trace);

    const std::vector<std::string>& names() const { return names_; }  // in order of appearance
    std::uint32_t place(std::string_view user) const;                 // in names()
    Uid uid(std::string_view user) const { return first_uid + place(user); }
    static std::string_view nobody() { return "nobody"; }  // who owns jobs of which the trace does not say

private:
    static constexpr Uid first_uid = 10'000;
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> places_;
};

}  // namespace spur::cli::sim
