// What two controllers tell each other once they have proved themselves: who they are and how far they have come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spur::raftlog {

enum class Standing : std::uint8_t {
    fresh,        // has nothing, and does not know yet whether to found a group or to join one
    joining,      // has nothing, and waits for a group to take it in
    founded,      // has written down the founding members; no leader has been seen yet
    established,  // belongs to a group that has had a leader
};

enum class Purpose : std::uint8_t {
    ask,   // greet and go
    raft,  // what follows is Raft's traffic
};

struct Greeting {
    std::string cluster;
    std::uint64_t id = 0;
    std::string address;  // Address::text()
    Standing standing = Standing::fresh;
    std::uint64_t founders = 0;  // digest of the members it was or would be founded with
    Purpose purpose = Purpose::ask;

    bool operator==(const Greeting&) const = default;
};

constexpr std::size_t longest_greeting = 2048;

// Lines of "key value", ended by an empty line; unknown keys are skipped, so later releases may say more.
std::string write_greeting(const Greeting& greeting);
std::optional<Greeting> read_greeting(std::string_view text);

}  // namespace spur::raftlog
