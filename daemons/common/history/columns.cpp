// The tables.
#include "daemons/common/history/columns.hpp"

#include <algorithm>
#include <iterator>

#include "core/base/ids.hpp"
#include "core/model/job.hpp"
#include "core/model/step_usage.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/records/job_text.hpp"

namespace spur::history {
namespace {

using HJ = v1::HistoryJob;
using HS = v1::HistoryStep;
using J = v1::Job;
using S = v1::JobSpec;
using T = v1::Step;

std::int64_t number(const Value& value) {
    const auto* const found = std::get_if<std::int64_t>(&value);
    return found ? *found : 0;
}
std::string text(const Value& value) {
    if (const auto* found = std::get_if<std::string>(&value)) return *found;
    if (const auto* tres = std::get_if<TresList>(&value)) return tres->str();
    return {};
}
Value if_any(std::int64_t value) { return value == 0 ? Value{} : Value{value}; }
Value tres_of(const std::string& listed) {
    auto parsed = TresList::parse(listed);
    return parsed && !parsed->empty() ? Value{std::move(*parsed)} : Value{};
}

// ---- of a job ------------------------------------------------------------------------------------------------------

template <auto Get>
Value job_number(const HJ& run) {
    return static_cast<std::int64_t>((run.job().*Get)());
}
template <auto Get>
Value job_number_if_any(const HJ& run) {
    return if_any(static_cast<std::int64_t>((run.job().*Get)()));
}
template <auto Set>
void set_number(HJ& run, const Value& value) {
    (run.mutable_job()->*Set)(static_cast<std::uint32_t>(number(value)));
}
template <auto Set>
void set_time(HJ& run, const Value& value) {
    (run.mutable_job()->*Set)(number(value));
}
template <auto Get>
Value job_text(const HJ& run) {
    return (run.job().*Get)();
}
template <auto Mutable>
void set_text(HJ& run, const Value& value) {
    *(run.mutable_job()->*Mutable)() = text(value);
}
template <auto Get>
Value spec_text(const HJ& run) {
    return (run.job().spec().*Get)();
}
template <auto Mutable>
void set_spec_text(HJ& run, const Value& value) {
    *(run.mutable_job()->mutable_spec()->*Mutable)() = text(value);
}
template <auto Get>
Value job_tres(const HJ& run) {
    return tres_of((run.job().*Get)());
}
template <auto Has, auto Get>
Value asked(const HJ& run) {
    const auto& spec = run.job().spec();
    return (spec.*Has)() ? Value{static_cast<std::int64_t>((spec.*Get)())} : Value{};
}
template <auto Set>
void set_asked(HJ& run, const Value& value) {
    (run.mutable_job()->mutable_spec()->*Set)(static_cast<std::uint32_t>(number(value)));
}
template <auto Set>
void set_asked_mib(HJ& run, const Value& value) {
    (run.mutable_job()->mutable_spec()->*Set)(static_cast<std::uint64_t>(number(value)));
}

bool is_requeued(const HJ& run) { return (run.job().state_bits() & job_flag::requeued) != 0; }
// A job that waits, or runs, has its expected times in the message: those are no history. One that never got nodes
// never began.
bool has_run(const HJ& run) {
    return !run.job().node_list().empty() &&
           (records::job_state(run.job()).state != JobState::pending || is_requeued(run));
}
bool is_over(const HJ& run) { return records::job_state(run.job()).is_finished() || is_requeued(run); }

Value state_of(const HJ& run) { return std::string{to_string(records::job_state(run.job()).state)}; }
void set_state(HJ& run, const Value& value) {
    const auto state = find_job_state(text(value)).value_or(JobState::pending);
    const auto flags = run.job().state_bits() & ~std::uint32_t{0xff};
    run.mutable_job()->set_state_bits(flags | static_cast<std::uint32_t>(state));
}
Value flags_of(const HJ& run) { return std::int64_t{run.job().state_bits() & ~0xffU}; }
void set_flags(HJ& run, const Value& value) {
    run.mutable_job()->set_state_bits((run.job().state_bits() & 0xff) | static_cast<std::uint32_t>(number(value)));
}
// What it waited for last. That something else came first, or that it runs, is no reason; what was told before stays.
Value reason_of(const HJ& run) {
    const auto& reason = run.job().reason();
    const bool waits = records::job_state(run.job()).state == JobState::pending && !is_requeued(run);
    return waits && reason != "None" && reason != "Priority" && reason != "Resources" ? Value{reason} : Value{};
}
// The length of the UTF-8 character that `bytes` begin with; 0: they begin with none that may be stored.
std::size_t character_size(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])); };
    if (byte(0) < 0x80) return byte(0) == 0 ? 0 : 1;
    const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || size > bytes.size()) return 0;
    std::uint32_t code = byte(0) & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[size] || code > 0x10ffff || is_surrogate ? 0 : size;
}
// What a job brought along may be in any encoding; history is UTF-8.
std::string as_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const auto size = character_size(bytes);
        text += size == 0 ? std::string_view{"?"} : bytes.substr(0, size);
        bytes.remove_prefix(std::max<std::size_t>(size, 1));
    }
    return text;
}
Value script_of(const HJ& run) {
    const auto& script = run.job().spec().script();
    return script.empty() ? Value{} : Value{as_utf8(script)};
}
Value environment_of(const HJ& run) {
    std::string lines;
    for (const auto& one : run.job().spec().environment()) lines += as_utf8(one) + '\n';
    return lines.empty() ? Value{} : Value{std::move(lines)};
}
// Of a job that is to begin at a certain time, that one.
Value eligible_of(const HJ& run) {
    const auto& job = run.job();
    return if_any(job.eligible_time() == 0 && job.reason() == "BeginTime" ? job.spec().begin() : job.eligible_time());
}
Value limit_of(const HJ& run) {
    return run.job().time_limit_min() == unlimited ? Value{} : Value{std::int64_t{run.job().time_limit_min()}};
}

