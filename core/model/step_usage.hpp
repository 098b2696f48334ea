// What a step's processes used: of the step as a whole, and task by task the most, the least and the total.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.hpp"

namespace spur {

// What is measured of each task. The numbers are in logs and messages: append.
enum class Measured : std::uint8_t {
    cpu_us,
    rss_bytes,  // like vm_bytes the most that the task's processes had together
    vm_bytes,
    pages,  // faults that needed the disk
    read_bytes,
    write_bytes,
    gpu_memory_bytes,  // this and the next where the node's gpu plugin tells them
    gpu_percent,
};
inline constexpr std::size_t measured_everywhere = 6, measured_count = 8;

struct TaskExtreme {
    std::uint64_t value{};
    NodeId node;
    std::uint32_t task{};
    bool operator==(const TaskExtreme&) const = default;
};

struct MeasuredUse {
    std::uint64_t total{};
    TaskExtreme max, min;  // of equals the one of the lowest task

    MeasuredUse& operator+=(const MeasuredUse& other) {
        total += other.total;
        if (other.max.value > max.value || (other.max.value == max.value && other.max.task < max.task)) max = other.max;
        if (other.min.value < min.value || (other.min.value == min.value && other.min.task < min.task)) min = other.min;
        return *this;
    }
    bool operator==(const MeasuredUse&) const = default;
};

struct StepUsage {
    std::uint64_t user_us{}, system_us{}, max_rss_kib{}, read_bytes{}, write_bytes{};
    std::uint32_t tasks{};                // that were measured
    std::vector<MeasuredUse> measured{};  // by Measured; as many as any task had

    // One more task, with its values by Measured. The sums above are not its business.
    void add_task(NodeId node, std::uint32_t task, std::span<const std::uint64_t> values) {
        StepUsage one;
        one.tasks = 1;
        for (const auto value : values.first(std::min(values.size(), measured_count)))
            one.measured.push_back({value, {value, node, task}, {value, node, task}});
        *this += one;
    }

    // Another node's: everything adds up but peaks and extremes. The order does not matter.
    StepUsage& operator+=(const StepUsage& other) {
        user_us += other.user_us;
        system_us += other.system_us;
        max_rss_kib = std::max(max_rss_kib, other.max_rss_kib);
        read_bytes += other.read_bytes;
        write_bytes += other.write_bytes;
        tasks += other.tasks;
        for (std::size_t i = 0; i < other.measured.size(); ++i)
            if (i < measured.size())
                measured[i] += other.measured[i];
            else
                measured.push_back(other.measured[i]);
        return *this;
    }
    bool operator==(const StepUsage&) const = default;
};

}  // namespace spur
