// Jobs, nodes, partitions and reservations as wire messages.
#include "daemons/spurctld/service/convert.hpp"

#include <algorithm>

#include "core/machine/validate.hpp"
#include "core/model/tres.hpp"
#include "core/text/endpoint.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/pattern.hpp"
#include "daemons/common/records/step_usage.hpp"
#include "daemons/spurctld/service/users.hpp"

namespace spur::ctld {

namespace {

std::string join(const std::vector<Text>& items) {
    std::string joined;
    for (const auto& item : items) {
        if (!joined.empty()) joined += ',';
        joined += item.view();
    }
    return joined;
}

std::string names_of(const planning::ReadModel& model, const std::vector<NodeId>& ids) {
    std::vector<std::string> names;
    for (const auto id : ids)
        if (const auto& node = model.nodes.get(id.value)) names.push_back(node->name.str());
    return compress_hosts(names);
}

std::string oversubscribe_text(const Partition& partition) {
    switch (partition.oversubscribe) {
        case OverSubscribe::no:
            return "NO";
        case OverSubscribe::yes:
            return fmt::format("YES:{}", partition.oversubscribe_jobs);
        case OverSubscribe::force:
            return fmt::format("FORCE:{}", partition.oversubscribe_jobs);
        case OverSubscribe::exclusive:
            return "EXCLUSIVE";
    }
    return "NO";
}

PatternValues pattern_values(const planning::ReadModel& model, const Job& job) {
    PatternValues values;
    values.job = job.id.value;
    if (job.array_job) values.array_job = job.array_job.value;
    values.array_task = job.array_task;
    values.user = job.spec->user_name.str();
    values.job_name = job.spec->name.str();
    if (job.allocation && !job.allocation->shares.empty())
        if (const auto& node = model.nodes.get(job.allocation->shares.front().node.value))
            values.node = node->name.str();
    return values;
}

// scontrol's StdOut, StdErr and StdIn: what is known of the names so far.
void paths_to_wire(const planning::ReadModel& model, const Job& job, v1::Job& wire) {
    const auto& spec = *job.spec;
    if (spec.kind != JobKind::batch) return;
    const auto values = pattern_values(model, job);
    const std::string standard = job.array_job ? "slurm-%A_%a.out" : "slurm-%j.out";
    const auto out = spec.std_out.empty() ? standard : spec.std_out.str();
    wire.set_std_out_path(expand_path(out, values, spec.work_dir));
    wire.set_std_err_path(expand_path(spec.std_err.empty() ? out : spec.std_err.str(), values, spec.work_dir));
    wire.set_std_in_path(spec.std_in.empty() ? "/dev/null" : expand_path(spec.std_in, values, spec.work_dir));
}

void times_to_wire(const Job& job, v1::Job& wire) {
    wire.set_submit_time(job.submit_time);
    wire.set_eligible_time(job.eligible_time);
    auto start = job.start_time;
    if (job.is_pending() && job.reason == Reason::begin_time) start = std::max(start, job.spec->begin.value_or(0));
    wire.set_start_time(start);
    const bool expected = job.is_pending() && start != 0 && job.time_limit_min != unlimited;
    wire.set_end_time(expected ? start + std::int64_t{job.time_limit_min} * 60 : job.end_time);
    wire.set_suspend_time(job.suspend_time);
    wire.set_accrue_time(job.accrue_time);
    wire.set_preempt_time(job.preempt_time);
    wire.set_last_sched_eval(job.last_sched_eval);
    wire.set_suspended_s(job.suspended_s);
    wire.set_pre_suspend_s(job.pre_suspend_s);
    wire.set_resize_time(job.resize_time);
    wire.set_system_comment(job.system_comment.str());
}

void allocation_to_wire(const planning::ReadModel& model, const Job& job, v1::Job& wire) {
    const auto& allocation = *job.allocation;
    for (const auto& share : allocation.shares) share_to_wire(model, share, *wire.add_shares());
    wire.set_node_list(node_names(model, allocation.shares));
    wire.set_node_count(static_cast<std::uint32_t>(allocation.shares.size()));
    wire.set_cpus(allocation.cpus);
    wire.set_memory_mib(allocation.memory_mib);
    wire.set_partition(allocation.partition.str());
    if (!wire.shares().empty() && job.spec->kind == JobKind::batch) wire.set_batch_host(wire.shares(0).node());
    wire.set_tres_allocated(allocated_tres(model, allocation).str());
}

void array_to_wire(const planning::ReadModel& model, const Job& job, v1::Job& wire) {
    if (!job.array_job) return;
    wire.set_array_job_id(job.array_job.value);
    if (job.array_task) wire.set_array_task_id(*job.array_task);
    if (job.array_pending) wire.set_array_tasks(job.array_pending->str());
    if (const auto& array = model.arrays.get(job.array_job.value)) wire.set_array_limit(array->max_running);
}

}  // namespace

std::string node_names(const planning::ReadModel& model, const std::vector<NodeShare>& shares) {
    HostList list;
    for (const auto& share : shares)
        if (const auto& node = model.nodes.get(share.node.value)) list.push_back(node->name);
    return list.str();
}

std::string agent_address(const Node& node) {
    if (node.addr.view().find(':') != std::string_view::npos || node.port == 0) return node.addr.str();
    return fmt::format("{}:{}", node.addr.empty() ? node.name.view() : node.addr.view(), node.port);
}

void share_to_wire(const planning::ReadModel& model, const NodeShare& share, v1::NodeShare& wire) {
    if (const auto& node = model.nodes.get(share.node.value)) {
        wire.set_node(node->name.str());
        wire.set_addr(agent_address(*node));
    }
    wire.set_cpus(share.cpus);
    wire.set_memory_mib(share.memory_mib);
    wire.set_core_ids(share.cores.to_ranges());
    wire.set_tasks(share.tasks);
    for (const auto& gres : share.gres) {
        auto& out = *wire.add_gres();
        out.set_name(gres.name.str());
        out.set_type(gres.type.str());
        out.set_count(gres.count);
        gres.devices.for_each([&](std::uint32_t device) { out.add_index(device); });
    }
}

void job_to_wire(const planning::ReadModel& model, const Job& job, const JobDetail& detail, v1::Job& wire) {
    const auto& spec = *job.spec;
    wire.set_id(job.id.value);
    wire.set_attempt(job.attempt);
    spec_to_wire(spec, detail, *wire.mutable_spec());
    wire.set_state_bits(job.state_bits());
    wire.set_reason(std::string{to_string(job.reason)});
    wire.set_reason_text(job.reason_text.str());
    times_to_wire(job, wire);
    wire.set_time_limit_min(job.time_limit_min);
    wire.set_association_id(job.association.value);
    wire.set_priority(job.priority);
    wire.set_restarts(job.restarts);
    wire.set_exit_status(job.exit_status);
    wire.set_derived_exit_status(job.derived_exit_status);
    wire.set_user_name(spec.user_name.str());
    wire.set_group_name(spec.group_name.str());
    wire.set_account(spec.account.str());
    wire.set_qos(spec.qos.str());
    wire.set_features(spec.features.str());
    wire.set_scheduled_nodes(job.scheduled_nodes.str());
    wire.set_dependency(job.dependencies.empty() ? std::string{} : job.dependencies.with_state());

    const auto& demand = job.request->demand;
    wire.set_task_count(demand.tasks);
    wire.set_tres_requested(requested_tres(model, job).str());
    if (job.allocation) {
        allocation_to_wire(model, job, wire);
        // Without a number of its own, a job has a task for each node it has, also when it was made smaller.
        if (!spec.tasks && job.resize_time != 0)
            wire.set_task_count(wire.node_count() * spec.tasks_per_node.value_or(1));
    } else {
        wire.set_node_count(demand.min_nodes);
        wire.set_cpus(demand.min_cpus);
        wire.set_memory_mib(demand.memory_mib);
        wire.set_partition(join(spec.partitions));
    }
    array_to_wire(model, job, wire);
    if (job.het_job) {
        wire.set_het_job_id(job.het_job.value);
        wire.set_het_offset(job.het_offset);
        TaskSet set;
        model.for_each_member(job.het_job, [&](const Job& component) { set.insert(component.id.value); });
        wire.set_het_set(set.str());
    }
    if (job.failed_node.value != unlimited)
        if (const auto& node = model.nodes.get(job.failed_node.value)) wire.set_failed_node(node->name.str());
    paths_to_wire(model, job, wire);
    if (detail.steps)
        if (const auto& steps = model.steps.get(job.id.value))
            for (const auto& step : *steps) step_to_wire(model, step, *wire.add_steps());
}

void step_to_wire(const planning::ReadModel& model, const Step& step, v1::Step& wire) {
    wire.set_job_id(step.key.job.value);
    wire.set_step_id(step.key.step.value);
    wire.set_name(step.name.str());
    wire.set_state(std::string{to_string(step.state)});
    wire.set_start_time(step.start_time);
    wire.set_end_time(step.end_time);
    wire.set_node_list(node_names(model, step.shares));
    wire.set_tasks(step.tasks);
    wire.set_exit_status(step.exit_status);
    wire.set_time_limit_min(step.time_limit_min);
    wire.set_submit_host(step.submit_host.str());
    wire.set_srun_pid(step.srun_pid);
    wire.set_distribution(step.distribution.str());
    std::uint32_t cpus = 0;
    for (const auto& share : step.shares) {
        cpus += share.cpus;
        share_to_wire(model, share, *wire.add_shares());
    }
    wire.set_cpus(cpus);
    wire.set_tres(step_tres(step).str());
    if (step.usage != StepUsage{}) {
        const auto name_of = [&](NodeId id) {
            const auto& node = model.nodes.get(id.value);
            return node ? node->name.str() : std::string{};
        };
        records::usage_to_wire(step.usage, name_of, *wire.mutable_usage());
    }
    if (const auto& job = model.jobs.get(step.key.job.value)) {
        wire.set_uid(job->spec->uid);
        if (job->allocation) wire.set_partition(job->allocation->partition.str());
    }
}

void node_to_wire(const planning::ReadModel& model, const Node& node, const Users& users, v1::Node& wire) {
    wire.set_name(node.name.str());
    wire.set_hostname(node.hostname.empty() ? node.name.str() : node.hostname.str());
    wire.set_addr(node.addr.empty() ? node.name.str() : node.addr.str());
    wire.set_port(node.port);
    // An agent says in its address on which port it is.
    if (const auto endpoint = Endpoint::parse(wire.addr(), 0)) {
        wire.set_addr(endpoint->host);
        wire.set_port(endpoint->port);
    }
    wire.set_state(display_full_state(node.shown_state(), node.shown_flags()));
    wire.set_reason(node.reason.str());
    wire.set_reason_user(users.name_of(node.reason_uid));
    wire.set_reason_time(node.reason_time);
    wire.set_cpus(node.cpus);
    wire.set_boards(node.topology.boards);
    wire.set_sockets(node.topology.sockets);
    wire.set_cores_per_socket(node.topology.cores_per_socket);
    wire.set_threads_per_core(node.topology.threads_per_core);
    wire.set_memory_mib(node.memory_mib);
    wire.set_tmp_mib(node.tmp_mib);
    wire.set_alloc_cpus(node.use.cpus);
    wire.set_alloc_memory_mib(node.use.memory_mib);
    for (std::size_t i = 0; i < node.gres.size(); ++i) {
        auto& out = *wire.add_gres();
        out.set_name(node.gres[i].name.str());
        out.set_type(node.gres[i].type.str());
        out.set_count(node.gres[i].count);
        out.set_used(i < node.use.gres.size() ? node.use.gres[i] : 0);
        if (i < node.use.devices.size())
            node.use.devices[i].for_each([&](std::uint32_t index) { out.add_used_index(index); });
    }
    for (const auto& feature : node.features) wire.add_features(feature.str());
    for (const auto& feature : node.active_features) wire.add_active_features(feature.str());
    wire.set_weight(node.weight);
    for (const auto& partition : model.directory->partitions)
        if (std::ranges::binary_search(partition.nodes, node.id)) wire.add_partitions(partition.name.str());
    wire.set_architecture(node.architecture.str());
    wire.set_os(node.os.str());
    wire.set_version(node.software_version.str());
    wire.set_boot_time(node.boot_time);
    wire.set_start_time(node.start_time);
    wire.set_last_busy(node.last_busy);
    wire.set_comment(node.comment.str());
    wire.set_extra(node.extra.str());
    wire.set_boot_id(node.boot_id.str());
    wire.set_enforced(node.enforced);
    wire.set_core_spec(node.core_spec);
    wire.set_mem_spec_mib(node.mem_spec_mib);
    if (node.exclusive_uid != nobody) wire.set_owner(users.name_of(node.exclusive_uid));
    wire.set_tres_configured(configured_tres(node).str());
    wire.set_tres_allocated(used_tres(node).str());
}

void partition_to_wire(const planning::ReadModel& model, const Partition& partition, v1::Partition& wire) {
    wire.set_name(partition.name.str());
    wire.set_is_default(partition.is_default);
    wire.set_nodes(names_of(model, partition.nodes));
    wire.set_state(std::string{to_string(partition.state)});
    std::string weights;
    for (const auto& one : partition.billing_weights) {
        auto number = fmt::format("{}", one.weight);
        if (number.find('.') == std::string::npos) number += ".0";
        weights += fmt::format("{}{}={}{}", weights.empty() ? "" : ",", one.tres, number, one.tres == "Mem" ? "G" : "");
    }
    wire.set_billing_weights(weights);
    wire.set_max_time_min(partition.max_time_min);
    wire.set_default_time_min(partition.default_time_min);
    wire.set_min_nodes(partition.min_nodes);
    wire.set_max_nodes(partition.max_nodes);
    wire.set_max_cpus_per_node(partition.max_cpus_per_node);
    wire.set_priority_tier(partition.priority_tier);
    wire.set_priority_job_factor(partition.priority_job_factor);
    wire.set_hidden(partition.hidden);
    wire.set_root_only(partition.root_only);
    wire.set_exclusive_user(partition.exclusive_user);
    wire.set_lln(partition.lln);
    wire.set_require_reservation(partition.require_reservation);
    wire.set_oversubscribe(oversubscribe_text(partition));
    const auto own = partition.preempt_mode;
    wire.set_preempt_mode(
        std::string{to_string(own == PreemptMode::unset ? model.directory->policies.preempt_mode : own)});
    wire.set_grace_time_s(partition.grace_time_s);
    wire.set_allow_groups(join(partition.allow_groups));
    wire.set_allow_accounts(join(partition.allow_accounts));
    wire.set_deny_accounts(join(partition.deny_accounts));
    wire.set_allow_qos(join(partition.allow_qos));
    wire.set_deny_qos(join(partition.deny_qos));
    wire.set_qos(partition.qos.str());
    wire.set_default_mem_per_cpu_mib(partition.default_mem_per_cpu_mib.value_or(0));
    wire.set_default_mem_per_node_mib(partition.default_mem_per_node_mib.value_or(0));
    wire.set_max_mem_per_cpu_mib(partition.max_mem_per_cpu_mib.value_or(0));
    wire.set_max_mem_per_node_mib(partition.max_mem_per_node_mib.value_or(0));
    wire.set_total_cpus(partition.total_cpus);
    wire.set_total_nodes(static_cast<std::uint32_t>(partition.nodes.size()));
    wire.set_alternate(partition.alternate.str());
    wire.set_alloc_nodes(join(partition.allow_alloc_nodes));
    wire.set_disable_root_jobs(partition.disable_root_jobs);
    wire.set_over_time_limit_min(partition.over_time_limit_min);
    std::vector<Text> defaults;
    if (const auto cpus = partition.default_cpus_per_gpu) defaults.emplace_back(fmt::format("DefCpuPerGPU={}", *cpus));
    if (const auto mib = partition.default_mem_per_gpu_mib) defaults.emplace_back(fmt::format("DefMemPerGPU={}", *mib));
    wire.set_job_defaults(join(defaults));
    wire.set_tres(partition_tres(model, partition).str());
}

void reservation_to_wire(const planning::ReadModel& model, const Reservation& reservation, v1::Reservation& wire) {
    wire.set_name(reservation.name.str());
    wire.set_start_time(reservation.start_time);
    wire.set_end_time(reservation.end_time);
    wire.set_nodes(names_of(model, reservation.nodes));
    wire.set_node_count(static_cast<std::uint32_t>(reservation.nodes.size()));
    std::uint32_t cores = reservation.core_count;
    if (reservation.cores.empty())
        for (const auto id : reservation.nodes)
            if (const auto& node = model.nodes.get(id.value)) cores += node->usable_cores().count();
    wire.set_core_count(cores);
    std::uint32_t cpus = 0;
    for (const auto id : reservation.nodes)
        if (const auto& node = model.nodes.get(id.value); node && reservation.cores.empty())
            cpus += node->usable_cpus();
    for (const auto& share : reservation.cores) {
        cpus += share.cpus;
        if (const auto& node = model.nodes.get(share.node.value))
            wire.add_core_ids(fmt::format("NodeName={} CoreIDs={}", node->name, share.cores.to_ranges()));
    }
    if (cpus != 0) wire.set_tres(fmt::format("cpu={}", cpus));
    wire.set_groups(join(reservation.groups));
    wire.set_max_start_delay_s(reservation.max_start_delay_s);
    wire.set_features(reservation.features.str());
    wire.set_partition(reservation.partition.str());
    const auto names = [](const std::vector<Text>& list, bool denied) {
        std::string text;
        for (const auto& name : list) text += fmt::format("{}{}{}", text.empty() ? "" : ",", denied ? "-" : "", name);
        return text;
    };
    wire.set_users(names(reservation.users, reservation.deny_users));
    wire.set_accounts(names(reservation.accounts, reservation.deny_accounts));
    wire.set_flags(print_reservation_flags(reservation.flags, reservation.purge_comp_s));
    std::string licenses;
    for (const auto& license : reservation.licenses)
        licenses += fmt::format("{}{}:{}", licenses.empty() ? "" : ",", license.name, license.count);
    wire.set_licenses(licenses);
    wire.set_state(reservation.is_active(model.now) ? "ACTIVE" : "INACTIVE");
}

}  // namespace spur::ctld