constexpr JobColumn job_table[] = {
    {"job_id", job_number<&J::id>, set_number<&J::set_id>},
    {"submit_time", job_number<&J::submit_time>, set_time<&J::set_submit_time>},
    {"attempt", [](const HJ& run) -> Value { return std::int64_t{run.run()}; },
     [](HJ& run, const Value& value) { run.set_run(static_cast<std::uint32_t>(number(value))); }},
    {"array_job_id", job_number_if_any<&J::array_job_id>, set_number<&J::set_array_job_id>},
    {"array_task_id",
     [](const HJ& run) {
         return run.job().has_array_task_id() ? Value{std::int64_t{run.job().array_task_id()}} : Value{};
     },
     set_number<&J::set_array_task_id>},
    {"array_tasks", job_text<&J::array_tasks>, set_text<&J::mutable_array_tasks>},
    {"het_job_id", job_number_if_any<&J::het_job_id>, set_number<&J::set_het_job_id>},
    {"het_job_offset", job_number<&J::het_offset>, set_number<&J::set_het_offset>},
    {"name", spec_text<&S::name>, set_spec_text<&S::mutable_name>},
    {"user_name", job_text<&J::user_name>, set_text<&J::mutable_user_name>},
    {"uid", [](const HJ& run) -> Value { return std::int64_t{run.job().spec().uid()}; },
     [](HJ& run, const Value& value) {
         run.mutable_job()->mutable_spec()->set_uid(static_cast<std::uint32_t>(number(value)));
     }},
    {"group_name", job_text<&J::group_name>, set_text<&J::mutable_group_name>},
    {"gid", [](const HJ& run) -> Value { return std::int64_t{run.job().spec().gid()}; }, set_asked<&S::set_gid>},
    {"account", job_text<&J::account>, set_text<&J::mutable_account>},
    {"partition", job_text<&J::partition>, set_text<&J::mutable_partition>},
    {"qos", job_text<&J::qos>, set_text<&J::mutable_qos>},
    {"reservation", spec_text<&S::reservation>, set_spec_text<&S::mutable_reservation>},
    {"wckey", spec_text<&S::wckey>, set_spec_text<&S::mutable_wckey>},
    {"association_id", job_number<&J::association_id>, set_number<&J::set_association_id>},
    {"state", state_of, set_state},
    {"flags", flags_of, set_flags},
    {"reason", reason_of, set_text<&J::mutable_reason>},
    {"exit_code", job_number<&J::exit_status>, set_number<&J::set_exit_status>},
    {"derived_exit_code", job_number<&J::derived_exit_status>, set_number<&J::set_derived_exit_status>},
    {"cancelled_by",
     [](const HJ& run) { return run.has_cancelled_by() ? Value{std::int64_t{run.cancelled_by()}} : Value{}; },
     [](HJ& run, const Value& value) { run.set_cancelled_by(static_cast<std::uint32_t>(number(value))); }},
    {"priority", job_number<&J::priority>, set_number<&J::set_priority>},
    {"restarts", job_number<&J::restarts>, set_number<&J::set_restarts>},
    {"eligible_time", eligible_of, set_time<&J::set_eligible_time>},
    {"start_time", [](const HJ& run) { return has_run(run) ? if_any(run.job().start_time()) : Value{}; },
     set_time<&J::set_start_time>},
    {"end_time", [](const HJ& run) { return is_over(run) ? if_any(run.job().end_time()) : Value{}; },
     set_time<&J::set_end_time>},
    {"suspended_s", job_number<&J::suspended_s>, set_number<&J::set_suspended_s>},
    {"time_limit_min", limit_of, set_number<&J::set_time_limit_min>},
    {"node_count", job_number<&J::node_count>, set_number<&J::set_node_count>},
    {"cpus", job_number<&J::cpus>, set_number<&J::set_cpus>},
    {"tasks", job_number<&J::task_count>, set_number<&J::set_task_count>},
    {"nodes", job_text<&J::node_list>, set_text<&J::mutable_node_list>},
    {"tres_requested", job_tres<&J::tres_requested>, set_text<&J::mutable_tres_requested>},
    {"tres_allocated", job_tres<&J::tres_allocated>, set_text<&J::mutable_tres_allocated>},
    {"constraints", job_text<&J::features>, set_text<&J::mutable_features>},
    {"work_dir", spec_text<&S::work_dir>, set_spec_text<&S::mutable_work_dir>},
    {"submit_line", spec_text<&S::submit_line>, set_spec_text<&S::mutable_submit_line>},
    {"comment", spec_text<&S::comment>, set_spec_text<&S::mutable_comment>},
    {"admin_comment", spec_text<&S::admin_comment>, set_spec_text<&S::mutable_admin_comment>},
    {"system_comment", job_text<&J::system_comment>, set_text<&J::mutable_system_comment>},
    {"mcs_label", spec_text<&S::mcs_label>, set_spec_text<&S::mutable_mcs_label>},
    {"container", spec_text<&S::container>, set_spec_text<&S::mutable_container>},
    // From here on without a column of their own.
    {"mem_per_node_mib", asked<&S::has_mem_per_node_mib, &S::mem_per_node_mib>,
     set_asked_mib<&S::set_mem_per_node_mib>},
    {"mem_per_cpu_mib", asked<&S::has_mem_per_cpu_mib, &S::mem_per_cpu_mib>, set_asked_mib<&S::set_mem_per_cpu_mib>},
    {"cpus_per_task", asked<&S::has_cpus_per_task, &S::cpus_per_task>, set_asked<&S::set_cpus_per_task>},
    {"kind", [](const HJ& run) -> Value { return std::int64_t{run.job().spec().kind()}; },
     [](HJ& run, const Value& value) {
         run.mutable_job()->mutable_spec()->set_kind(static_cast<S::Kind>(number(value)));
     }},
    {"array_limit", job_number_if_any<&J::array_limit>, set_number<&J::set_array_limit>},
    {"script", script_of, set_spec_text<&S::mutable_script>},
    {"environment", environment_of,
     [](HJ& run, const Value& value) { run.mutable_job()->mutable_spec()->add_environment(text(value)); }},
};

