// scontrol show job, scontrol show step.
#include "cli/common/job_text.hpp"
#include "cli/common/users.hpp"
#include "cli/scontrol/show.hpp"
#include "core/model/array_spec.hpp"
#include "core/slurm/mail_type.hpp"
#include "core/slurm/signal.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

#include <algorithm>
#include <map>

namespace spur::cli::scontrol {
namespace {

std::string star_or(bool present, std::uint32_t value) { return present ? fmt::format("{}", value) : "*"; }

std::string mail_text(std::uint32_t bits) {
    std::string text;
    for (const auto& type : mail_types)
        if (bits & type.bit) text += (text.empty() ? "" : ",") + std::string(type.name);
    return text.empty() ? "NONE" : text;
}

class JobRecord {
public:
    JobRecord(const v1::Job& job, const Style& style) : job_(job), spec_(job.spec()), style_(style) {}

    std::string text() {
        identity();
        state();
        times();
        place();
        size();
        if (style_.details > 0) shares();
        demands();
        command();
        extras();
        record_.line("");
        return record_.text(style_);
    }

private:
    std::string moment(std::int64_t time, std::string_view absent = "Unknown") const {
        return time_text(time, style_.now, absent);
    }

    void identity() {
        std::string head = fmt::format("JobId={} ", job_.id());
        if (job_.array_job_id() != 0) {
            head += fmt::format("ArrayJobId={} ArrayTaskId={} ", job_.array_job_id(),
                                array_task_text(job_, array_text_limit()));
            if (job_.array_limit() != 0) head += fmt::format("ArrayTaskThrottle={} ", job_.array_limit());
        } else if (job_.het_job_id() != 0) {
            head += fmt::format("HetJobId={} HetJobOffset={} ", job_.het_job_id(), job_.het_offset());
        }
        record_.line("{}JobName={}", head, spec_.name());
        if (job_.het_job_id() != 0) record_.line("HetJobIdSet={}", job_.het_set());
        record_.line("UserId={}({}) GroupId={}({}) MCS_label={}", user_name(job_), spec_.uid(), group_name(job_),
                     spec_.gid(), shown(spec_.mcs_label(), "N/A"));
        record_.line("Priority={} Nice={} Account={} QOS={}", job_.priority(), spec_.nice(),
                     shown(job_.account().empty() ? spec_.account() : job_.account()),
                     shown(job_.qos().empty() ? spec_.qos() : job_.qos()));
    }

    void state() {
        const auto now = job_state(job_);
        auto reason = reason_text(job_);
        std::replace(reason.begin(), reason.end(), ' ', '_');
        std::string failed;
        if (!job_.failed_node().empty()) failed = "FailedNode=" + job_.failed_node() + " ";
        record_.line("JobState={} Reason={} {}Dependency={}", display_state(now.state, now.flags), reason, failed,
                     shown(job_.dependency()));
        record_.line("Requeue={} Restarts={} BatchFlag={} Reboot={} ExitCode={}",
                     !spec_.has_requeue() || spec_.requeue() ? 1 : 0, job_.restarts(),
                     spec_.kind() == v1::JobSpec::BATCH ? 1 : 0, spec_.reboot() ? 1 : 0,
                     print_exit(job_.exit_status()));
        if (style_.details > 0) record_.line("DerivedExitCode={}", print_exit(job_.derived_exit_status()));
    }

    void times() {
        record_.line("RunTime={} TimeLimit={} TimeMin={}", print_long_duration(run_time_s(job_, style_.now)),
                     job_.time_limit_min() == unset_min ? "Partition_Limit" : print_long_limit(job_.time_limit_min()),
                     spec_.has_time_min_min() ? print_long_limit(spec_.time_min_min()) : "N/A");
        record_.line("SubmitTime={} EligibleTime={}", moment(job_.submit_time()), moment(job_.eligible_time()));
        record_.line("AccrueTime={}", moment(job_.accrue_time()));
        if (job_.resize_time() != 0) record_.line("ResizeTime={}", moment(job_.resize_time()));
        record_.line("StartTime={} EndTime={} Deadline={}", moment(job_.start_time()), moment(job_.end_time()),
                     moment(spec_.deadline(), "N/A"));
        if (job_.preempt_time() != 0)
            record_.line("PreemptEligibleTime={} PreemptTime={}", moment(job_.start_time()),
                         moment(job_.preempt_time()));
        record_.line("SuspendTime={} SecsPreSuspend={} LastSchedEval={} Scheduler=Main",
                     moment(job_.suspend_time(), "None"), job_.pre_suspend_s(), moment(job_.last_sched_eval()));
    }

