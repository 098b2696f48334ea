// What is printed can be read back; what is no time or size is refused, whatever its bytes.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

namespace spur {
namespace {

RC_GTEST_PROP(T55FormatLaws, APrintedLimitReadsBackTheSame, ()) {
    const auto minutes = *rc::gen::inRange<std::uint32_t>(1, 100'000'000);
    RC_ASSERT(parse_limit_min(print_limit(minutes)).value() == minutes);
    RC_ASSERT(parse_limit_min(print_long_limit(minutes)).value() == minutes);
}

RC_GTEST_PROP(T55FormatLaws, APrintedMomentReadsBackTheSame, ()) {
    const auto time = *rc::gen::inRange<UnixSeconds>(86'400, 4'000'000'000);
    const auto now = *rc::gen::inRange<UnixSeconds>(86'400, 4'000'000'000);
    RC_ASSERT(print_time(parse_time(print_time(time), now).value()) == print_time(time));
}

RC_GTEST_PROP(T55FormatLaws, AnExactSizeReadsBackTheSame, ()) {
    const auto mib = *rc::gen::inRange<std::uint64_t>(0, 1ULL << 40);
    RC_ASSERT(parse_mib(print_mib_unconverted(mib)).value() == mib);
    if (!print_mib(mib).contains('.')) RC_ASSERT(parse_mib(print_mib(mib)).value() == mib);
}

RC_GTEST_PROP(T55FormatLaws, AnyBytesAreReadOrRefused, ()) {
    const auto text = *rc::gen::container<std::string>(rc::gen::element(
        'n', 'o', 'w', '+', '-', ':', '/', '.', '0', '1', '9', 'T', 'p', 'm', 'K', 'G', ' ', '\0', '\xff'));
    const auto now = *rc::gen::inRange<UnixSeconds>(0, 4'000'000'000);
    (void)parse_time(text, now);
    (void)parse_past_time(text, now);
    (void)parse_mib(text);
    (void)NodeCount::parse(text);
    if (const auto minutes = parse_limit_min(text))
        RC_ASSERT(parse_limit_min(print_limit(*minutes)).value() == *minutes);
}

}  // namespace
}  // namespace spur
