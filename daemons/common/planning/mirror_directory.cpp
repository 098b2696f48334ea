// How partitions, accounts, QOS, licences and reservations of the core become records of the ABI.
#include <algorithm>

#include "daemons/common/planning/mirror_parts.hpp"

namespace spur::planning {

namespace {

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

}  // namespace

void Mirror::update_directory() {
    const auto& directory = *model_->directory;
    const auto node_count = static_cast<std::uint32_t>(node_views_.size());
    filters_.clear();
    changes_complete_ = false;

    partition_views_.clear();
    partition_words_.clear();
    partition_billing_.clear();
    partition_of_.clear();
    lifted_partitions_.clear();
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
        partition_of_.push_back(static_cast<std::uint32_t>(i));
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
        const auto by = directory.policies.preempt_type;
        if (by == PreemptType::any || by == PreemptType::qos)
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
    add_repetitions();
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

// The partition as jobs of a QOS with such flags see it.
std::uint32_t Mirror::lifted_partition(std::uint32_t partition, std::uint32_t flags) {
    flags &= qos_flag::partition_max_nodes | qos_flag::partition_min_nodes | qos_flag::partition_time_limit;
    if (flags == 0) return partition;
    const auto [found, is_new] = lifted_partitions_.try_emplace(std::pair{partition, flags},
                                                                static_cast<std::uint32_t>(partition_views_.size()));
    if (is_new) {
        auto view = partition_views_[partition];
        if (flags & qos_flag::partition_max_nodes) view.max_nodes = SPUR_UNLIMITED;
        if (flags & qos_flag::partition_min_nodes) view.min_nodes = 0;
        if (flags & qos_flag::partition_time_limit) view.max_time_s = SPUR_UNLIMITED;
        partition_views_.push_back(view);
        partition_of_.push_back(partition);
        changes_complete_ = false;
    }
    return found->second;
}

// Those that repeat come once for each time, as far ahead as planners look; the ones the directory numbers come first.
void Mirror::add_repetitions() {
    constexpr std::int64_t horizon_s = 14 * 86'400;
    constexpr int most = 64;
    const auto& reservations = model_->directory->reservations;
    for (std::size_t i = 0; i < reservations.size(); ++i) {
        auto view = reservation_views_[i];
        for (int n = 0; n < most; ++n) {
            const auto gap = reservations[i].gap_after(view.start);
            if (gap == 0 || view.start + gap > model_->now + horizon_s) break;
            view.start += gap;
            view.end += gap;
            reservation_views_.push_back(view);
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

}  // namespace spur::planning
