// A task set behaves like a std::set of its ids, whatever is done to it.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "core/model/array_spec.hpp"

namespace spur {
namespace {

using Ids = std::set<std::uint32_t>;

rc::Gen<Ids> some_ids() { return rc::gen::container<Ids>(rc::gen::inRange<std::uint32_t>(0, 60)); }

TaskSet tasks_of(const Ids& ids) { return TaskSet::of({ids.begin(), ids.end()}); }

Ids ids_of(const TaskSet& tasks) {
    const auto ids = tasks.ids();
    RC_ASSERT(ids.size() == tasks.size());
    RC_ASSERT(TaskSet::from_runs(tasks.runs()).has_value());
    return {ids.begin(), ids.end()};
}

RC_GTEST_PROP(T28TaskSetLaws, InsertAndRemoveAreThoseOfASet, ()) {
    auto ids = *some_ids();
    auto tasks = tasks_of(ids);
    for (const auto& [id, inserts] : *rc::gen::container<std::vector<std::pair<std::uint32_t, bool>>>(
             rc::gen::pair(rc::gen::inRange<std::uint32_t>(0, 60), rc::gen::arbitrary<bool>()))) {
        if (inserts)
            RC_ASSERT(tasks.insert(id) == ids.insert(id).second);
        else
            RC_ASSERT(tasks.remove(id) == (ids.erase(id) == 1));
        RC_ASSERT(ids_of(tasks) == ids);
        RC_ASSERT(tasks == tasks_of(ids));
    }
    for (std::uint32_t id = 0; id < 62; ++id) {
        RC_ASSERT(tasks.contains(id) == ids.contains(id));
        const auto next = ids.lower_bound(id);
        RC_ASSERT(tasks.next(id) == (next == ids.end() ? std::optional<std::uint32_t>{} : std::optional{*next}));
    }
}

RC_GTEST_PROP(T28TaskSetLaws, CombiningIsThatOfSets, ()) {
    const auto a = *some_ids();
    const auto b = *some_ids();
    Ids both;
    Ids either;
    Ids only_a;
    std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
    std::ranges::set_union(a, b, std::inserter(either, either.end()));
    std::ranges::set_difference(a, b, std::inserter(only_a, only_a.end()));
    RC_ASSERT(ids_of(tasks_of(a) & tasks_of(b)) == both);
    RC_ASSERT(ids_of(tasks_of(a) | tasks_of(b)) == either);
    RC_ASSERT(ids_of(tasks_of(a) - tasks_of(b)) == only_a);
}

struct Piece {
    std::uint32_t first, last, step;
};
rc::Gen<std::vector<Piece>> some_pieces() {
    return rc::gen::container<std::vector<Piece>>(
        rc::gen::map(rc::gen::tuple(rc::gen::inRange<std::uint32_t>(0, 60), rc::gen::inRange<std::uint32_t>(0, 40),
                                    rc::gen::inRange<std::uint32_t>(1, 9)),
                     [](const auto& made) {
                         const auto [first, length, step] = made;
                         return Piece{first, first + length, step};
                     }));
}

RC_GTEST_PROP(T28TaskSetLaws, RangesThatOverlapAreTheirUnion, ()) {
    const auto pieces = *rc::gen::nonEmpty(some_pieces());
    Ids wanted;
    std::string text;
    for (const auto& [first, last, step] : pieces) {
        for (auto id = first; id <= last; id += step) wanted.insert(id);
        text += fmt::format("{}{}-{}:{}", text.empty() ? "" : ",", first, last, step);
    }
    RC_ASSERT(ids_of(ArraySpec::parse(text).value().tasks) == wanted);
}

RC_GTEST_PROP(T28TaskSetLaws, CommonMembersAreFoundWithoutCounting, ()) {
    const auto make = [](const std::vector<Piece>& pieces) {
        std::vector<TaskSet::Run> runs;
        for (const auto& [first, last, step] : pieces) runs.push_back(TaskSet::range(first, last, step).runs().front());
        return TaskSet::united(runs, 100'000).value();
    };
    const auto a = make(*rc::gen::nonEmpty(some_pieces()));
    const auto b = make(*rc::gen::nonEmpty(some_pieces()));
    Ids both;
    const auto of_a = ids_of(a), of_b = ids_of(b);
    std::ranges::set_intersection(of_a, of_b, std::inserter(both, both.end()));
    RC_ASSERT(ids_of(a & b) == both);
    RC_ASSERT(a.intersects(b) == !both.empty());
}

RC_GTEST_PROP(T28TaskSetLaws, WhatIsPrintedReadsBackTheSame, ()) {
    const auto ids = *rc::gen::nonEmpty(some_ids());
    ArraySpec spec{tasks_of(ids), *rc::gen::inRange<std::uint32_t>(0, 100)};
    RC_ASSERT(ArraySpec::parse(spec.str()).value() == spec);
    const JobRef ref{.job = 7, .tasks = spec.tasks};
    RC_ASSERT(JobRef::parse(ref.str()).value() == ref);
}

RC_GTEST_PROP(T28TaskSetLaws, AnyBytesAreReadOrRefused, ()) {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::element('0', '1', '9', '-', ':', ',', '%', '_', '[', ']', '.', '+', '*', ' ', 'b', '\0', '\xff'));
    if (const auto spec = ArraySpec::parse(text)) RC_ASSERT(ArraySpec::parse(spec->str()).value() == *spec);
    if (const auto ref = JobRef::parse(text)) RC_ASSERT(JobRef::parse(ref->str()).value() == *ref);
    (void)parse_job_refs(text);
}

}  // namespace
}  // namespace spur
