// scontrol show job, scontrol show step: which fields share a line. What they are called and say is the records'.
#include "cli/common/job_text.hpp"
#include "cli/scontrol/show.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/common/records/job.hpp"
#include "daemons/common/records/step.hpp"

#include <algorithm>
#include <map>

namespace spur::cli::scontrol {
namespace {

using records::JobFieldId;
using records::JobView;
using records::StepFieldId;

// A few have a form of their own in this listing.
std::string job_field_text(JobFieldId id, const JobView& job) {
    auto text = field_text(records::job_field(id), job);
    if (id == JobFieldId::minimum_memory && job.spec().has_mem_per_cpu_mib())
        return "MinMemoryCPU" + text.substr(text.find('='));
    if (id == JobFieldId::reason) std::ranges::replace(text, ' ', '_');
    if (id == JobFieldId::tres_bind)
        return job.spec().gpu_bind().empty() ? "" : "TresBind=gpu:" + job.spec().gpu_bind();
    return text;
}

std::string gres_of(const v1::NodeShare& share) {
    std::string text;
    for (const auto& gres : share.gres()) {
        const auto index = TaskSet::of({gres.index().begin(), gres.index().end()}).str();
        text += fmt::format("{}{}:{}{}{}(IDX:{})", text.empty() ? "" : ",", gres.name(), gres.type(),
                            gres.type().empty() ? "" : ":", gres.count(), index.empty() ? "N/A" : index);
    }
    return text;
}

// -d: what each node gives; neighbours that give the same share a line.
void put_shares(Record& record, const v1::Job& job) {
    if (job.shares().empty()) return;
    std::map<std::string, std::uint64_t> sum;
    for (const auto& share : job.shares())
        for (const auto& gres : share.gres())
            sum[gres.type().empty() ? gres.name() : gres.name() + ":" + gres.type()] += gres.count();
    std::string total;
    for (const auto& [name, count] : sum) total += fmt::format("{}{}:{}", total.empty() ? "" : ",", name, count);
    record.line("JOB_GRES={}", shown(total));
    for (int i = 0; i < job.shares_size();) {
        const auto& first = job.shares(i);
        HostList nodes;
        for (; i < job.shares_size(); ++i) {
            const auto& share = job.shares(i);
            if (share.core_ids() != first.core_ids() || share.memory_mib() != first.memory_mib() ||
                gres_of(share) != gres_of(first))
                break;
            nodes.push_back(share.node());
        }
        record.line("  Nodes={} CPU_IDs={} Mem={} GRES={}", nodes.str(), first.core_ids(), first.memory_mib(),
                    gres_of(first));
    }
}

using enum JobFieldId;
// A line without fields: what -d says of the shares.
const Line<JobFieldId> job_lines[] = {
    {{job_id, array_job_id, array_tasks, array_max_tasks, het_job_id, het_job_offset, name}},
    {{het_job_id_set}},
    {{user, group, mcs_label}},
    {{priority, nice, account, qos}},
    {{JobFieldId::job_state, reason, failed_node, dependency}},
    {{requeue, restart_cnt, batch_flag, reboot, exit_code}},
    {{derived_exit_code}, Only::details},
    {{run_time, time_limit, time_minimum}},
    {{submit_time, eligible_time}},
    {{accrue_time}},
    {{resize_time}},
    {{start_time, end_time, deadline}},
    {{preempt_eligible_time, preempt_time}},
    {{suspend_time, pre_sus_time, last_sched_evaluation, scheduler}},
    {{partition, alloc_node_sid}},
    {{required_nodes, excluded_nodes}},
    {{nodes, scheduled_nodes_expected}},
    {{exec_host}},
    {{node_range, cpus, tasks, cpus_per_task, requested_sct}},
    {{tres}},
    {{sockets_per_node, tasks_per, core_spec}},
    {{}, Only::details},
    {{minimum_cpus_per_node, minimum_memory, minimum_tmp_disk_per_node}},
    {{features, delay_boot}},
    {{resv_name}},
    {{prefer}},
    {{oversubscribe, contiguous, licenses, network}},
    {{command}},
    {{current_working_directory}},
    {{admin_comment}, Only::always, " "},
    {{system_comment}, Only::always, " "},
    {{comment}, Only::always, " "},
    {{standard_error}, Only::batch},
    {{standard_input}, Only::batch},
    {{standard_output}, Only::batch},
    {{switches_shown}},
    {{power}},
    {{gres_enforce_bind}},
    {{kill_on_invalid_dependency}},
    {{spread}},
    {{cpus_per_tres}},
    {{memory_per_tres}},
    {{tres_bind}},
    {{tres_per_job}},
    {{tres_per_node}},
    {{tres_per_socket}},
    {{tres_per_task}},
    {{mail_user, mail_type}},
    {{tasks_per_tres}},
};

}  // namespace

std::string job_text(const v1::Job& job, const Style& style) {
    const records::Context context{.now = style.now, .cluster = {}, .array_text_limit = array_text_limit()};
    const JobView view{job, context};
    const auto text_of = [&](JobFieldId id) { return job_field_text(id, view); };
    Record record;
    for (const auto& line : job_lines) {
        if (line.only == Only::details && style.details == 0) continue;
        if (line.only == Only::batch && job.spec().kind() != v1::JobSpec::BATCH) continue;
        if (line.fields.size() == 0)
            put_shares(record, job);
        else
            put_line(record, line, text_of);
    }
    put_rest(record, records::job_fields(), job_lines, text_of);
    record.line("");
    return record.text(style);
}

std::string step_text(const v1::Job& job, const v1::Step& step, const Style& style) {
    using enum StepFieldId;
    static const Line<StepFieldId> lines[] = {
        {{step_id, user_id, StepFieldId::start_time, StepFieldId::time_limit}},
        {{state, StepFieldId::partition, StepFieldId::nodes}},
        {{StepFieldId::node_count, StepFieldId::cpus, StepFieldId::tasks, StepFieldId::name, StepFieldId::network}},
        {{StepFieldId::tres}},
        {{reserved_ports}},
        {{cpu_frequency_requested, distribution}},
        {{srun_host_pid}},
    };
    const records::Context context{.now = style.now, .cluster = {}};
    Record record;
    for (const auto& line : lines)
        put_line(record, line, [&](StepFieldId id) {
            return field_text(records::step_field(id), {step, job, context});
        });
    return record.text(style);
}

}  // namespace spur::cli::scontrol
