// However the nodes of a step report, and in which order: what it used is the same.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/model/step_usage.hpp"

namespace spur {
namespace {

struct TaskOf {
    NodeId node;
    std::uint32_t task;
    std::vector<std::uint64_t> values;
};

std::vector<TaskOf> some_tasks() {
    std::vector<TaskOf> tasks;
    const auto count = *rc::gen::inRange<std::uint32_t>(1, 12);
    for (std::uint32_t i = 0; i < count; ++i) {
        auto& task = tasks.emplace_back(TaskOf{{*rc::gen::inRange<std::uint32_t>(0, 4)}, i, {}});
        const auto values = *rc::gen::element(measured_everywhere, measured_count);
        for (std::size_t v = 0; v < values; ++v) task.values.push_back(*rc::gen::inRange<std::uint64_t>(0, 5));
    }
    return tasks;
}

StepUsage merged(const std::vector<TaskOf>& tasks, std::uint32_t nodes) {
    std::vector<StepUsage> parts(nodes);
    for (const auto& task : tasks) parts[task.node.value % nodes].add_task(task.node, task.task, task.values);
    StepUsage all;
    for (const auto& part : parts) all += part;
    return all;
}

RC_GTEST_PROP(T50StepUsage, TheOrderOfReportsAndHowTasksAreSpreadDoNotMatter, ()) {
    auto tasks = some_tasks();
    const auto once = merged(tasks, 1);
    std::ranges::reverse(tasks);
    RC_ASSERT(merged(tasks, *rc::gen::inRange<std::uint32_t>(1, 5)) == once);
}

RC_GTEST_PROP(T50StepUsage, TheMostTheLeastAndTheTotalAreThoseOfTheTasks, ()) {
    const auto tasks = some_tasks();
    const auto usage = merged(tasks, 3);
    RC_ASSERT(usage.tasks == tasks.size());
    for (std::size_t what = 0; what < usage.measured.size(); ++what) {
        std::uint64_t total = 0, most = 0, least = UINT64_MAX;
        for (const auto& task : tasks) {
            if (what >= task.values.size()) continue;
            total += task.values[what];
            most = std::max(most, task.values[what]);
            least = std::min(least, task.values[what]);
        }
        const auto& use = usage.measured[what];
        RC_ASSERT(use.total == total);
        RC_ASSERT(use.max.value == most);
        RC_ASSERT(use.min.value == least);
        for (const auto& extreme : {use.max, use.min}) {
            const auto& task = tasks[extreme.task];
            RC_ASSERT(task.node == extreme.node);
            RC_ASSERT(task.values[what] == extreme.value);
        }
    }
}

}  // namespace
}  // namespace spur
