// Hostlists: expanding what was compressed gives the same names, and sets agree with lists.
#include "core/text/hostlist.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    const auto list = HostList::parse(as_text(data, size));
    if (!list || list->size() > 5'000) return 0;
    const auto again = HostList::parse(list->str());
    must(again && again->names() == list->names());
    must(list->sorted().size() == list->size());
    const HostSet set{*list};
    must(set.size() <= list->size());
    must((set - set).empty() && (set & set) == set && (set | set) == set);
    must(list->empty() || set.contains(*list->nth(list->size() - 1)));
    return 0;
}
