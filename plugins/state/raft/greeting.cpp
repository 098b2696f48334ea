// Greetings as text.
#include "greeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace spur::raftlog {
namespace {

constexpr std::string_view opening = "spur-raft 1\n";
constexpr std::array<std::string_view, 4> standings{"fresh", "joining", "founded", "established"};
constexpr std::array<std::string_view, 2> purposes{"ask", "raft"};

bool read_number(std::string_view text, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return error == std::errc{} && end == text.data() + text.size();
}

template <class Enum, std::size_t n>
bool read_name(std::string_view text, const std::array<std::string_view, n>& names, Enum& value) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return false;
    value = static_cast<Enum>(found - names.begin());
    return true;
}

bool read_line(std::string_view key, std::string_view value, Greeting& greeting) {
    if (key == "cluster") return greeting.cluster = value, true;
    if (key == "address") return greeting.address = value, true;
    if (key == "id") return read_number(value, greeting.id);
    if (key == "founders") return read_number(value, greeting.founders);
    if (key == "standing") return read_name(value, standings, greeting.standing);
    if (key == "purpose") return read_name(value, purposes, greeting.purpose);
    return true;
}

}  // namespace

std::string write_greeting(const Greeting& greeting) {
    return fmt::format("{}cluster {}\nid {:x}\naddress {}\nstanding {}\nfounders {:x}\npurpose {}\n\n", opening,
                       greeting.cluster, greeting.id, greeting.address,
                       standings[static_cast<std::size_t>(greeting.standing)], greeting.founders,
                       purposes[static_cast<std::size_t>(greeting.purpose)]);
}

std::optional<Greeting> read_greeting(std::string_view text) {
    if (!text.starts_with(opening)) return std::nullopt;
    text.remove_prefix(opening.size());
    Greeting greeting;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) break;
        const auto space = line.find(' ');
        if (space == std::string_view::npos) return std::nullopt;
        if (!read_line(line.substr(0, space), line.substr(space + 1), greeting)) return std::nullopt;
    }
    if (greeting.id == 0) return std::nullopt;
    return greeting;
}

}  // namespace spur::raftlog
