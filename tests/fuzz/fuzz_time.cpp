// Times and sizes: what is accepted prints as something that reads back the same.
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    const auto text = as_text(data, size);
    if (const auto minutes = parse_limit_min(text)) must(parse_limit_min(print_limit(*minutes)) == *minutes);
    constexpr UnixSeconds now = 1'794'865'366;
    const auto moment = parse_time(text, now);
    if (moment && *moment > 0) must(!print_time(*moment).empty());
    if (moment) (void)print_time(*moment, now, "relative");
    (void)parse_past_time(text, now);
    (void)print_time(now, now, std::string{text});
    if (const auto mib = parse_mib(text)) must(parse_mib(print_mib_unconverted(*mib)) == *mib);
    if (const auto nodes = NodeCount::parse(text)) must(NodeCount::parse(nodes->str()) == *nodes);
    return 0;
}