// ---- of a step -----------------------------------------------------------------------------------------------------

template <auto Get>
Value step_number(const HS& run) {
    return static_cast<std::int64_t>((run.step().*Get)());
}
template <auto Get>
Value step_time(const HS& run) {
    return if_any((run.step().*Get)());
}
template <auto Set>
void set_step_number(HS& run, const Value& value) {
    (run.mutable_step()->*Set)(static_cast<std::uint32_t>(number(value)));
}
template <auto Set>
void set_step_time(HS& run, const Value& value) {
    (run.mutable_step()->*Set)(number(value));
}
template <auto Get>
Value step_text(const HS& run) {
    return (run.step().*Get)();
}
template <auto Mutable>
void set_step_text(HS& run, const Value& value) {
    *(run.mutable_step()->*Mutable)() = text(value);
}
template <auto Get>
Value usage(const HS& run) {
    return run.step().has_usage() ? Value{static_cast<std::int64_t>((run.step().usage().*Get)())} : Value{};
}
template <auto Set>
void set_usage(HS& run, const Value& value) {
    (run.mutable_step()->mutable_usage()->*Set)(static_cast<std::uint64_t>(number(value)));
}

// What was measured task by task, by the names of accounting_fields.h.
constexpr std::string_view measured_names[] = {"cpu",       "mem",        "vmem",        "pages",
                                               "disk_read", "disk_write", "gres/gpumem", "gres/gpuutil"};
