// The decision to found or join.
#include "founding.hpp"

#include "libraft.hpp"

#include <algorithm>

namespace spur::raftlog {

Decision decide_founding(std::span<const std::optional<Greeting>> answers, std::uint64_t founders) {
    bool all_could_found = true;
    bool one_has_founded = false;
    for (const auto& answer : answers) {
        if (!answer) {
            all_could_found = false;
            continue;
        }
        if (answer->standing == Standing::established) return Decision::join;
        const bool agrees = answer->founders == founders && answer->standing != Standing::joining;
        if (!agrees) return Decision::wait;
        if (answer->standing == Standing::founded) one_has_founded = true;
    }
    return all_could_found || one_has_founded ? Decision::found : Decision::wait;
}

std::uint64_t founders_digest(const std::vector<Address>& hosts) {
    std::vector<std::string> names;
    for (const auto& host : hosts) names.push_back(host.client());
    std::ranges::sort(names);
    std::string all;
    for (const auto& name : names) all += name + "\n";
    return raft_digest(all.c_str(), names.size());
}

}  // namespace spur::raftlog
