// Laws of hostlists over random names and random bytes.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "core/text/hostlist.hpp"

namespace spur {
namespace {

// Few prefixes and small numbers, so that ranges meet, overlap and differ in padding.
rc::Gen<std::string> host_name() {
    return rc::gen::map(rc::gen::tuple(rc::gen::element<std::string>("n", "m", "n1-", "r0x", "", "n9"),
                                       rc::gen::inRange(0, 130), rc::gen::inRange(0, 4), rc::gen::inRange(0, 10)),
                        [](const auto& parts) {
                            const auto& [prefix, number, width, kind] = parts;
                            if (kind == 0) return prefix + "x";
                            return fmt::format("{}{:0{}}", prefix, number, width);
                        });
}

rc::Gen<std::vector<std::string>> host_names() { return rc::gen::container<std::vector<std::string>>(host_name()); }

RC_GTEST_PROP(T51HostlistLaws, ExpandingWhatWasCompressedGivesTheSameNames, ()) {
    const auto names = *host_names();
    RC_ASSERT(HostList::parse(HostList::of(names).str()).value().names() == names);
}

RC_GTEST_PROP(T51HostlistLaws, SortingLosesAndInventsNothing, ()) {
    auto names = *host_names();
    auto sorted = HostList::of(names).sorted().names();
    std::ranges::sort(names);
    std::ranges::sort(sorted);
    RC_ASSERT(sorted == names);
}

RC_GTEST_PROP(T51HostlistLaws, SetsBehaveLikeSetsOfStrings, ()) {
    const auto a = *host_names();
    const auto b = *host_names();
    const std::set<std::string> in_a(a.begin(), a.end());
    const std::set<std::string> in_b(b.begin(), b.end());
    const auto as_set = [](const HostSet& set) {
        const auto names = set.names();
        RC_ASSERT(names.size() == set.size());
        return std::set<std::string>(names.begin(), names.end());
    };
    std::set<std::string> both;
    std::set<std::string> either;
    std::set<std::string> only_a;
    std::ranges::set_intersection(in_a, in_b, std::inserter(both, both.end()));
    std::ranges::set_union(in_a, in_b, std::inserter(either, either.end()));
    std::ranges::set_difference(in_a, in_b, std::inserter(only_a, only_a.end()));
    const auto set_a = HostSet::of(a);
    const auto set_b = HostSet::of(b);
    RC_ASSERT(as_set(set_a) == in_a);
    RC_ASSERT(as_set(set_a & set_b) == both);
    RC_ASSERT(as_set(set_a | set_b) == either);
    RC_ASSERT(as_set(set_a - set_b) == only_a);
    for (const auto& name : b) RC_ASSERT(set_a.contains(name) == in_a.contains(name));
    RC_ASSERT(HostSet::parse(set_a.str()).value() == set_a);
}

RC_GTEST_PROP(T51HostlistLaws, PositionsAgreeWithTheExpandedList, ()) {
    const auto names = *host_names();
    const auto list = HostList::of(names);
    RC_ASSERT(list.size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        RC_ASSERT(list.nth(i) == names[i]);
        const auto first = static_cast<std::size_t>(std::ranges::find(names, names[i]) - names.begin());
        RC_ASSERT(list.find(names[i]) == first);
    }
}

RC_GTEST_PROP(T51HostlistLaws, AnyBytesAreReadOrRefused, ()) {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::element('n', '[', ']', '-', ',', '0', '1', '9', ' ', 'x', '\0', '\xff', '\n'));
    const auto list = HostList::parse(text);
    if (!list) return RC_ASSERT(!list.error().text.empty());
    RC_ASSERT(HostList::parse(list->str()).value().names() == list->names());
}

}  // namespace
}  // namespace spur
