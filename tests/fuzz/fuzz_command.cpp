// Log entries: any bytes decode or are refused, and what decodes means the same when written again.
#include "core/store/codec.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    if (const auto command = decode_command(as_text(data, size))) {
        const auto bytes = encode(*command);
        const auto again = decode_command(bytes);
        must(again && again->at == command->at && encode(*again) == bytes);
    }
    return 0;
}
