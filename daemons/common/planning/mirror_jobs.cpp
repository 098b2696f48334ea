// How jobs, partitions and accounts of the core become records of the ABI.
#include <algorithm>
#include <charconv>
#include <functional>

#include "core/constraint.hpp"
#include "core/gres.hpp"
#include "core/hostlist.hpp"
#include "core/validate.hpp"
#include "daemons/common/planning/mirror_parts.hpp"

namespace spur::ctld {

namespace {

std::uint32_t seconds(std::uint32_t minutes) {
    return minutes == unlimited || minutes > unlimited / 60 - 1 ? SPUR_UNLIMITED : minutes * 60;
}

std::uint32_t partition_state(PartitionState state) {
    switch (state) {
        case PartitionState::up:
            return SPUR_PARTITION_UP;
        case PartitionState::down:
            return SPUR_PARTITION_DOWN;
        case PartitionState::drain:
            return SPUR_PARTITION_DRAIN;
        case PartitionState::inactive:
            return SPUR_PARTITION_INACTIVE;
    }
    return SPUR_PARTITION_INACTIVE;
}

std::uint32_t preempt_mode(PreemptMode mode) {
    switch (mode) {
        case PreemptMode::cancel:
            return SPUR_PREEMPT_CANCEL;
        case PreemptMode::requeue:
            return SPUR_PREEMPT_REQUEUE;
        case PreemptMode::suspend:
        case PreemptMode::gang:
            return SPUR_PREEMPT_SUSPEND;
        default:
            return SPUR_PREEMPT_OFF;
    }
}

std::uint32_t spread(std::string_view word) {
    if (word == "block") return SPUR_SPREAD_BLOCK;
    if (word == "cyclic") return SPUR_SPREAD_CYCLIC;
    if (word.starts_with("plane")) return SPUR_SPREAD_PLANE;
    return SPUR_SPREAD_DEFAULT;
}

// Will it share cores? Asking helps only where a partition allows it, and some partitions do not ask. A job that tries
// several partitions shares only if it would in each that forces it.
bool shares_cores(const Job& job, const std::vector<std::uint32_t>& partitions, const Directory& directory) {
    if (!job.is_pending() && job.allocation) return job.allocation->sharing.jobs_per_core > 1;
    const bool asked = job.spec->oversubscribe.value_or(false);
    const auto mode = [&](std::uint32_t i) { return directory.partitions[i].oversubscribe; };
    const bool forced = !partitions.empty() && std::ranges::all_of(partitions, [&](std::uint32_t i) {
        return mode(i) == OverSubscribe::force;
    });
    return forced || (asked && std::ranges::any_of(partitions, [&](std::uint32_t i) {
                          return mode(i) == OverSubscribe::yes || mode(i) == OverSubscribe::force;
                      }));
}

std::uint32_t plane_size(std::string_view distribution) {
    std::uint32_t size = 0;
    if (distribution.starts_with("plane="))
        std::from_chars(distribution.data() + 6, distribution.data() + distribution.size(), size);
    return size;
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
    if (spec.spread.value_or(false)) flags |= SPUR_JOB_SPREAD;
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

void mix(std::uint64_t& hash, std::uint64_t value) {
    hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
    hash *= 0xff51afd7ed558ccdULL;
}

// Jobs with the same number ask for the same.
std::uint64_t request_class(const JobSpec& spec, const spur_job_view& view, const JobBacking& backing) {
    std::uint64_t hash = 17;
    for (const auto value : {std::uint64_t{view.flags},
                             std::uint64_t{view.limit_s},
                             std::uint64_t{view.limit_min_s},
                             std::uint64_t{view.min_nodes},
                             std::uint64_t{view.max_nodes},
                             std::uint64_t{view.tasks},
                             std::uint64_t{view.cpus_per_task},
                             std::uint64_t{view.tasks_per_node},
                             std::uint64_t{view.tasks_per_socket},
                             std::uint64_t{view.tasks_per_core},
                             std::uint64_t{view.tasks_per_gpu},
                             std::uint64_t{view.min_cpus_per_node},
                             std::uint64_t{view.cpus_per_gpu},
                             std::uint64_t{view.min_sockets},
                             std::uint64_t{view.min_cores_per_socket},
                             std::uint64_t{view.min_threads_per_core},
                             view.mem_per_node_mib,
                             view.mem_per_cpu_mib,
                             view.mem_per_gpu_mib,
                             view.tmp_mib,
                             std::uint64_t{view.reservation},
                             std::uint64_t{view.max_switches},
                             static_cast<std::uint64_t>(view.deadline)})
        mix(hash, value);
    for (const auto partition : backing.partitions) mix(hash, partition + 1);
    for (const auto& request : backing.gres) {
        mix(hash, request.name);
        mix(hash, request.type);
        mix(hash, request.scope);
        mix(hash, request.count);
    }
    for (const auto& request : backing.licenses) mix(hash, (std::uint64_t{request.license} << 32) | request.count);
    mix(hash, reinterpret_cast<std::uintptr_t>(backing.filter.get()));
    mix(hash, std::hash<std::string_view>{}(spec.distribution));
    return hash;
}

}  // namespace

// ---- the directory -------------------------------------------------------------------------------------------------

void Mirror::update_directory() {
    const auto& directory = *model_->directory;
    const auto node_count = static_cast<std::uint32_t>(node_views_.size());
    filters_.clear();
    changes_complete_ = false;

    partition_views_.clear();
    partition_words_.clear();
    partition_billing_.clear();
    for (const auto& partition : directory.partitions) {
        Words words((node_count + 63) / 64);
        for (const auto node : partition.nodes) set_bit(words, node.value);
        partition_words_.push_back(std::move(words));
        auto& billing = partition_billing_.emplace_back();
        for (const auto& weight : partition.billing_weights) {
            std::uint32_t tres = 0;
            if (weight.tres == "CPU")
                tres = SPUR_TRES_CPU;
            else if (weight.tres == "Mem")
                tres = SPUR_TRES_MEM;
            else if (weight.tres == "Node")
                tres = SPUR_TRES_NODE;
            else if (weight.tres.view().starts_with("GRES/"))
                tres = SPUR_TRES_GRES + gres_names_.number(weight.tres.view().substr(5));
            if (tres != 0) billing.push_back({tres, 0, weight.weight});
        }
    }
    for (std::size_t i = 0; i < directory.partitions.size(); ++i) {
        const auto& partition = directory.partitions[i];
        spur_partition_view view{};
        view.name = str(partition.name);
        view.nodes = bits(partition_words_[i], node_count);
        view.state = partition_state(partition.state);
        view.tier = partition.priority_tier;
        view.max_time_s = seconds(partition.max_time_min);
        view.max_nodes = partition.max_nodes;
        view.min_nodes = partition.min_nodes;
        view.max_cpus_per_node = partition.max_cpus_per_node;
        view.job_factor = partition.priority_job_factor;
        view.oversubscribe = partition.oversubscribe == OverSubscribe::exclusive ? 0
                             : partition.oversubscribe == OverSubscribe::no      ? 1
                                                                                 : partition.oversubscribe_jobs;
        view.least_loaded = partition.lln ? 1 : 0;
        view.exclusive_user = partition.exclusive_user ? 1 : 0;
        view.billing = span_of(partition_billing_[i]);
        partition_views_.push_back(view);
    }

    license_views_.clear();
    license_names_.clear();
    for (const auto& [name, pool] : directory.licenses) {
        license_names_.push_back(name.str());
        license_views_.push_back({str(name), pool.total, pool.used});
    }

    qos_views_.clear();
    qos_names_.clear();
    qos_words_.clear();
    for (const auto& [name, qos] : directory.qos) qos_names_.push_back(name.str());
    for (const auto& [name, qos] : directory.qos) {
        Words words((qos_names_.size() + 63) / 64);
        for (const auto& other : qos.preempt)
            if (const auto at = std::ranges::find(qos_names_, other.view()); at != qos_names_.end())
                set_bit(words, static_cast<std::uint32_t>(at - qos_names_.begin()));
        qos_words_.push_back(std::move(words));
        spur_qos_view view{};
        view.name = str(name);
        view.priority = qos.priority;
        view.preempt_mode = preempt_mode(qos.preempt_mode);
        view.usage_factor = qos.usage_factor;
        view.exempt_s = qos.preempt_exempt_time_s.value_or(0);
        qos_views_.push_back(view);
    }
    for (std::size_t i = 0; i < qos_views_.size(); ++i)
        qos_views_[i].preempts = bits(qos_words_[i], static_cast<std::uint32_t>(qos_names_.size()));

    association_views_.clear();
    association_index_.clear();
    std::vector<const Association*> waiting;
    for (const auto& [id, association] : directory.associations) waiting.push_back(&association);
    while (!waiting.empty()) {  // parents first
        const auto left = waiting.size();
        std::erase_if(waiting, [&](const Association* association) {
            if (association->parent && !association_index_.contains(association->parent)) return false;
            association_index_.emplace(association->id, static_cast<std::uint32_t>(association_views_.size()));
            spur_association_view view{};
            view.account = str(association->account);
            view.user = str(association->user);
            view.parent = association->parent ? association_index_[association->parent] : SPUR_NONE;
            view.shares = association->shares_parent ? SPUR_SHARES_PARENT : association->shares;
            view.uid = SPUR_NONE;
            view.priority = association->priority;
            view.usage = association->usage.raw;
            association_views_.push_back(view);
            return true;
        });
        if (waiting.size() == left) break;  // an orphan: the core does not make them
    }

    reservation_views_.clear();
    reservation_words_.clear();
    reservation_cores_.clear();
    reservation_licenses_.clear();
    for (const auto& reservation : directory.reservations) {
        Words words((node_count + 63) / 64);
        for (const auto node : reservation.nodes) set_bit(words, node.value);
        reservation_words_.push_back(std::move(words));
        reservation_cores_.push_back(cores_of(reservation));
        auto& licenses = reservation_licenses_.emplace_back();
        for (const auto& license : reservation.licenses)
            if (const auto at = std::ranges::find(license_names_, license.name.view()); at != license_names_.end())
                licenses.push_back({static_cast<std::uint32_t>(at - license_names_.begin()), license.count});
    }
    for (std::size_t i = 0; i < directory.reservations.size(); ++i) {
        const auto& reservation = directory.reservations[i];
        spur_reservation_view view{};
        view.name = str(reservation.name);
        view.start = reservation.start_time;
        view.end = reservation.end_time;
        view.flags = (reservation.has(reservation_flag::maint) ? SPUR_RESERVATION_MAINT : 0) |
                     (reservation.has(reservation_flag::overlap) ? SPUR_RESERVATION_OVERLAP : 0) |
                     (reservation.has(reservation_flag::ignore_jobs) ? SPUR_RESERVATION_IGNORE_JOBS : 0) |
                     (reservation.has(reservation_flag::flex) ? SPUR_RESERVATION_FLEX : 0) |
                     (reservation.has(reservation_flag::magnetic) ? SPUR_RESERVATION_MAGNETIC : 0);
        view.partition = SPUR_NONE;
        view.nodes = bits(reservation_words_[i], node_count);
        view.cores = bits(reservation_cores_[i], core_count_of(reservation));
        view.licenses = span_of(reservation_licenses_[i]);
        reservation_views_.push_back(view);
    }
    // Indexes may have moved: every job says again where it belongs.
    std::vector<JobId> jobs;
    pending_.for_each([&](std::uint32_t slot) { jobs.push_back(JobId{pending_.view(slot).id}); });
    running_.for_each([&](std::uint32_t slot) { jobs.push_back(JobId{running_.view(slot).id}); });
    for (const auto id : jobs) {
        if (const auto slot = pending_.find(id); slot != SPUR_NONE)
            fill_request(*pending_.backing(slot).job, slot, pending_);
        if (const auto slot = running_.find(id); slot != SPUR_NONE) {
            fill_request(*running_.backing(slot).job, slot, running_);
            fill_shares(*running_.backing(slot).job, running_.backing(slot), running_.view(slot));
        }
    }
}

std::uint32_t Mirror::core_count_of(const Reservation& reservation) const {
    std::uint32_t count = 0;
    for (const auto id : reservation.nodes)
        if (const auto& node = model_->nodes.get(id.value)) count += node->topology.cores();
    return count;
}

// Numbered through its nodes in order; empty where it has whole nodes.
Words Mirror::cores_of(const Reservation& reservation) const {
    Words words;
    if (reservation.cores.empty()) return words;
    words.resize((core_count_of(reservation) + 63) / 64);
    std::uint32_t first = 0;
    for (const auto id : reservation.nodes) {
        const auto& node = model_->nodes.get(id.value);
        const auto share = std::ranges::find(reservation.cores, id, &NodeShare::node);
        if (node && share != reservation.cores.end())
            share->cores.for_each([&](std::uint32_t core) { set_bit(words, first + core); });
        if (node) first += node->topology.cores();
    }
    return words;
}

// ---- jobs ----------------------------------------------------------------------------------------------------------

std::shared_ptr<const NodeFilter> Mirror::filter_for(const JobSpec& spec) {
    const auto key = fmt::format("{}\n{}\n{}\n{}", spec.features, spec.exclude_nodes, spec.node_list, spec.prefer);
    if (key == "\n\n\n") return nullptr;
    if (const auto found = filters_.find(key); found != filters_.end()) return found->second;

    auto filter = std::make_shared<NodeFilter>();
    const auto count = static_cast<std::uint32_t>(node_views_.size());
    const auto constraint = Constraint::parse(spec.features).value_or(Constraint{});
    const auto prefer = Constraint::parse(spec.prefer).value_or(Constraint{});
    const auto excluded = HostSet::parse(spec.exclude_nodes).value_or(HostSet{});
    const auto wanted = HostSet::parse(spec.node_list).value_or(HostSet{});
    const auto alternatives = constraint.alternatives();
    const auto counts = constraint.counts();
    const auto width = (count + 63) / 64;
    filter->eligible.resize(width);
    filter->alternative_words.assign(alternatives.size(), Words(width));
    filter->quota_words.assign(counts.size(), Words(width));
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto& node = node_backings_[i]->node;
        if (!node || !node->configured) continue;
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
    if (!filter->required.empty()) filter->required.resize(width);
    if (!filter->preferred.empty()) filter->preferred.resize(width);
    for (const auto& words : filter->alternative_words) filter->alternatives.push_back(bits(words, count));
    for (std::size_t q = 0; q < counts.size(); ++q)
        filter->quotas.push_back({bits(filter->quota_words[q], count), counts[q].nodes, 0});
    filters_.emplace(key, filter);
    return filter;
}

void Mirror::fill_gres(const JobSpec& spec, JobBacking& backing) {
    backing.gres.clear();
    const auto add = [&](const Text& text, std::uint32_t scope) {
        if (text.empty()) return;
        const auto list = parse_gres(text);
        if (!list) return;  // refused at submission
        for (const auto& gres : *list)
            backing.gres.push_back(
                {gres_names_.number(gres.name), gres_types_.number(gres.type), scope, 0, gres.count});
    };
    add(spec.gres_per_node, SPUR_GRES_PER_NODE);
    add(spec.gres_per_job, SPUR_GRES_PER_JOB);
    add(spec.gres_per_task, SPUR_GRES_PER_TASK);
    add(spec.gres_per_socket, SPUR_GRES_PER_SOCKET);
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
    const auto add_partition = [&](const Text& name) {
        for (std::uint32_t i = 0; i < directory.partitions.size(); ++i)
            if (directory.partitions[i].name == name) backing.partitions.push_back(i);
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

void Mirror::fill_request(const Job& job, std::uint32_t slot, JobTable& table) {
    const auto& spec = *job.spec;
    const auto& directory = *model_->directory;
    const auto node_count = static_cast<std::uint32_t>(node_views_.size());
    auto& backing = table.backing(slot);
    auto& view = table.view(slot);
    const auto priority = view.priority;
    view = {};
    view.priority = priority;

    fill_references(job, backing, view);
    fill_gres(spec, backing);
    backing.licenses.clear();
    std::string_view rest = spec.licenses;
    while (!rest.empty()) {  // "a:2,b"
        auto item = rest.substr(0, rest.find_first_of(",;"));
        rest.remove_prefix(std::min(rest.size(), item.size() + 1));
        const auto name = item.substr(0, item.find_first_of(":="));
        std::uint32_t count = 0;
        for (const auto digit : item.substr(std::min(item.size(), name.size() + 1)))
            if (digit >= '0' && digit <= '9') count = count * 10 + static_cast<std::uint32_t>(digit - '0');
        if (const auto at = std::ranges::find(license_names_, name); at != license_names_.end())
            backing.licenses.push_back({static_cast<std::uint32_t>(at - license_names_.begin()), std::max(count, 1U)});
    }
    backing.filter = filter_for(spec);

    view.id = job.id.value;
    view.flags = job_flags(job);
    if (shares_cores(job, backing.partitions, directory)) view.flags |= SPUR_JOB_OVERSUBSCRIBE;
    view.uid = spec.uid;
    view.gid = spec.gid;
    view.array_tasks = startable_tasks(job);
    view.het_group = job.het_job.value;
    view.restarts = job.restarts;

    view.submitted = job.submit_time;
    view.eligible = job.eligible_time;
    view.started = job.is_pending() ? 0 : job.start_time;
    view.ends = job.is_pending()
                    ? 0
                    : (job.time_limit_min == unlimited || job.end_time == 0 ? SPUR_TIME_UNLIMITED : job.end_time);
    view.deadline = spec.deadline.value_or(0);
    view.limit_s = seconds(job.time_limit_min);
    view.limit_min_s = spec.time_min_min ? seconds(*spec.time_min_min) : 0;

    const auto demand = demand_of(spec);  // what the state machine holds a start against
    view.min_nodes = demand.min_nodes;
    view.max_nodes = demand.max_nodes;
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
    const std::string_view distribution = spec.distribution;
    const auto colon = distribution.find(':');
    view.spread_nodes = spread(distribution.substr(0, colon));
    view.spread_sockets =
        colon == std::string_view::npos ? SPUR_SPREAD_DEFAULT : spread(distribution.substr(colon + 1));
    view.plane_size = plane_size(distribution);
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
    view.switches_until = spec.switches ? job.eligible_time + spec.switches_wait_s.value_or(300) : 0;

    const auto* partition = backing.partitions.empty() ? nullptr : &directory.partitions[backing.partitions.front()];
    view.preempt_tier = partition != nullptr ? partition->priority_tier : 0;
    // As Cluster::preempt_mode_of(): the QOS before the partition, the partition before the cluster.
    auto mode = partition != nullptr && partition->preempt_mode != PreemptMode::unset ? partition->preempt_mode
                                                                                      : directory.policies.preempt_mode;
    auto exempt_s = directory.policies.preempt_exempt_time_s;
    if (const auto own = directory.qos.find(spec.qos); own != directory.qos.end()) {
        if (own->second.preempt_mode != PreemptMode::unset) mode = own->second.preempt_mode;
        exempt_s = std::max(exempt_s, own->second.preempt_exempt_time_s.value_or(0));
    }
    view.preempt_mode = preempt_mode(mode);
    view.preempt_exempt_until = job.start_time + exempt_s;
    view.klass = request_class(spec, view, backing);
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
    const bool whole = allocation.exclusive == Exclusive::node;
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
    view.shares = span_of(backing.shares);
}

}  // namespace spur::ctld