    void place() {
        record_.line("Partition={} AllocNode:Sid={}:{}", job_.partition(), shown(spec_.alloc_node()),
                     spec_.alloc_sid());
        record_.line("ReqNodeList={} ExcNodeList={}", shown(spec_.node_list()), shown(spec_.exclude_nodes()));
        const bool expected = job_state(job_).state == JobState::pending && !job_.scheduled_nodes().empty();
        record_.line("NodeList={}{}", job_.node_list(), expected ? " SchedNodeList=" + job_.scheduled_nodes() : "");
        if (const auto host = batch_host(job_); !host.empty()) record_.line("BatchHost={}", host);
    }

    void size() {
        const bool waits = job_state(job_).state == JobState::pending;
        const auto most = spec_.max_nodes();
        const auto nodes = waits && spec_.has_max_nodes() && spec_.has_min_nodes() && most != spec_.min_nodes()
                               ? fmt::format("{}-{}", node_count(job_), most)
                               : fmt::format("{}", node_count(job_));
        record_.line("NumNodes={} NumCPUs={} NumTasks={} CPUs/Task={} ReqB:S:C:T=0:0:{}:{}", nodes, cpu_count(job_),
                     task_count(job_), std::max(1U, spec_.cpus_per_task()),
                     star_or(spec_.has_cores_per_socket(), spec_.cores_per_socket()),
                     star_or(spec_.has_threads_per_core(), spec_.threads_per_core()));
        record_.line("TRES={}", job_.tres_allocated().empty() ? job_.tres_requested() : job_.tres_allocated());
        record_.line("Socks/Node={} NtasksPerN:B:S:C={}:0:{}:{} CoreSpec={}",
                     star_or(spec_.has_sockets_per_node(), spec_.sockets_per_node()), spec_.tasks_per_node(),
                     star_or(spec_.has_tasks_per_socket(), spec_.tasks_per_socket()),
                     star_or(spec_.has_tasks_per_core(), spec_.tasks_per_core()),
                     star_or(spec_.has_core_spec(), spec_.core_spec()));
    }

    static std::string gres_of(const v1::NodeShare& share, bool with_index) {
        std::string text;
        for (const auto& gres : share.gres()) {
            const auto index = TaskSet::of({gres.index().begin(), gres.index().end()}).str();
            text += fmt::format("{}{}:{}{}{}", text.empty() ? "" : ",", gres.name(), gres.type(),
                                gres.type().empty() ? "" : ":", gres.count());
            if (with_index) text += fmt::format("(IDX:{})", index.empty() ? "N/A" : index);
        }
        return text;
    }

    // -d: what each node gives; neighbours that give the same share a line.
    void shares() {
        std::map<std::string, std::uint64_t> sum;
        for (const auto& share : job_.shares())
            for (const auto& gres : share.gres())
                sum[gres.type().empty() ? gres.name() : gres.name() + ":" + gres.type()] += gres.count();
        std::string total;
        for (const auto& [name, count] : sum) total += fmt::format("{}{}:{}", total.empty() ? "" : ",", name, count);
        if (job_.shares().empty()) return;
        record_.line("JOB_GRES={}", shown(total));
        for (int i = 0; i < job_.shares_size();) {
            const auto& first = job_.shares(i);
            HostList nodes;
            for (; i < job_.shares_size(); ++i) {
                const auto& share = job_.shares(i);
                if (share.core_ids() != first.core_ids() || share.memory_mib() != first.memory_mib() ||
                    gres_of(share, true) != gres_of(first, true))
                    break;
                nodes.push_back(share.node());
            }
            record_.line("  Nodes={} CPU_IDs={} Mem={} GRES={}", nodes.str(), first.core_ids(), first.memory_mib(),
                         gres_of(first, true));
        }
    }

    void demands() {
        const auto memory = min_memory_mib(job_).value_or(0);
        record_.line("MinCPUsNode={} MinMemory{}={} MinTmpDiskNode={}", min_cpus_per_node(job_),
                     spec_.has_mem_per_cpu_mib() ? "CPU" : "Node", memory ? print_mib(memory) : "0",
                     spec_.min_tmp_mib() ? print_mib(spec_.min_tmp_mib()) : "0");
        record_.line("Features={} DelayBoot={}", shown(job_.features().empty() ? spec_.features() : job_.features()),
                     print_long_duration(spec_.delay_boot_s()));
        if (!spec_.reservation().empty()) record_.line("Reservation={}", spec_.reservation());
        if (!spec_.prefer().empty()) record_.line("Prefer={}", spec_.prefer());
        record_.line("OverSubscribe={} Contiguous={} Licenses={} Network={}", oversubscribe_text(job_),
                     spec_.contiguous() ? 1 : 0, shown(spec_.licenses()), shown(spec_.network()));
    }

