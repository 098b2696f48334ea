// How jobs of the core become records of the ABI.
#include <spur/plugin/hash.hpp>

#include <algorithm>

#include "core/machine/validate.hpp"
#include "core/model/request.hpp"
#include "daemons/common/planning/mirror_parts.hpp"
#include "daemons/common/planning/wishes.hpp"

namespace spur::planning {

namespace {

std::uint32_t spread(Spread asked) {
    switch (asked) {
        case Spread::block:
            return SPUR_SPREAD_BLOCK;
        case Spread::cyclic:
            return SPUR_SPREAD_CYCLIC;
        case Spread::plane:
            return SPUR_SPREAD_PLANE;
        case Spread::standard:
        case Spread::full_cyclic:  // of no concern to who chooses nodes and sockets
        case Spread::arbitrary:
            return SPUR_SPREAD_DEFAULT;
    }
    return SPUR_SPREAD_DEFAULT;
}

// Will it share cores? Asking helps only where a partition allows it, and some partitions do not ask. A job that tries
// several partitions shares only if it would in each that forces it.
bool shares_cores(const Job& job, const std::vector<std::uint32_t>& partitions, const Mirror& mirror) {
    if (!job.is_pending() && job.allocation) return job.allocation->sharing.jobs_per_core > 1;
    const bool asked = job.spec->oversubscribe.value_or(false);
    const auto mode = [&](std::uint32_t i) { return mirror.partition(i).oversubscribe; };
    const bool forced = !partitions.empty() && std::ranges::all_of(partitions, [&](std::uint32_t i) {
        return mode(i) == OverSubscribe::force;
    });
    return forced || (asked && std::ranges::any_of(partitions, [&](std::uint32_t i) {
                          return mode(i) == OverSubscribe::yes || mode(i) == OverSubscribe::force;
                      }));
}

// -N 2-4 is as many nodes as are free, four at the most, if there is a task for each.
bool wants_most_nodes(const JobSpec& spec) {
    return spec.max_nodes && *spec.max_nodes > spec.min_nodes.value_or(1) && !spec.use_min_nodes.value_or(false) &&
           spec.tasks.value_or(0) <= *spec.max_nodes;
}

std::uint32_t job_flags(const Job& job) {
    const auto& spec = *job.spec;
    std::uint32_t flags = 0;
    const bool placed = !job.is_pending() && job.allocation;
    const auto exclusive = placed ? job.allocation->exclusive : spec.exclusive.value_or(Exclusive::no);
    if (exclusive == Exclusive::node) flags |= SPUR_JOB_EXCLUSIVE;
    if (exclusive == Exclusive::user) flags |= SPUR_JOB_EXCLUSIVE_USER;
    if (spec.overcommit.value_or(false)) flags |= SPUR_JOB_OVERCOMMIT;
    if (spec.contiguous.value_or(false)) flags |= SPUR_JOB_CONTIGUOUS;
    if (spec.spread.value_or(false) || wants_most_nodes(spec)) flags |= SPUR_JOB_SPREAD;
    if (spec.use_min_nodes.value_or(false)) flags |= SPUR_JOB_USE_MIN_NODES;
    if (spec.requeue.value_or(true)) flags |= SPUR_JOB_REQUEUE;
    if (spec.hint == "nomultithread") flags |= SPUR_JOB_ONE_THREAD_PER_CORE;
    if (spec.hint == "compute_bound") flags |= SPUR_JOB_COMPUTE_BOUND;
    if (spec.hint == "memory_bound") flags |= SPUR_JOB_MEMORY_BOUND;
    if (spec.mem_per_node_mib == 0u) flags |= SPUR_JOB_MEM_ALL;
    if (job.state == JobState::suspended) flags |= SPUR_JOB_SUSPENDED;
    if (job.is_completing()) flags |= SPUR_JOB_COMPLETING;
    return flags;
}

// Jobs with the same number ask for the same.
std::uint64_t request_class(const spur_job_view& view, const JobBacking& backing) {
    plugin::Hash hash;
    hash_rest(hash, view);
    hash(view.limit_s, view.limit_min_s, view.deadline, view.min_nodes, view.max_nodes, view.tasks, view.cpus_per_task,
         view.min_cpus_per_node, view.mem_per_node_mib, view.mem_per_cpu_mib, view.mem_per_gpu_mib, view.tmp_mib);
    for (const auto& request : backing.gres) hash(request.name, request.type, request.scope, request.count);
    if (backing.filter) hash(backing.filter->digest);
    return hash.value();
}

}  // namespace

// ---- jobs ----------------------------------------------------------------------------------------------------------

std::shared_ptr<const NodeFilter> Mirror::filter_for(const JobSpec& spec, const Request& request) {
    const auto key = fmt::format("{}\n{}\n{}\n{}", spec.features, spec.exclude_nodes, spec.node_list, spec.prefer);
    if (key == "\n\n\n") return nullptr;
    if (const auto found = filters_.find(key); found != filters_.end()) return found->second;

    auto filter = std::make_shared<NodeFilter>();
    const auto count = static_cast<std::uint32_t>(node_views_.size());
    filter->digest = std::hash<std::string>{}(key);
    const auto& constraint = request.features;
    const auto& prefer = request.prefer;
    const auto& excluded = request.excluded_nodes;
    const auto& wanted = request.required_nodes;
    const auto alternatives = constraint.alternatives();
    const auto counts = constraint.counts();
    const auto width = (count + 63) / 64;
    filter->eligible.resize(width);
    filter->alternative_words.assign(alternatives.size(), Words(width));
    filter->quota_words.assign(counts.size(), Words(width));
    std::vector<std::string> present;  // of the required ones
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto& node = node_backings_[i]->node;
        if (!node || !node->configured) continue;
        if (wanted.contains(node->name)) present.push_back(node->name.str());
        const auto& features = node->active_features.empty() ? node->features : node->active_features;
        const Constraint::HasFeature has = [&](std::string_view name) {
            return std::ranges::any_of(features, [&](const Text& feature) { return feature == name; });
        };
        if (excluded.contains(node->name) || !(constraint.empty() || constraint.matches(has))) continue;
        set_bit(filter->eligible, i);
        if (wanted.contains(node->name)) set_bit(filter->required, i);
        if (!prefer.empty() && prefer.matches(has)) set_bit(filter->preferred, i);
        for (std::size_t a = 0; a < alternatives.size(); ++a)
            if (Constraint::matches(alternatives[a], has)) set_bit(filter->alternative_words[a], i);
        for (std::size_t q = 0; q < counts.size(); ++q)
            if (Constraint::matches(counts[q].what, has)) set_bit(filter->quota_words[q], i);
    }
    if (present.size() < wanted.size()) filter->missing = (wanted - HostSet::of(present)).str();
    if (!filter->required.empty()) filter->required.resize(width);
    if (!filter->preferred.empty()) filter->preferred.resize(width);
    for (const auto& words : filter->alternative_words) filter->alternatives.push_back(bits(words, count));
    for (std::size_t q = 0; q < counts.size(); ++q)
        filter->quotas.push_back({bits(filter->quota_words[q], count), counts[q].nodes, 0});
    filters_.emplace(key, filter);
    return filter;
}

