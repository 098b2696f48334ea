// One row a field.
#include "cli/sacct/fields.hpp"

#include "cli/common/users.hpp"
#include "core/model/gres.hpp"
#include "core/model/job.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/job.hpp"
#include "daemons/common/records/job_text.hpp"
#include "daemons/common/records/step_usage.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::cli::sacct {
namespace {

bool is_requeued(const Line& line) { return (line.job().state_bits() & job_flag::requeued) != 0; }
bool has_run(const Line& line) { return !line.job().node_list().empty() && line.job().start_time() != 0; }
bool is_batch(const Line& line) { return line.step->step_id() == step_batch; }

// ---- texts ---------------------------------------------------------------------------------------------------------

std::string exit_text(std::uint32_t status) { return fmt::format("{}:{}", status >> 8 & 0xff, status & 0x7f); }

// "500M", "2G"; as --units and --noconvert have it: "0.49G", "2048M".
std::string size_text(std::uint64_t count, std::size_t unit, const Line& line) {
    constexpr std::string_view letters = "KMGTP";
    if (line.look.units) {
        auto value = static_cast<double>(count);
        const auto wanted = letters.find(*line.look.units);
        for (; unit < wanted; ++unit) value /= 1024;
        for (; unit > wanted; --unit) value *= 1024;
        const bool is_whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
        return is_whole ? fmt::format("{:.0f}{}", value, letters[unit]) : fmt::format("{:.2f}{}", value, letters[unit]);
    }
    if (line.look.convert)
        for (; unit + 1 < letters.size() && count != 0 && count % 1024 == 0; ++unit) count /= 1024;
    return count == 0 ? "0" : fmt::format("{}{}", count, letters[unit]);
}
std::string mib_text(std::uint64_t mib, const Line& line) { return size_text(mib, 1, line); }

// By name, as the database has them.
std::string tres_text(const std::string& listed, const Line& line) {
    const auto tres = TresList::parse(listed);
    if (!tres) return listed;
    auto entries = tres->entries();
    std::ranges::sort(entries, {}, [](const auto& one) { return std::string_view{one.name}; });
    std::string text;
    for (const auto& one : entries)
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", one.name,
                            one.name == "mem" ? mib_text(one.count, line) : fmt::format("{}", one.count));
    return text;
}

std::string time_text(std::int64_t time, const char* absent, const Line& line) {
    return records::time_text(time, line.in.now, absent);
}

std::string cpu_text(std::uint64_t us) {
    const auto seconds = static_cast<std::int64_t>(us / 1'000'000);
    if (us < 1000 || seconds >= 3600) return print_long_duration(seconds);
    return fmt::format("{:02}:{:02}.{:03}", seconds / 60, seconds % 60, us / 1000 % 1000);
}

std::string number_text(std::uint64_t number) { return fmt::format("{}", number); }

// ---- of jobs and steps ---------------------------------------------------------------------------------------------

std::string job_id(const Line& line) { return records::job_id_text(line.job(), records::array_text_limit()); }
std::string step_id(const Line& line) {
    return fmt::format("{}.{}", job_id(line), print_step_id(line.step->step_id()));
}
std::string raw_id(const Line& line) { return number_text(line.job().id()); }
std::string raw_step_id(const Line& line) {
    return fmt::format("{}.{}", line.job().id(), print_step_id(line.step->step_id()));
}

std::string job_name(const Line& line) { return line.job().spec().name(); }
std::string step_name(const Line& line) { return line.step->name(); }

std::string exit_code(const Line& line) { return exit_text(exit_status_of(line)); }
std::string derived_exit(const Line& line) { return exit_text(line.job().derived_exit_status()); }

std::uint32_t cpus(const Line& line) { return line.step != nullptr ? line.step->cpus() : line.job().cpus(); }
std::string cpu_count(const Line& line) { return number_text(cpus(line)); }
std::string elapsed(const Line& line) { return print_long_duration(elapsed_s(line)); }
std::string elapsed_raw(const Line& line) { return fmt::format("{}", elapsed_s(line)); }
std::int64_t cpu_time_s(const Line& line) { return elapsed_s(line) * cpus(line); }
std::string cpu_time(const Line& line) { return print_long_duration(cpu_time_s(line)); }
std::string cpu_time_raw(const Line& line) { return fmt::format("{}", cpu_time_s(line)); }