static_assert(std::size(measured_names) == measured_count);
using M = v1::MeasuredUsage;

M* find_measured(HS& run, std::string_view name) {
    const auto at = std::ranges::find(measured_names, name) - std::begin(measured_names);
    if (static_cast<std::size_t>(at) == measured_count) return nullptr;  // a later release's
    auto& usage = *run.mutable_step()->mutable_usage();
    while (usage.measured_size() <= at) usage.add_measured();
    return usage.mutable_measured(static_cast<int>(at));
}

// Of a single task the most says everything: it is the least and the total too.
constexpr std::uint32_t always = 1, if_several = 2;
template <auto Get, std::uint32_t Tasks>
Value measured_list(const HS& run) {
    const auto& usage = run.step().usage();
    if (usage.tasks() < Tasks) return {};
    TresList list;
    for (int i = 0; i < std::min<int>(usage.measured_size(), measured_count); ++i)
        list.set(measured_names[i], (usage.measured(i).*Get)());
    return list;
}
// Which task it was; all of them task 0: absent.
template <auto Get, std::uint32_t Tasks>
Value measured_task(const HS& run) {
    const auto& all = run.step().usage().measured();
    return std::ranges::all_of(all, [](const M& use) { return (use.*Get)() == 0; }) ? Value{}
                                                                                  : measured_list<Get, Tasks>(run);
}
template <class N>
void put(M& use, void (M::*set)(N), std::uint64_t count) {
    (use.*set)(static_cast<N>(count));
}
template <auto Set>
void set_measured(HS& run, const Value& value) {
    const auto* const list = std::get_if<TresList>(&value);
    if (list == nullptr) return;
    for (const auto& [name, count] : list->entries())
        if (auto* const use = find_measured(run, name)) put(*use, Set, count);
}

// "n1", or where they differ "cpu=n1,mem=n2".
template <auto Get, std::uint32_t Tasks>
Value measured_nodes(const HS& run) {
    const auto& all = run.step().usage().measured();
    if (run.step().usage().tasks() < Tasks || all.empty()) return {};
    const auto& first = (all[0].*Get)();
    if (std::ranges::all_of(all, [&](const M& use) { return (use.*Get)() == first; })) return first;
    std::string text;
    for (int i = 0; i < std::min<int>(all.size(), measured_count); ++i)
        text.append(i == 0 ? "" : ",").append(measured_names[i]).append("=").append((all[i].*Get)());
    return text;
}
template <auto Mutable>
void set_measured_nodes(HS& run, const Value& value) {
    const auto listed = text(value);
    if (!listed.contains('=')) {
        for (auto& use : *run.mutable_step()->mutable_usage()->mutable_measured()) *(use.*Mutable)() = listed;
        return;
    }
    for (const auto part : split(listed, ',')) {
        const auto equals = part.find('=');
        if (auto* const use = find_measured(run, part.substr(0, equals)); use != nullptr && equals != part.npos)
            *(use->*Mutable)() = part.substr(equals + 1);
    }
}

