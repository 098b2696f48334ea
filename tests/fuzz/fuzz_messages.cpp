// Every message that a controller's methods take: no bytes crash it, every call is answered, and another controller
// that gets the same log comes to the same state. The input is a message whose fields are calls: the number chooses the
// method and the caller, the bytes are the request. A method that is added is covered from then on.
#include "tests/fuzz/controller_rig.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/wire_mutator.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t longest,
                                               unsigned seed) {
    return mutate_message(data, size, longest, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    const auto calls = fuzz::read_fields(as_text(data, size));
    if (!calls || calls->empty() || calls->size() > 20) return -1;
    static auto& rig = *new fuzz::ControllerRig;  // its threads live as long as the process
    for (const auto& call : *calls)
        if (call.kind == fuzz::Field::bytes) rig.send(call.number, call.text);
    rig.finish();
    return 0;
}