std::uint64_t asked_for(const Line& line, std::string_view what) {
    const auto tres = TresList::parse(line.job().tres_requested());
    return tres ? tres->get(what) : 0;
}
std::string asked_cpus(const Line& line) { return number_text(asked_for(line, "cpu")); }
std::string asked_nodes(const Line& line) { return number_text(asked_for(line, "node")); }
std::string asked_memory(const Line& line) { return mib_text(asked_for(line, "mem"), line); }
std::string asked_tres(const Line& line) { return tres_text(line.job().tres_requested(), line); }
std::string allocated_tres(const Line& line) {
    return has_run(line) ? tres_text(line.job().tres_allocated(), line) : std::string{};
}
std::string step_tres(const Line& line) { return tres_text(line.step->tres(), line); }

std::string submit(const Line& line) { return time_text(line.job().submit_time(), "Unknown", line); }
std::string eligible(const Line& line) { return time_text(line.job().eligible_time(), "Unknown", line); }
// A job that ended without having begun never will.
std::string start(const Line& line) {
    return time_text(line.job().start_time(), line.job().end_time() == 0 ? "Unknown" : "None", line);
}
std::string end(const Line& line) { return time_text(line.job().end_time(), "Unknown", line); }
std::string step_start(const Line& line) { return time_text(line.step->start_time(), "Unknown", line); }
std::string step_end(const Line& line) { return time_text(line.step->end_time(), "Unknown", line); }

std::string node_list(const Line& line) {
    return line.job().node_list().empty() ? "None assigned" : line.job().node_list();
}
std::string step_node_list(const Line& line) { return line.step->node_list(); }
std::string node_count(const Line& line) { return number_text(line.job().node_count()); }
std::string allocated_nodes(const Line& line) {
    return number_text(line.job().node_list().empty() ? 0 : line.job().node_count());
}
std::string step_nodes(const Line& line) {
    const auto list = HostList::parse(line.step->node_list());
    return number_text(list ? list->size() : 0);
}
std::string step_tasks(const Line& line) { return number_text(std::max(1U, line.step->tasks())); }

std::string limit(const Line& line) {
    const auto minutes = line.job().time_limit_min();
    return minutes == unlimited ? "UNLIMITED" : print_long_limit(minutes);
}
std::string limit_raw(const Line& line) {
    const auto minutes = line.job().time_limit_min();
    return minutes == unlimited ? "UNLIMITED" : number_text(minutes);
}

// From when it could have run to when it did; nothing (and "INVALID" in text) for who was ended before.
std::optional<std::int64_t> waited_s(const Line& line) {
    const auto& job = line.job();
    if (job.eligible_time() == 0) return 0;
    if (job.start_time() == 0 && job.end_time() != 0) return std::nullopt;
    const auto until = job.start_time() != 0 ? job.start_time() : line.in.now;
    return until < job.eligible_time() ? std::optional<std::int64_t>{job.start_time() == 0 ? 0 : -1}
                                       : until - job.eligible_time();
}
std::string waited_text(std::optional<std::int64_t> seconds) {
    return !seconds || *seconds < 0 ? "INVALID" : print_long_duration(*seconds);
}
std::string waited(const Line& line) { return waited_text(waited_s(line)); }
std::optional<std::int64_t> waited_cpu_s(const Line& line) {
    const auto seconds = waited_s(line);
    return seconds ? std::optional{*seconds * static_cast<std::int64_t>(asked_for(line, "cpu"))} : std::nullopt;
}
std::string waited_cpu(const Line& line) { return waited_text(waited_cpu_s(line)); }
std::string waited_cpu_raw(const Line& line) { return fmt::format("{}", waited_cpu_s(line).value_or(0)); }
std::string suspended(const Line& line) { return print_long_duration(line.job().suspended_s()); }

std::string user(const Line& line) { return records::user_name(line.job()); }
std::string uid(const Line& line) {
    if (line.look.local_uids)
        if (const auto found = find_user(records::user_name(line.job()))) return number_text(*found);
    return number_text(line.job().spec().uid());
}
std::string group(const Line& line) { return records::group_name(line.job()); }
std::string gid(const Line& line) { return number_text(line.job().spec().gid()); }
std::string cluster(const Line& line) { return line.run.cluster(); }
std::string account(const Line& line) { return line.job().account(); }
std::string association(const Line& line) { return number_text(line.job().association_id()); }
// Rows have no number of their own; a job's and its run's tell them apart.
std::string index(const Line& line) { return number_text((std::uint64_t{line.job().id()} << 16) + line.run.run()); }
std::string qos_number(const Line& line) {
    const auto found = line.look.qos_ids.find(line.job().qos());
    return found == line.look.qos_ids.end() ? std::string{} : number_text(found->second);
}
std::string reason(const Line& line) { return line.job().reason().empty() ? "None" : line.job().reason(); }
std::string priority(const Line& line) { return number_text(line.job().priority()); }