constexpr StepColumn step_table[] = {
    {"job_id", step_number<&T::job_id>, set_step_number<&T::set_job_id>},
    {"submit_time", [](const HS& run) -> Value { return run.job_submit_time(); },
     [](HS& run, const Value& value) { run.set_job_submit_time(number(value)); }},
    {"attempt", [](const HS& run) -> Value { return std::int64_t{run.run()}; },
     [](HS& run, const Value& value) { run.set_run(static_cast<std::uint32_t>(number(value))); }},
    {"step_id", step_number<&T::step_id>, set_step_number<&T::set_step_id>},
    {"name", step_text<&T::name>, set_step_text<&T::mutable_name>},
    {"state", step_text<&T::state>, set_step_text<&T::mutable_state>},
    {"exit_code", step_number<&T::exit_status>, set_step_number<&T::set_exit_status>},
    {"start_time", step_time<&T::start_time>, set_step_time<&T::set_start_time>},
    {"end_time", step_time<&T::end_time>, set_step_time<&T::set_end_time>},
    {"tasks", step_number<&T::tasks>, set_step_number<&T::set_tasks>},
    {"cpus", step_number<&T::cpus>, set_step_number<&T::set_cpus>},
    {"node_count", [](const HS& run) -> Value { return std::int64_t{run.step().shares_size()}; },
     [](HS&, const Value&) {}},  // its nodes say it
    {"nodes", step_text<&T::node_list>, set_step_text<&T::mutable_node_list>},
    {"time_limit_min",
     [](const HS& run) {
         return run.step().time_limit_min() == unlimited ? Value{} : Value{std::int64_t{run.step().time_limit_min()}};
     },
     set_step_number<&T::set_time_limit_min>},
    {"tres_allocated", [](const HS& run) { return tres_of(run.step().tres()); }, set_step_text<&T::mutable_tres>},
    {"layout", step_text<&T::distribution>, set_step_text<&T::mutable_distribution>},
    {"user_us", usage<&v1::StepUsage::user_us>, set_usage<&v1::StepUsage::set_user_us>},
    {"system_us", usage<&v1::StepUsage::system_us>, set_usage<&v1::StepUsage::set_system_us>},
    {"max_rss_bytes",
     [](const HS& run) {
         return run.step().has_usage() ? Value{static_cast<std::int64_t>(run.step().usage().max_rss_kib() << 10)}
                                       : Value{};
     },
     [](HS& run, const Value& value) {
         run.mutable_step()->mutable_usage()->set_max_rss_kib(static_cast<std::uint64_t>(number(value)) >> 10);
     }},
    {"read_bytes", usage<&v1::StepUsage::read_bytes>, set_usage<&v1::StepUsage::set_read_bytes>},
    {"write_bytes", usage<&v1::StepUsage::write_bytes>, set_usage<&v1::StepUsage::set_write_bytes>},
    {"measured_tasks", [](const HS& run) { return if_any(run.step().usage().tasks()); },
     [](HS& run, const Value& value) {
         run.mutable_step()->mutable_usage()->set_tasks(static_cast<std::uint32_t>(number(value)));
     }},
    {"usage_max", measured_list<&M::max, always>, set_measured<&M::set_max>},
    {"usage_max_task", measured_task<&M::max_task, always>, set_measured<&M::set_max_task>},
    {"usage_max_node", measured_nodes<&M::max_node, always>, set_measured_nodes<&M::mutable_max_node>},
    {"usage_min", measured_list<&M::min, if_several>, set_measured<&M::set_min>},
    {"usage_min_task", measured_task<&M::min_task, if_several>, set_measured<&M::set_min_task>},
    {"usage_min_node", measured_nodes<&M::min_node, if_several>, set_measured_nodes<&M::mutable_min_node>},
    {"usage_total", measured_list<&M::total, if_several>, set_measured<&M::set_total>},
};

}  // namespace

std::span<const JobColumn> job_columns() { return job_table; }
std::span<const StepColumn> step_columns() { return step_table; }

}  // namespace spur::history