    void command() {
        record_.line("Command={}", shown(command_text(job_)));
        record_.line("WorkDir={}", shown(spec_.work_dir()));
        if (!spec_.admin_comment().empty()) record_.line("AdminComment={} ", spec_.admin_comment());
        if (!job_.system_comment().empty()) record_.line("SystemComment={} ", job_.system_comment());
        if (!spec_.comment().empty()) record_.line("Comment={} ", spec_.comment());
        if (spec_.kind() != v1::JobSpec::BATCH) return;
        record_.line("StdErr={}", job_.std_err_path().empty() ? job_.std_out_path() : job_.std_err_path());
        record_.line("StdIn={}", shown(job_.std_in_path(), "/dev/null"));
        record_.line("StdOut={}", job_.std_out_path());
    }

    void extras() {
        if (spec_.has_switches())
            record_.line("Switches={}@{}", spec_.switches(), print_long_duration(spec_.switches_wait_s()));
        record_.line("Power=");
        const auto tres = [&](const char* name, const std::string& gres) {
            if (!gres.empty()) record_.line("{}={}", name, gres_as_tres(gres));
        };
        if (spec_.gres_flags().find("enforce-binding") != std::string::npos) record_.line("GresEnforceBind=Yes");
        if (spec_.has_kill_on_invalid_dependency())
            record_.line("KillOInInvalidDependent={}", spec_.kill_on_invalid_dependency() ? "Yes" : "No");
        if (spec_.spread()) record_.line("SpreadJob=Yes");
        if (spec_.has_cpus_per_gpu()) record_.line("CpusPerTres=gres:gpu:{}", spec_.cpus_per_gpu());
        if (spec_.has_mem_per_gpu_mib()) record_.line("MemPerTres=gres:gpu:{}", spec_.mem_per_gpu_mib());
        if (!spec_.gpu_bind().empty()) record_.line("TresBind=gpu:{}", spec_.gpu_bind());
        tres("TresPerJob", spec_.gres_per_job());
        tres("TresPerNode", spec_.gres_per_node());
        tres("TresPerSocket", spec_.gres_per_socket());
        tres("TresPerTask", spec_.gres_per_task());
        if (spec_.mail_type() != 0)
            record_.line("MailUser={} MailType={}", shown(spec_.mail_user(), user_name(job_).c_str()),
                         mail_text(spec_.mail_type()));
        if (spec_.has_tasks_per_gpu()) record_.line("NtasksPerTRES={}", spec_.tasks_per_gpu());
    }

    const v1::Job& job_;
    const v1::JobSpec& spec_;
    const Style& style_;
    Record record_;
};

}  // namespace

std::string job_text(const v1::Job& job, const Style& style) { return JobRecord(job, style).text(); }

std::string step_text(const v1::Job& job, const v1::Step& step, const Style& style) {
    Record record;
    const bool named = step.step_id() >= step_interactive;
    const auto limit = step.time_limit_min() == 0 ? unlimited : step.time_limit_min();
    std::string network = "(null)";
    record.line("StepId={}.{} UserId={} StartTime={} TimeLimit={}", job_id_text(job, 0), print_step_id(step.step_id()),
                step.uid(), time_text(step.start_time(), style.now, "Unknown"), print_long_limit(limit));
    record.line("State={} Partition={} NodeList={}", step.state(),
                step.partition().empty() ? job.partition() : step.partition(), step.node_list());
    const auto nodes = HostList::parse(step.node_list());
    record.line("Nodes={} CPUs={} Tasks={} Name={} Network={}", nodes ? nodes->size() : 0, named ? 0 : step.cpus(),
                step.tasks(), step.name(), network);
    record.line("TRES={}", named ? "(null)" : shown(step.tres()));
    record.line("ResvPorts=(null)");
    record.line("CPUFreqReq=Default{}", named ? "" : " Dist=" + shown(step.distribution(), "Block"));
    record.line("SrunHost:Pid={}:{}", named ? "(null)" : shown(step.submit_host()), step.srun_pid());
    return record.text(style);
}

}  // namespace spur::cli::scontrol
