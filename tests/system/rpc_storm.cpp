// rpc_storm SEED ROUNDS METHOD...: sends messages nobody meant to a controller, with a credential that is good, and
// says how many were answered. A method with "~" before its name is a stream; one with a host:port@ is an agent's.
//
// Bodies are well-formed on the wire as far as chance allows, with fields of any number and kind and values that have
// hurt somebody before, so that they reach the handlers; some are cut short or have a bit turned over.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "cli/common/session.hpp"

namespace {

using namespace std::chrono_literals;
using Dice = std::mt19937_64;

std::size_t below(Dice& dice, std::size_t limit) { return dice() % limit; }

void put_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

std::uint64_t odd_number(Dice& dice) {
    static constexpr std::uint64_t odd[] = {0,          1,           2,          7,          64,
                                            1000,       65535,       0x7fffffff, 0x80000000, 0xfffffffe,
                                            0xffffffff, 0x100000000, INT64_MAX,  UINT64_MAX};
    return below(dice, 4) == 0 ? dice() : odd[below(dice, std::size(odd))];
}

std::string odd_text(Dice& dice) {
    static constexpr const char* odd[] = {
        "",
        "1",
        "-1",
        "n1",
        "n[1-2",
        "n[1-99999999]",
        "1_[0-4294967295]",
        "1_4",
        "1+1",
        "all",
        "ALL",
        "main",
        "root",
        "gpu:4294967296",
        "0-18446744073709551615:7%3",
        "afterok:1,singleton?after:1+5",
        "UNLIMITED",
        "+10:00",
        "9999999999-00:00:00",
        "timelimit",
        "nodes",
        "users",
        "starttime",
        "duration",
        "now+1hour",
        "flags",
        "a&b|[c*2]",
        "%s%n",
        "../../../etc/passwd",
        "\n\r\t",
        "TERM",
        "cpu=1",
    };
    if (below(dice, 8) == 0) return std::string(below(dice, 70000), 'x');
    if (below(dice, 8) == 0) {
        std::string noise(below(dice, 40), '\0');
        for (auto& c : noise) c = static_cast<char>(dice());
        return noise;
    }
    return odd[below(dice, std::size(odd))];
}

std::string odd_message(Dice& dice, int depth = 0) {
    std::string out;
    for (auto fields = below(dice, 7); fields > 0; --fields) {
        const auto number = 1 + below(dice, depth == 0 ? 20 : 90);
        switch (below(dice, 8)) {
            case 0:
            case 1:
            case 2:
                put_varint(out, number << 3);
                put_varint(out, odd_number(dice));
                break;
            case 3:
                put_varint(out, number << 3 | 1);
                out.append(8, static_cast<char>(dice()));
                break;
            default: {
                const auto part = depth < 3 && below(dice, 3) == 0 ? odd_message(dice, depth + 1) : odd_text(dice);
                put_varint(out, number << 3 | 2);
                put_varint(out, part.size());
                out += part;
            }
        }
    }
    if (depth == 0 && !out.empty() && below(dice, 6) == 0) out.resize(below(dice, out.size()));
    if (depth == 0 && !out.empty() && below(dice, 6) == 0)
        out[below(dice, out.size())] ^= static_cast<char>(1 << below(dice, 8));
    return out;
}

bool storm(spur::wire::Channel& channel, const std::string& method, bool streams, Dice& dice) {
    if (!streams) {
        const auto reply =
            channel.unary(method, odd_message(dice), {.timeout = 10s, .idempotent = false, .metadata = {}});
        // A credential that is not taken would keep everything from the handlers.
        return reply || (reply.error().status != spur::wire::Status::deadline_exceeded &&
                         reply.error().status != spur::wire::Status::unauthenticated);
    }
    auto stream = channel.open(method, {.timeout = 10s, .idempotent = false, .metadata = {}});
    if (!stream) return false;
    for (int i = 0; i < 3; ++i) static_cast<void>(stream->write(odd_message(dice)));
    static_cast<void>(stream->half_close());
    static_cast<void>(stream->read(spur::wire::Clock::now() + 50ms));  // what it says is its own affair
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) return std::fprintf(stderr, "usage: rpc_storm SEED ROUNDS METHOD...\n"), 2;
    Dice dice{std::strtoull(argv[1], nullptr, 10)};
    const auto rounds = std::strtoul(argv[2], nullptr, 10);
    auto session = spur::cli::Session::open();
    if (!session) return std::fprintf(stderr, "rpc_storm: %s\n", session.error().text.c_str()), 1;
    unsigned long answered = 0;
    for (unsigned long round = 0; round < rounds; ++round)
        for (int i = 3; i < argc; ++i) {
            std::string_view name = argv[i];
            const bool streams = name.starts_with('~');
            if (streams) name.remove_prefix(1);
            const auto at = name.find('@');
            const bool is_agent = at != std::string_view::npos;
            const auto method = std::string(is_agent ? "/spur.v1.Agent/" : "/spur.v1.Controller/") +
                                std::string(is_agent ? name.substr(at + 1) : name);
            if (!is_agent) {
                answered += storm(session->channel(), method, streams, dice) ? 1 : 0;
                continue;
            }
            const auto agent = spur::Endpoint::parse(std::string(name.substr(0, at)));
            if (!agent) return std::fprintf(stderr, "rpc_storm: %s\n", agent.error().text.c_str()), 2;
            auto channel = session->channel_to(*agent, {});  // any agent will do
            answered += storm(channel, method, streams, dice) ? 1 : 0;
        }
    std::printf("%lu of %lu answered\n", answered, rounds * static_cast<unsigned long>(argc - 3));
    return 0;
}
