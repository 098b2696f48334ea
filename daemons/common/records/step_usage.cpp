// One row a field; the lists of TRES are made from one row a TRES.
#include "daemons/common/records/step_usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"

namespace spur::records {
namespace {

enum class UsagePart : std::uint8_t { average, max, max_node, max_task, min, min_node, min_task, total };
enum class UsageUnit : std::uint8_t { time, bytes, disk, count };

struct UsageCell {
    std::string_view name;
    Measured what;
    UsageUnit unit;
    UsagePart part;
};

// clang-format off
constexpr UsageCell usage_cells[] = {
    {"AveCPU", Measured::cpu_us, UsageUnit::time, UsagePart::average},
    {"MinCPU", Measured::cpu_us, UsageUnit::time, UsagePart::min},
    {"MinCPUNode", Measured::cpu_us, UsageUnit::time, UsagePart::min_node},
    {"MinCPUTask", Measured::cpu_us, UsageUnit::time, UsagePart::min_task},
    {"AveRSS", Measured::rss_bytes, UsageUnit::bytes, UsagePart::average},
    {"MaxRSS", Measured::rss_bytes, UsageUnit::bytes, UsagePart::max},
    {"MaxRSSNode", Measured::rss_bytes, UsageUnit::bytes, UsagePart::max_node},
    {"MaxRSSTask", Measured::rss_bytes, UsageUnit::bytes, UsagePart::max_task},
    {"AveVMSize", Measured::vm_bytes, UsageUnit::bytes, UsagePart::average},
    {"MaxVMSize", Measured::vm_bytes, UsageUnit::bytes, UsagePart::max},
    {"MaxVMSizeNode", Measured::vm_bytes, UsageUnit::bytes, UsagePart::max_node},
    {"MaxVMSizeTask", Measured::vm_bytes, UsageUnit::bytes, UsagePart::max_task},
    {"AvePages", Measured::pages, UsageUnit::count, UsagePart::average},
    {"MaxPages", Measured::pages, UsageUnit::count, UsagePart::max},
    {"MaxPagesNode", Measured::pages, UsageUnit::count, UsagePart::max_node},
    {"MaxPagesTask", Measured::pages, UsageUnit::count, UsagePart::max_task},
    {"AveDiskRead", Measured::read_bytes, UsageUnit::disk, UsagePart::average},
    {"MaxDiskRead", Measured::read_bytes, UsageUnit::disk, UsagePart::max},
    {"MaxDiskReadNode", Measured::read_bytes, UsageUnit::disk, UsagePart::max_node},
    {"MaxDiskReadTask", Measured::read_bytes, UsageUnit::disk, UsagePart::max_task},
    {"AveDiskWrite", Measured::write_bytes, UsageUnit::disk, UsagePart::average},
    {"MaxDiskWrite", Measured::write_bytes, UsageUnit::disk, UsagePart::max},
    {"MaxDiskWriteNode", Measured::write_bytes, UsageUnit::disk, UsagePart::max_node},
    {"MaxDiskWriteTask", Measured::write_bytes, UsageUnit::disk, UsagePart::max_task},
};

// Both in the order in which Slurm lists them.
struct Listed {
    std::string_view name;
    std::optional<Measured> what;  // nullopt: nobody measures it
    UsageUnit unit;
};
constexpr Listed listed_in[] = {
    {"cpu", Measured::cpu_us, UsageUnit::time},
    {"energy", std::nullopt, UsageUnit::count},
    {"fs/disk", Measured::read_bytes, UsageUnit::bytes},
    {"mem", Measured::rss_bytes, UsageUnit::bytes},
    {"pages", Measured::pages, UsageUnit::count},
    {"vmem", Measured::vm_bytes, UsageUnit::bytes},
    {"gres/gpumem", Measured::gpu_memory_bytes, UsageUnit::bytes},
    {"gres/gpuutil", Measured::gpu_percent, UsageUnit::count},
};
constexpr Listed listed_out[] = {
    {"energy", std::nullopt, UsageUnit::count},
    {"fs/disk", Measured::write_bytes, UsageUnit::bytes},
};

struct UsageList {
    std::string_view name;
    std::span<const Listed> entries;
};
constexpr UsageList usage_lists[] = {{"TRESUsageIn", listed_in}, {"TRESUsageOut", listed_out}};

struct ListUsagePart {
    std::string_view name;
    UsagePart part;
};
constexpr ListUsagePart list_parts[] = {
    {"Ave", UsagePart::average}, {"Max", UsagePart::max}, {"MaxNode", UsagePart::max_node}, {"MaxTask", UsagePart::max_task},
    {"Min", UsagePart::min}, {"MinNode", UsagePart::min_node}, {"MinTask", UsagePart::min_task}, {"Tot", UsagePart::total},
};
// clang-format on

bool is_node(UsagePart part) { return part == UsagePart::max_node || part == UsagePart::min_node; }
bool is_task(UsagePart part) { return part == UsagePart::max_task || part == UsagePart::min_task; }

std::uint64_t number_of(const v1::MeasuredUsage& use, UsagePart part, std::uint32_t tasks) {
    switch (part) {
        case UsagePart::average:
            return use.total() / std::max(tasks, 1U);
        case UsagePart::max:
            return use.max();
        case UsagePart::max_task:
            return use.max_task();
        case UsagePart::min:
            return use.min();
        case UsagePart::min_task:
            return use.min_task();
        default:
            return use.total();
    }
}
const std::string& node_of(const v1::MeasuredUsage& use, UsagePart part) {
    return part == UsagePart::max_node ? use.max_node() : use.min_node();
}

std::string cpu_text(std::uint64_t us) { return print_long_duration(static_cast<std::int64_t>(us / 1'000'000)); }

std::string value_text(std::uint64_t value, UsageUnit unit, const UsageStyle& style) {
    switch (unit) {
        case UsageUnit::time:
            return cpu_text(value);
        case UsageUnit::bytes:
            return size_text(value, style.units);
        case UsageUnit::disk:
            return style.command == UsageStyle::Of::sacct
                       ? fmt::format("{:.2f}M", static_cast<double>(value) / (1U << 20))
                       : size_text(value, style.units);
        case UsageUnit::count:
            break;
    }
    return fmt::format("{}", value);
}

const v1::MeasuredUsage* find_use(const v1::StepUsage& usage, Measured what) {
    const auto at = static_cast<int>(what);
    return usage.tasks() != 0 && at < usage.measured_size() ? &usage.measured(at) : nullptr;
}

std::string list_text(std::span<const Listed> list, UsagePart part, const v1::StepUsage& usage,
                      const UsageStyle& style) {
    std::string text;
    const auto add = [&](const Listed& entry, const std::string& value) {
        fmt::format_to(std::back_inserter(text), "{}{}={}", text.empty() ? "" : ",", entry.name, value);
    };
    // Nobody measures energy: it is 0, on the node that has the first of the measured ones, of no task.
    const auto* const first = find_use(usage, Measured::pages);
    for (const auto& entry : list) {
        const auto* const use = entry.what ? find_use(usage, *entry.what) : nullptr;
        if (!entry.what) {
            if (is_node(part) && first != nullptr) add(entry, node_of(*first, part));
            if (!is_node(part) && !is_task(part) &&
                (first != nullptr || part == UsagePart::average || part == UsagePart::total))
                add(entry, "0");
        } else if (use == nullptr) {
            continue;
        } else if (is_node(part)) {
            add(entry, node_of(*use, part));
        } else if (is_task(part)) {
            const auto task = number_of(*use, part, 0);
            const bool as_time = entry.unit == UsageUnit::time && style.command == UsageStyle::Of::sstat;
            add(entry, as_time ? cpu_text(task * 1000) : fmt::format("{}", task));
        } else {
            add(entry, value_text(number_of(*use, part, usage.tasks()), entry.unit, style));
        }
    }
    return text;
}

std::string cell_text(const UsageCell& cell, const v1::StepUsage& usage, const UsageStyle& style) {
    const auto* const use = find_use(usage, cell.what);
    if (use == nullptr) return {};
    if (is_node(cell.part)) return node_of(*use, cell.part);
    const auto value = number_of(*use, cell.part, usage.tasks());
    return is_task(cell.part) ? fmt::format("{}", value) : value_text(value, cell.unit, style);
}

}  // namespace

std::string size_text(std::uint64_t bytes, std::optional<char> units) {
    constexpr std::string_view letters{"\0KMGTPE", 7};
    if (units == '\0') return fmt::format("{}", bytes);
    std::size_t unit = 0;
    if (!units) {
        for (; unit + 1 < letters.size() && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
        return unit == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, letters[unit]);
    }
    auto value = static_cast<double>(bytes);
    for (; unit + 1 < letters.size() && letters[unit] != *units; ++unit) value /= 1024;
    const bool is_whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
    if (bytes == 0) return "0";
    return is_whole ? fmt::format("{:.0f}{}", value, letters[unit]) : fmt::format("{:.2f}{}", value, letters[unit]);
}

std::optional<UsageField> find_usage_field(std::string_view name) {
    const auto wanted = lower(name);
    std::uint8_t at = 0;
    for (const auto& cell : usage_cells) {
        if (lower(cell.name) == wanted) return UsageField{at};
        ++at;
    }
    for (const auto& list : usage_lists)
        for (const auto& part : list_parts) {
            if (lower(list.name) + lower(part.name) == wanted) return UsageField{at};
            ++at;
        }
    return std::nullopt;
}

std::string usage_text(UsageField field, const v1::StepUsage& usage, const UsageStyle& style) {
    auto at = static_cast<std::size_t>(field);
    if (at < std::size(usage_cells)) return cell_text(usage_cells[at], usage, style);
    at -= std::size(usage_cells);
    return list_text(usage_lists[at / std::size(list_parts)].entries, list_parts[at % std::size(list_parts)].part,
                     usage, style);
}

void usage_to_wire(const StepUsage& usage, const std::function<std::string(NodeId)>& node_name, v1::StepUsage& wire) {
    wire.set_user_us(usage.user_us);
    wire.set_system_us(usage.system_us);
    wire.set_max_rss_kib(usage.max_rss_kib);
    wire.set_read_bytes(usage.read_bytes);
    wire.set_write_bytes(usage.write_bytes);
    wire.set_tasks(usage.tasks);
    for (const auto& use : usage.measured) {
        auto& out = *wire.add_measured();
        out.set_total(use.total);
        out.set_max(use.max.value);
        out.set_max_node(node_name(use.max.node));
        out.set_max_task(use.max.task);
        out.set_min(use.min.value);
        out.set_min_node(node_name(use.min.node));
        out.set_min_task(use.min.task);
    }
}

}  // namespace spur::records
