// One row a field, and the lines made of them.
#include "cli/sstat/fields.hpp"

#include "core/base/ids.hpp"
#include "core/model/array_spec.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace spur::cli::sstat {
namespace {

constexpr const char* usual =
    "jobid,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss,maxpages,maxpagesnode,"
    "maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,avecpufreq,reqcpufreqmin,reqcpufreqmax,"
    "reqcpufreqgov,consumedenergy,maxdiskread,maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite,"
    "maxdiskwritenode,maxdiskwritetask,avediskwrite,tresusageinave,tresusageinmax,tresusageinmaxnode,"
    "tresusageinmaxtask,tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutave,"
    "tresusageoutmax,tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutmin,tresusageoutminnode,tresusageoutmintask,"
    "tresusageouttot";

std::string step_id(const Line& line) {
    return fmt::format("{}.{}", line.reading.job, print_step_id(line.reading.step.step_id()));
}
std::string nought(const Line&) { return "0"; }  // what nobody measures
std::string frequency(const Line& line) { return line.reading.step.step_id() == step_batch ? "0" : "Unknown"; }
std::string nodes(const Line& line) { return line.nodes; }
std::string pids(const Line& line) { return line.pids; }
std::string tasks(const Line& line) { return fmt::format("{}", line.reading.step.tasks()); }

// clang-format off
constexpr SstatField field_rows[] = {
    {"AveCPU", 10}, {"AveCPUFreq", 10, nought}, {"AveDiskRead", 12}, {"AveDiskWrite", 12},
    {"AvePages", 10}, {"AveRSS", 10}, {"AveVMSize", 10}, {"ConsumedEnergy", 14, nought},
    {"ConsumedEnergyRaw", 17, nought}, {"JobID", -12, step_id}, {"MaxDiskRead", 12}, {"MaxDiskReadNode", 15},
    {"MaxDiskReadTask", 15}, {"MaxDiskWrite", 12}, {"MaxDiskWriteNode", 16}, {"MaxDiskWriteTask", 16},
    {"MaxPages", 8}, {"MaxPagesNode", 12}, {"MaxPagesTask", 14}, {"MaxRSS", 10},
    {"MaxRSSNode", 10}, {"MaxRSSTask", 10}, {"MaxVMSize", 10}, {"MaxVMSizeNode", 14},
    {"MaxVMSizeTask", 14}, {"MinCPU", 10}, {"MinCPUNode", 10}, {"MinCPUTask", 10},
    {"Nodelist", 20, nodes}, {"NTasks", 8, tasks}, {"Pids", 20, pids}, {"ReqCPUFreq", 10, frequency},
    {"ReqCPUFreqMin", 13, frequency}, {"ReqCPUFreqMax", 13, frequency}, {"ReqCPUFreqGov", 13, frequency}, {"TRESUsageInAve", 14},
    {"TRESUsageInMax", 14}, {"TRESUsageInMaxNode", 18}, {"TRESUsageInMaxTask", 18}, {"TRESUsageInMin", 14},
    {"TRESUsageInMinNode", 18}, {"TRESUsageInMinTask", 18}, {"TRESUsageInTot", 14}, {"TRESUsageOutAve", 15},
    {"TRESUsageOutMax", 15}, {"TRESUsageOutMaxNode", 19}, {"TRESUsageOutMaxTask", 19}, {"TRESUsageOutMin", 15},
    {"TRESUsageOutMinNode", 19}, {"TRESUsageOutMinTask", 19}, {"TRESUsageOutTot", 15},
};
// clang-format on

Table table_of(const Options& options, const std::vector<Column>& columns) {
    std::vector<TableColumn> shape;
    for (const auto& [field, width] : columns) shape.push_back({field->name, width});
    return {options.style, options.header, std::move(shape)};
}

std::string row(const Table& shape, const std::vector<Column>& columns, const Line& line) {
    std::vector<std::string> cells;
    for (const auto& [field, width] : columns) {
        const auto usage = field->text == nullptr ? records::find_usage_field(field->name) : std::nullopt;
        cells.push_back(usage        ? records::usage_text(*usage, line.usage, line.style)
                        : field->text ? field->text(line)
                                      : std::string{});
    }
    return shape.row(cells);
}

}  // namespace

std::span<const SstatField> fields() { return field_rows; }

const SstatField* find_field(std::string_view name) {
    const auto wanted = lower(name);
    const SstatField* found = nullptr;
    for (const auto& field : field_rows) {
        const auto own = lower(field.name);
        if (own == wanted) return &field;
        if (found == nullptr && own.starts_with(wanted)) found = &field;
    }
    return found;
}

Result<std::vector<Column>> columns_of(const Options& options) {
    std::string_view format = options.format.empty() ? usual : options.format.c_str();
    if (options.pids) format = "jobid,nodelist,pids";
    SPUR_TRY(const auto wanted, parse_columns(format));
    std::vector<Column> columns;
    for (const auto& request : wanted) {
        const auto* const field = find_field(request.name);
        if (field == nullptr) return fail(ErrorCode::invalid, "Invalid field requested: \"{}\"", request.name);
        columns.push_back({field, request.width != 0 ? request.width : field->width});
    }
    return columns;
}

// As the controller merges them once the step is over.
v1::StepUsage usage_of(const StepReading& reading) {
    StepUsage usage;
    for (std::uint32_t i = 0; i < reading.nodes.size(); ++i)
        for (const auto& task : reading.nodes[i].second.tasks())
            usage.add_task(NodeId{i}, task.task(), {task.values().data(), static_cast<std::size_t>(task.values_size())});
    v1::StepUsage wire;
    records::usage_to_wire(usage, [&](NodeId node) { return reading.nodes[node.value].first; }, wire);
    return wire;
}

std::string listing_header(const Options& options, const std::vector<Column>& columns) {
    return table_of(options, columns).header();
}

std::string listing_rows(const StepReading& reading, const Options& options, const std::vector<Column>& columns) {
    const auto shape = table_of(options, columns);
    const auto usage = usage_of(reading);
    const records::UsageStyle style{records::UsageStyle::Of::sstat, options.convert ? std::nullopt : std::optional{'\0'}};
    std::string text;
    if (options.pids) {
        for (const auto& [node, reply] : reading.nodes)
            text += row(shape, columns, {reading, usage, node, fmt::format("{}", fmt::join(reply.pids(), ",")), style});
        return text;
    }
    HostList names;
    std::vector<std::uint32_t> all;
    for (const auto& [node, reply] : reading.nodes) {
        names.push_back(node);
        all.insert(all.end(), reply.pids().begin(), reply.pids().end());
    }
    return row(shape, columns, {reading, usage, names.str(), fmt::format("{}", fmt::join(all, ",")), style});
}

std::string help_format() {
    constexpr std::size_t a_line = 4;
    std::string text;
    for (std::size_t i = 0; i < std::size(field_rows); ++i) {
        const bool is_last = (i + 1) % a_line == 0 || i + 1 == std::size(field_rows);
        text += fmt::format("{:<19}{}", field_rows[i].name, is_last ? "\n" : " ");
    }
    return text;
}

}  // namespace spur::cli::sstat