template <auto Get>
std::string of_job(const Line& line) {
    return (line.job().*Get)();
}
template <auto Get>
std::string of_spec(const Line& line) {
    return (line.job().spec().*Get)();
}

std::string layout(const Line& line) {
    return is_batch(line) || line.step->distribution().empty() ? "Unknown" : line.step->distribution();
}
// What nobody can ask for yet was not asked for.
std::string frequency(const Line& line) { return line.step != nullptr && is_batch(line) ? "0" : "Unknown"; }

// ---- CPU time: of a job, that of its steps
// ----------------------------------------------------------------------------

template <auto... Get>
std::uint64_t used_us(const Line& line) {
    const auto of = [](const v1::Step& step) { return ((step.usage().*Get)() + ...); };
    if (line.step != nullptr) return of(*line.step);
    std::uint64_t total = 0;
    if (line.look.with_steps)
        for (const auto& step : line.job().steps()) total += of(step);
    return total;
}
using U = v1::StepUsage;
std::string total_cpu(const Line& line) { return cpu_text(cpu_used_us(line)); }
std::string user_cpu(const Line& line) { return cpu_text(used_us<&U::user_us>(line)); }
std::string system_cpu(const Line& line) { return cpu_text(used_us<&U::system_us>(line)); }

using enum TooLong;

constexpr SacctField table[] = {
    {"Account", 10, account, account},
    {"AdminComment", 15, of_spec<&v1::JobSpec::admin_comment>},
    {"AllocCPUS", 10, cpu_count, cpu_count},
    {"AllocNodes", 10, allocated_nodes, step_nodes},
    {"AllocTRES", 10, allocated_tres, step_tres},
    {"AssocID", 7, association, association},
    {"AveCPU", 10},
    {"AveCPUFreq", 10},
    {"AveDiskRead", 14},
    {"AveDiskWrite", 14},
    {"AvePages", 10},
    {"AveRSS", 10},
    {"AveVMSize", 10},
    {"BlockID", 16},
    {"Cluster", 10, cluster, cluster},
    {"Comment", 14, of_spec<&v1::JobSpec::comment>},
    {"Constraints", 19, of_job<&v1::Job::features>},
    {"ConsumedEnergy", 14},
    {"ConsumedEnergyRaw", 17},
    {"Container", 19, of_spec<&v1::JobSpec::container>},
    {"CPUTime", 10, cpu_time, cpu_time, keep},
    {"CPUTimeRAW", 10, cpu_time_raw, cpu_time_raw},
    {"DBIndex", 10, index, index},
    {"DerivedExitCode", 15, derived_exit},
    {"Elapsed", 10, elapsed, elapsed, keep},
    {"ElapsedRaw", 10, elapsed_raw, elapsed_raw},
    {"Eligible", 19, eligible, step_start, cut},
    {"End", 19, end, step_end, cut},
    {"ExitCode", 8, exit_code, exit_code},
    {"Flags", 19},
    {"GID", 6, gid},
    {"Group", 9, group},
    {"JobID", -12, job_id, step_id},
    {"JobIDRaw", -12, raw_id, raw_step_id},
    {"JobName", 10, job_name, step_name},
    {"Layout", 9, nullptr, layout},
    {"MaxDiskRead", 12},
    {"MaxDiskReadNode", 15},
    {"MaxDiskReadTask", 15},
    {"MaxDiskWrite", 12},
    {"MaxDiskWriteNode", 16},
    {"MaxDiskWriteTask", 16},
    {"MaxPages", 8},
    {"MaxPagesNode", 12},
    {"MaxPagesTask", 14},
    {"MaxRSS", 10},
    {"MaxRSSNode", 10},
    {"MaxRSSTask", 10},
    {"MaxVMSize", 10},
    {"MaxVMSizeNode", 14},
    {"MaxVMSizeTask", 14},
    {"McsLabel", 12, of_spec<&v1::JobSpec::mcs_label>},
    {"MinCPU", 10},
    {"MinCPUNode", 10},
    {"MinCPUTask", 10},
    {"NCPUS", 10, cpu_count, cpu_count},
    {"NNodes", 8, node_count, step_nodes},
    {"NodeList", 15, node_list, step_node_list},
    {"NTasks", 8, nullptr, step_tasks},
    {"Partition", 10, of_job<&v1::Job::partition>},
    {"Priority", 10, priority},
    {"QOS", 10, of_job<&v1::Job::qos>},
    {"QOSRAW", 6, qos_number},
    {"Reason", 22, reason},
    {"ReqCPUFreq", 10, frequency, frequency},
    {"ReqCPUFreqGov", 13, frequency, frequency},
    {"ReqCPUFreqMax", 13, frequency, frequency},
    {"ReqCPUFreqMin", 13, frequency, frequency},
    {"ReqCPUS", 8, asked_cpus, cpu_count},
    {"ReqMem", 10, asked_memory},
    {"ReqNodes", 8, asked_nodes, step_nodes},
    {"ReqTRES", 10, asked_tres},
    {"Reservation", 20, of_spec<&v1::JobSpec::reservation>},
    {"ReservationId", 8},
    {"Reserved", 10, waited, nullptr, keep},
    {"ResvCPU", 10, waited_cpu, nullptr, keep},
    {"ResvCPURAW", 10, waited_cpu_raw},
    {"Start", 19, start, step_start, cut},
    {"State", 10, state_text, state_text},
    {"Submit", 19, submit, step_start, cut},
    {"SubmitLine", 20, of_spec<&v1::JobSpec::submit_line>},
    {"Suspended", 10, suspended, suspended, keep},
    {"SystemComment", 15, of_job<&v1::Job::system_comment>},
    {"SystemCPU", 10, system_cpu, system_cpu},
    {"Timelimit", 10, limit},
    {"TimelimitRaw", 10, limit_raw},
    {"TotalCPU", 10, total_cpu, total_cpu},
    {"TRESUsageInAve", 14},
    {"TRESUsageInMax", 14},
    {"TRESUsageInMaxNode", 18},
    {"TRESUsageInMaxTask", 18},
    {"TRESUsageInMin", 14},
    {"TRESUsageInMinNode", 18},
    {"TRESUsageInMinTask", 18},
    {"TRESUsageInTot", 14},
    {"TRESUsageOutAve", 15},
    {"TRESUsageOutMax", 15},
    {"TRESUsageOutMaxNode", 19},
    {"TRESUsageOutMaxTask", 19},
    {"TRESUsageOutMin", 15},
    {"TRESUsageOutMinNode", 19},
    {"TRESUsageOutMinTask", 19},
    {"TRESUsageOutTot", 15},
    {"UID", 6, uid},
    {"User", 9, user},
    {"UserCPU", 10, user_cpu, user_cpu},
    {"WCKey", 10, of_spec<&v1::JobSpec::wckey>},
    {"WCKeyID", 10},
    {"WorkDir", 20, of_spec<&v1::JobSpec::work_dir>},
};

}  // namespace