void Mirror::fill_gres(const Request& request, JobBacking& backing) {
    backing.gres.clear();
    const auto add = [&](const GresList& list, std::uint32_t scope) {
        for (const auto& gres : list)
            backing.gres.push_back(
                {gres_names_.number(gres.name), gres_types_.number(gres.type), scope, 0, gres.count});
    };
    add(request.gres_per_node, SPUR_GRES_PER_NODE);
    add(request.gres_per_job, SPUR_GRES_PER_JOB);
    add(request.gres_per_task, SPUR_GRES_PER_TASK);
    add(request.gres_per_socket, SPUR_GRES_PER_SOCKET);
}

std::uint32_t Mirror::startable_tasks(const Job& job) const {
    const auto tasks = static_cast<std::uint32_t>(job.task_count());
    const auto& array = model_->arrays.get(job.array_job.value);
    if (!array || array->max_running == 0) return tasks;
    return std::min(tasks, array->max_running - std::min(array->max_running, array->active));
}

void Mirror::fill_references(const Job& job, JobBacking& backing, spur_job_view& view) {
    const auto& spec = *job.spec;
    const auto& directory = *model_->directory;
    backing.partitions.clear();
    const auto* own_qos = model_->find_qos(spec.qos);
    const auto flags = own_qos ? own_qos->flags : 0;
    const auto add_partition = [&](const Text& name) {
        for (std::uint32_t i = 0; i < directory.partitions.size(); ++i)
            if (directory.partitions[i].name == name) backing.partitions.push_back(lifted_partition(i, flags));
    };
    if (!job.is_pending() && job.allocation)
        add_partition(job.allocation->partition);
    else
        for (const auto& name : spec.partitions) add_partition(name);
    view.partitions = span_of(backing.partitions);
    const auto association = association_index_.find(job.association);
    view.association = association == association_index_.end() ? SPUR_NONE : association->second;
    const auto qos = std::ranges::find(qos_names_, spec.qos.view());
    view.qos =
        spec.qos.empty() || qos == qos_names_.end() ? SPUR_NONE : static_cast<std::uint32_t>(qos - qos_names_.begin());
    view.reservation = SPUR_NONE;
    for (std::uint32_t i = 0; i < directory.reservations.size(); ++i)
        if (!spec.reservation.empty() && directory.reservations[i].name == spec.reservation) view.reservation = i;
}

