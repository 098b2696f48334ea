// What controllers say to each other before libraft listens, and what they find in their logs: any bytes are a greeting
// or none, a pack of entries or none, and a stranger's proof is refused.
#include "plugins/state/raft/address.hpp"
#include "plugins/state/raft/greeting.hpp"
#include "plugins/state/raft/pack.hpp"
#include "plugins/state/raft/secure_session.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace spur;
using namespace spur::raftlog;

void check_greeting(std::string_view text) {
    const auto greeting = read_greeting(text);
    if (!greeting) return;
    const auto again = write_greeting(*greeting);
    const auto reread = read_greeting(again);
    must(reread && write_greeting(*reread) == again);
    static_cast<void>(Address::parse(greeting->address));
}

void check_pack(std::span<const std::uint8_t> bytes) {
    std::vector<spur_state_entry> entries;
    if (!read_pack(bytes, 1, entries)) return;
    std::size_t total = 0;
    for (const auto& entry : entries)  // inside the pack, every byte of them
        for (std::size_t i = 0; i < entry.body.length; ++i)
            total += static_cast<const std::uint8_t*>(entry.body.data)[i] != 0;
    must(total <= bytes.size());
}

void check_stranger(std::span<const std::uint8_t> bytes) {
    static const SecureContext context{Key{}};
    SecureSession session{context, Side::server};
    const auto received = session.receive(bytes);
    must(!received || !session.is_ready());
    must(session.take_plain().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span rest{data + 1, size - 1};
    switch (data[0] % 3) {
        case 0:
            check_greeting(as_text(rest.data(), rest.size()));
            break;
        case 1:
            check_pack(rest);
            break;
        default:
            check_stranger(rest);
            break;
    }
    return 0;
}