std::string state_text(const Line& line) {
    if (line.step != nullptr) return line.step->state();
    if (is_requeued(line)) return "REQUEUED";
    const auto state = records::job_state(line.job()).state;
    if (state == JobState::cancelled && line.run.has_cancelled_by())
        return fmt::format("CANCELLED by {}", line.run.cancelled_by());
    return std::string{to_string(state)};
}

std::uint32_t exit_status_of(const Line& line) {
    if (line.step != nullptr) return line.step->exit_status();
    const auto state = records::job_state(line.job()).state;
    const bool was_ended = is_requeued(line) || state == JobState::cancelled || state == JobState::timeout ||
                           state == JobState::preempted || state == JobState::deadline;
    return was_ended ? 0 : line.job().exit_status();
}

std::int64_t elapsed_s(const Line& line) {
    const auto end_or_now = [&](std::int64_t end) { return end != 0 ? end : line.in.now; };
    if (line.step != nullptr) {
        const auto begin = line.step->start_time();
        return begin == 0 ? 0 : std::max<std::int64_t>(0, end_or_now(line.step->end_time()) - begin);
    }
    const auto& job = line.job();
    if (job.start_time() == 0) return 0;
    return std::max<std::int64_t>(0, end_or_now(job.end_time()) - job.start_time() - job.suspended_s());
}

std::uint64_t cpu_used_us(const Line& line) { return used_us<&U::user_us, &U::system_us>(line); }

std::span<const SacctField> fields() { return table; }

const SacctField* find_field(std::string_view name) {
    for (const auto& field : table)
        if (equal_nocase(field.name, name)) return &field;
    for (const auto& field : table) {
        const std::string_view own{field.name};
        if (name.size() < own.size() && equal_nocase(own.substr(0, name.size()), name)) return &field;
    }
    return nullptr;
}

std::string text_of(const SacctField& field, const Line& line) {
    if (const auto get = line.step == nullptr ? field.job : field.step) return get(line);
    if (line.step == nullptr || !line.step->has_usage()) return {};
    const auto measured = records::find_usage_field(field.name);
    const auto units = line.look.convert || line.look.units ? line.look.units : std::optional{'\0'};
    return measured ? records::usage_text(*measured, line.step->usage(), {.units = units}) : std::string{};
}

}  // namespace spur::cli::sacct