// MinPrioThreshold: of its QOS, or of the nearest association that has one.
std::uint32_t Mirror::min_priority_of(const Job& job, const Qos* qos) const {
    if (qos != nullptr && qos->limits.min_priority_threshold) return *qos->limits.min_priority_threshold;
    for (const auto* up = model_->find_association(job.association); up; up = model_->find_association(up->parent))
        if (const auto& least = up->limits.min_priority_threshold) return *least;
    return 0;
}

void Mirror::fill_request(const Job& job, std::uint32_t slot, JobTable& table) {
    const auto& spec = *job.spec;
    const auto& request = *job.request;
    const auto& directory = *model_->directory;
    const auto node_count = static_cast<std::uint32_t>(node_views_.size());
    auto& backing = table.backing(slot);
    auto& view = table.view(slot);
    const auto priority = view.priority;
    view = {};
    view.priority = priority;

    fill_references(job, backing, view);
    fill_gres(request, backing);
    backing.licenses.clear();
    for (const auto& license : request.licenses)
        if (const auto at = std::ranges::find(license_names_, license.name.view()); at != license_names_.end())
            backing.licenses.push_back({static_cast<std::uint32_t>(at - license_names_.begin()), license.count});
    backing.filter = filter_for(spec, request);

    view.id = job.id.value;
    view.flags = job_flags(job);
    if (shares_cores(job, backing.partitions, *this)) view.flags |= SPUR_JOB_OVERSUBSCRIBE;
    view.uid = spec.uid;
    view.gid = spec.gid;
    view.array_tasks = startable_tasks(job);
    view.array_task = job.array_task.value_or(SPUR_NONE);
    view.name = str(spec.name);
    view.extra = str(spec.extra);
    view.het_group = job.het_job.value;
    view.restarts = job.restarts;

    view.submitted = job.submit_time;
    // Jobs that limits do not let get older look as if they had just come.
    view.eligible =
        job.is_pending() && (!job.eligible || job.accrue_time == 0) ? SPUR_TIME_UNLIMITED : job.eligible_time;
    view.started = job.is_pending() ? 0 : job.start_time;
    view.ends = job.is_pending()
                    ? 0
                    : (job.time_limit_min == unlimited || job.end_time == 0 ? SPUR_TIME_UNLIMITED : job.end_time);
    view.deadline = spec.deadline.value_or(0);
    view.limit_s = seconds(job.time_limit_min);
    view.limit_min_s = spec.time_min_min ? seconds(*spec.time_min_min) : 0;

    view.min_nodes = request.demand.min_nodes;  // what the state machine holds a start against
    view.max_nodes = request.demand.max_nodes;
    view.tasks = spec.tasks.value_or(0);
    view.cpus_per_task = spec.cpus_per_task.value_or(0);
    view.tasks_per_node = spec.tasks_per_node.value_or(0);
    view.tasks_per_socket = spec.tasks_per_socket.value_or(0);
    view.tasks_per_core = spec.tasks_per_core.value_or(0);
    view.tasks_per_gpu = spec.tasks_per_gpu.value_or(0);
    view.min_cpus_per_node = spec.min_cpus_per_node.value_or(0);
    view.cpus_per_gpu = spec.cpus_per_gpu.value_or(0);
    view.min_sockets = spec.sockets_per_node.value_or(0);
    view.min_cores_per_socket = spec.cores_per_socket.value_or(0);
    view.min_threads_per_core = spec.threads_per_core.value_or(0);
    view.spread_nodes = spread(request.distribution.nodes);
    view.spread_sockets = spread(request.distribution.sockets);
    view.plane_size = request.distribution.plane_size;
    view.mem_per_node_mib = spec.mem_per_node_mib.value_or(0);
    view.mem_per_cpu_mib = spec.mem_per_cpu_mib.value_or(0);
    view.mem_per_gpu_mib = spec.mem_per_gpu_mib.value_or(0);
    view.tmp_mib = spec.min_tmp_mib.value_or(0);
    view.gres = span_of(backing.gres);
    view.licenses = span_of(backing.licenses);
    if (backing.filter) {
        view.eligible_nodes = bits(backing.filter->eligible, node_count);
        view.required_nodes = bits(backing.filter->required, node_count);
        view.preferred_nodes = bits(backing.filter->preferred, node_count);
        view.alternatives = span_of(backing.filter->alternatives);
        view.quotas = span_of(backing.filter->quotas);
    }
    view.max_switches = spec.switches.value_or(0);
    const auto patience_s = directory.policies.max_switch_wait_s;
    view.switches_until =
        spec.switches ? job.eligible_time + std::min(spec.switches_wait_s.value_or(patience_s), patience_s) : 0;
    if (job.is_pending() && view.max_switches != 0 && view.switches_until > model_->now && !switch_views_.empty())
        alarms_.insert(view.switches_until);

    const auto* partition = backing.partitions.empty() ? nullptr : &this->partition(backing.partitions.front());
    const auto* qos = model_->find_qos(spec.qos);
    const auto by = directory.policies.preempt_type;
    const bool by_tier = by == PreemptType::any || by == PreemptType::partition_prio;
    view.preempt_tier = partition != nullptr && by_tier ? partition->priority_tier : 0;
    const bool no_reserve = qos != nullptr && (qos->flags & qos_flag::no_reserve) != 0;
    if (no_reserve) view.flags |= SPUR_JOB_NO_RESERVE;
    backing.min_priority = no_reserve ? 0 : min_priority_of(job, qos);
    view.preempt_mode = preempt_mode(preempt_mode_by(directory.policies, partition, qos));
    const auto exempt_s = qos != nullptr && qos->preempt_exempt_time_s ? *qos->preempt_exempt_time_s
                                                                       : directory.policies.preempt_exempt_time_s;
    view.preempt_exempt_until = job.start_time + exempt_s;
    if (job.is_running() && view.preempt_mode != SPUR_PREEMPT_OFF && view.preempt_exempt_until > model_->now)
        alarms_.insert(view.preempt_exempt_until);
    view.wishes = wishes_of(view);
    view.klass = request_class(view, backing);
}

