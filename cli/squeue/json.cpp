// squeue --json.
#include "cli/squeue/json.hpp"

#include "cli/common/job_text.hpp"
#include "cli/common/json_meta.hpp"
#include "core/model/gres.hpp"
#include "core/text/lexical.hpp"

namespace spur::cli::squeue {
namespace {

class JobJson {
public:
    JobJson(JsonWriter& json, const v1::Job& job, const std::string& cluster)
        : json_(json), job_(job), spec_(job.spec()), cluster_(cluster) {}

    void write() {
        json_.begin_object();
        identity();
        request();
        outcome();
        sizes();
        priority_and_limits();
        streams();
        json_.end_object();
    }

private:
    template <class T>
    void optional(const char* name, bool present, const T& value) {
        if (present)
            json_.member(name, value);
        else
            json_.member_null(name);
    }
    void text(const char* name, std::string_view value) { json_.member(name, value); }
    void number(const char* name, std::uint64_t value) { json_.member(name, value); }
    void time(const char* name, std::int64_t value) { json_.member(name, value); }

    void identity() {
        text("account", job_.account().empty() ? spec_.account() : job_.account());
        time("accrue_time", job_.accrue_time());
        text("admin_comment", spec_.admin_comment());
        number("array_job_id", job_.array_job_id());
        optional("array_task_id", job_.has_array_task_id(), job_.array_task_id());
        number("array_max_tasks", job_.array_limit());
        text("array_task_string", job_.has_array_task_id() ? "" : array_task_text(job_, 0));
        number("association_id", 0);
        text("batch_features", "");
        json_.member("batch_flag", spec_.kind() == v1::JobSpec::BATCH);
        text("batch_host", job_.batch_host());
        json_.key("flags");
        json_.begin_array();
        if (spec_.has_mem_per_node_mib() || spec_.has_mem_per_cpu_mib()) json_.value("JOB_MEM_SET");
        json_.end_array();
        text("burst_buffer", spec_.burst_buffer());
        text("burst_buffer_state", "");
        text("cluster", cluster_);
        text("cluster_features", "");
        text("command", command_text(job_));
        text("comment", spec_.comment());
        text("container", spec_.container());
    }

    void request() {
        json_.member("contiguous", spec_.contiguous());
        optional("core_spec", spec_.has_core_spec(), spec_.core_spec());
        json_.member_null("thread_spec");
        optional("cores_per_socket", spec_.has_cores_per_socket(), spec_.cores_per_socket());
        const auto tres = TresList::parse(job_.tres_allocated());
        const auto billing = tres ? tres->find("billing") : std::nullopt;
        if (billing) {
            json_.key("billable_tres");
            json_.value(static_cast<double>(*billing));
        } else {
            json_.member_null("billable_tres");
        }
        optional("cpus_per_task", spec_.has_cpus_per_task(), spec_.cpus_per_task());
        for (const char* name : {"cpu_frequency_minimum", "cpu_frequency_maximum", "cpu_frequency_governor"})
            json_.member_null(name);
        text("cpus_per_tres", spec_.has_cpus_per_gpu() ? fmt::format("gres:gpu:{}", spec_.cpus_per_gpu()) : "");
        time("deadline", spec_.deadline());
        number("delay_boot", spec_.delay_boot_s());
        text("dependency", job_.dependency());
        number("derived_exit_code", job_.derived_exit_status());
        time("eligible_time", job_.eligible_time());
        time("end_time", job_.end_time());
        text("excluded_nodes", spec_.exclude_nodes());
        number("exit_code", job_.exit_status());
        text("features", job_.features().empty() ? spec_.features() : job_.features());
        for (const char* name : {"federation_origin", "federation_siblings_active", "federation_siblings_viable"})
            text(name, "");
    }

    void outcome() {
        json_.key("gres_detail");
        json_.begin_array();
        for (const auto& share : job_.shares())
            for (const auto& gres : share.gres()) {
                const auto kind = gres.type().empty() ? gres.name() : gres.name() + ":" + gres.type();
                std::string index;
                for (const auto one : gres.index()) index += (index.empty() ? "" : ",") + fmt::format("{}", one);
                json_.value(fmt::format("{}:{}(IDX:{})", kind, gres.count(), index));
            }
        json_.end_array();
        number("group_id", spec_.gid());
        text("group_name", group_name(job_));
        number("job_id", job_.id());
        if (!job_.node_list().empty()) resources();
        const auto state = job_state(job_);
        text("job_state", display_state(state.state, state.flags));
        time("last_sched_evaluation", job_.last_sched_eval());
        text("licenses", spec_.licenses());
        number("max_cpus", 0);
        number("max_nodes", spec_.max_nodes());
        text("mcs_label", spec_.mcs_label());
        text("memory_per_tres", spec_.has_mem_per_gpu_mib() ? fmt::format("gres:gpu:{}", spec_.mem_per_gpu_mib()) : "");
        text("name", spec_.name());
        text("nodes", job_.node_list());
        optional("nice", spec_.nice() != 0, spec_.nice());
    }

