// How sets are written: as runs, since cores, devices and tasks come in runs.
#include "core/store/archive.hpp"

namespace spur::archive {

void write_body(Writer& out, const Bitset& set) {
    if (const auto last = set.last(); last && *last >= bit_member_limit)
        out.refuse("it names a core or a device with a number above a million");
    std::uint32_t end = 0;  // gaps and lengths, so small numbers
    for (auto first = set.next(0); first;) {
        auto last = *first;
        while (set.has(last + 1)) ++last;
        out.varint(*first - end);
        out.varint(last - *first);
        end = last + 1;
        first = set.next(end);
    }
}

bool read_body(Reader in, Bitset& set) {
    set.clear();
    std::uint64_t end = 0;
    while (!in.empty()) {
        std::uint64_t gap = 0;
        std::uint64_t more = 0;
        if (!in.varint(gap) || !in.varint(more) || gap > bit_member_limit || more > bit_member_limit) return false;
        const auto first = end + gap;
        end = first + more + 1;
        if (end > bit_member_limit) return false;
        set |= Bitset::range(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(more + 1));
    }
    return true;
}

void write_body(Writer& out, const TaskSet& tasks) {
    for (const auto& run : tasks.runs()) {
        out.varint(run.first);
        out.varint(run.last - run.first);
        out.varint(run.step);
    }
}

bool read_body(Reader in, TaskSet& tasks) {
    std::vector<TaskSet::Run> runs;
    while (!in.empty()) {
        std::uint64_t first = 0;
        std::uint64_t length = 0;
        std::uint64_t step = 0;
        if (!in.varint(first) || !in.varint(length) || !in.varint(step)) return false;
        if (first > UINT32_MAX || length > UINT32_MAX - first || step == 0 || step > UINT32_MAX) return false;
        runs.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first + length),
                        static_cast<std::uint32_t>(step)});
    }
    auto set = TaskSet::from_runs(std::move(runs));
    if (!set) return false;
    tasks = *std::move(set);
    return true;
}

void write_body(Writer& out, const TresList& list) {
    for (const auto& entry : list.entries()) {
        out.varint(entry.name.size());
        out.bytes(entry.name);
        out.varint(entry.count);
    }
}

bool read_body(Reader in, TresList& list) {
    list = {};
    while (!in.empty()) {
        std::string_view name;
        std::uint64_t count = 0;
        if (!in.sized(name) || !in.varint(count)) return false;
        list.set(name, count);
    }
    return true;
}

}  // namespace spur::archive