namespace {

// Into words that were reserved: what points to them stays valid.
spur_bits store_bits(const Bitset& set, JobBacking& backing) {
    const auto* first = backing.words.data() + backing.words.size();
    for (std::size_t i = 0; i < set.word_count(); ++i) backing.words.push_back(set.word(i));
    return {first, static_cast<std::uint32_t>(set.word_count() * 64), 0};
}

}  // namespace

// Shards become a piece for each gpu they lie on: the record has no other way to say how many lie where.
void Mirror::add_share_gres(const GresShare& gres, JobBacking& backing) {
    const auto name = gres_names_.number(gres.name), type = gres_types_.number(gres.type);
    if (gres.per_device.empty()) {
        backing.share_gres.push_back({name, type, gres.count, store_bits(gres.devices, backing)});
        return;
    }
    std::size_t i = 0;
    gres.devices.for_each([&](std::uint32_t device) {
        if (i < gres.per_device.size())
            backing.share_gres.push_back({name, type, gres.per_device[i], store_bits(Bitset{device}, backing)});
        ++i;
    });
}

void Mirror::fill_shares(const Job& job, JobBacking& backing, spur_job_view& view) {
    const auto& allocation = *job.allocation;
    backing.shares.clear();
    backing.share_gres.clear();
    backing.words.clear();
    std::size_t word_count = 0, gres_count = 0;
    for (const auto index : job.open_shares) {
        const auto& share = allocation.shares[index];
        word_count += share.cores.word_count();
        for (const auto& gres : share.gres) {
            const auto pieces = std::max<std::size_t>(gres.per_device.size(), 1);
            word_count += pieces * gres.devices.word_count();
            gres_count += pieces;
        }
    }
    backing.words.reserve(word_count);
    backing.share_gres.reserve(gres_count);
    const bool whole = allocation.exclusive == Exclusive::node && !job.cores_released;
    for (const auto index : job.open_shares) {
        const auto& share = allocation.shares[index];
        spur_node_share out{};
        out.node = share.node.value;
        out.cpus = share.cpus;
        out.memory_mib = share.memory_mib;
        out.cores = store_bits(share.cores, backing);
        out.tasks = share.tasks;
        out.flags = whole ? SPUR_SHARE_WHOLE_NODE : 0;
        const auto begun = backing.share_gres.size();
        for (const auto& gres : share.gres) add_share_gres(gres, backing);
        out.gres = {backing.share_gres.data() + begun, static_cast<std::uint32_t>(backing.share_gres.size() - begun),
                    sizeof(spur_gres_share)};
        backing.shares.push_back(out);
    }
    backing.held = spur_placed(backing.shares.data(), static_cast<std::uint32_t>(backing.shares.size()));
    view.held = &backing.held;
}

}  // namespace spur::planning