    void resources() {
        json_.key("job_resources");
        json_.begin_object();
        text("nodes", job_.node_list());
        number("allocated_cores", job_.cpus());
        number("allocated_hosts", job_.node_count());
        json_.key("allocated_nodes");
        json_.begin_array();
        for (const auto& share : job_.shares()) {
            json_.begin_object();
            text("nodename", share.node());
            number("cpus_used", share.cpus());
            number("memory_used", 0);
            number("memory_allocated", share.memory_mib());
            json_.end_object();
        }
        json_.end_array();
        json_.end_object();
    }

    void sizes() {
        optional("tasks_per_core", spec_.has_tasks_per_core(), spec_.tasks_per_core());
        number("tasks_per_node", spec_.tasks_per_node());
        optional("tasks_per_socket", spec_.has_tasks_per_socket(), spec_.tasks_per_socket());
        number("tasks_per_board", 0);
        number("cpus", cpu_count(job_));
        number("node_count", node_count(job_));
        number("tasks", task_count(job_));
        number("het_job_id", job_.het_job_id());
        text("het_job_id_set", job_.het_set());
        number("het_job_offset", job_.het_offset());
        text("partition", job_.partition());
        text("prefer", spec_.prefer());
        optional("memory_per_node", spec_.has_mem_per_node_mib(), spec_.mem_per_node_mib());
        optional("memory_per_cpu", spec_.has_mem_per_cpu_mib(), spec_.mem_per_cpu_mib());
        number("minimum_cpus_per_node", min_cpus_per_node(job_));
        number("minimum_tmp_disk_per_node", spec_.min_tmp_mib());
    }

    void priority_and_limits() {
        time("preempt_time", job_.preempt_time());
        time("pre_sus_time", job_.pre_suspend_s());
        number("priority", job_.priority());
        optional("profile", !spec_.profile().empty(), spec_.profile());
        text("qos", job_.qos().empty() ? spec_.qos() : job_.qos());
        json_.member("reboot", spec_.reboot());
        text("required_nodes", spec_.node_list());
        json_.member("requeue", !spec_.has_requeue() || spec_.requeue());
        time("resize_time", job_.resize_time());
        number("restart_cnt", job_.restarts());
        text("resv_name", spec_.reservation());
        const auto shared = oversubscribe_text(job_);
        optional("shared", shared != "OK", shared == "YES" ? "oversubscribe" : shared == "USER" ? "user" : "none");
        json_.key("show_flags");
        json_.begin_array();
        for (const char* flag : {"SHOW_ALL", "SHOW_DETAIL", "SHOW_LOCAL"}) json_.value(flag);
        json_.end_array();
        number("sockets_per_board", 0);
        optional("sockets_per_node", spec_.has_sockets_per_node(), spec_.sockets_per_node());
        time("start_time", job_.start_time());
        text("state_description", job_.reason_text());
        text("state_reason", job_.reason().empty() ? "None" : job_.reason());
    }

    void streams() {
        text("standard_error", job_.std_err_path());
        text("standard_input", job_.std_in_path().empty() ? "/dev/null" : job_.std_in_path());
        text("standard_output", job_.std_out_path());
        time("submit_time", job_.submit_time());
        time("suspend_time", job_.suspend_time());
        text("system_comment", job_.system_comment());
        optional("time_limit", job_.time_limit_min() != 0xffffffffU, job_.time_limit_min());
        number("time_minimum", spec_.time_min_min());
        optional("threads_per_core", spec_.has_threads_per_core(), spec_.threads_per_core());
        text("tres_bind", spec_.gpu_bind());
        text("tres_freq", "");
        text("tres_per_job", gres_as_tres(spec_.gres_per_job()));
        text("tres_per_node", gres_as_tres(spec_.gres_per_node()));
        text("tres_per_socket", gres_as_tres(spec_.gres_per_socket()));
        text("tres_per_task", gres_as_tres(spec_.gres_per_task()));
        text("tres_req_str", job_.tres_requested());
        text("tres_alloc_str", job_.tres_allocated());
        number("user_id", spec_.uid());
        text("user_name", user_name(job_));
        text("wckey", spec_.wckey());
        text("current_working_directory", spec_.work_dir());
    }

    JsonWriter& json_;
    const v1::Job& job_;
    const v1::JobSpec& spec_;
    const std::string& cluster_;
};

}  // namespace

std::string jobs_json(const v1::ListJobsReply& reply) {
    JsonWriter json;
    json_head(json);
    json.key("jobs");
    json.begin_array();
    for (const auto& job : reply.jobs()) JobJson(json, job, reply.cluster()).write();
    json.end_array();
    json.end_object();
    return json.take();
}

}  // namespace spur::cli::squeue
