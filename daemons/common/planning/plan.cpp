// Checking each start, promise and preemption of a plan, and the reasons it gives for waiting jobs.
#include "daemons/common/planning/plan.hpp"

#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>

#include "core/model/gres_kind.hpp"
#include "core/model/tres.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/common/host/frame.hpp"

namespace spur::planning {

namespace {

constexpr auto never = std::chrono::steady_clock::time_point::max();

Reason reason_of(std::uint32_t reason) {
    switch (reason) {
        case SPUR_WAIT_PRIORITY:
            return Reason::priority;
        case SPUR_WAIT_RESOURCES:
            return Reason::resources;
        case SPUR_WAIT_NODES_UNAVAILABLE:
            return Reason::req_node_not_avail;
        case SPUR_WAIT_PARTITION_DOWN:
            return Reason::partition_down;
        case SPUR_WAIT_PARTITION_INACTIVE:
            return Reason::partition_inactive;
        case SPUR_WAIT_PARTITION_NODE_LIMIT:
            return Reason::partition_node_limit;
        case SPUR_WAIT_PARTITION_TIME_LIMIT:
            return Reason::partition_time_limit;
        case SPUR_WAIT_LICENSES:
            return Reason::licenses;
        case SPUR_WAIT_RESERVATION:
            return Reason::reservation;
        case SPUR_WAIT_NEVER:
            return Reason::bad_constraints;
        case SPUR_WAIT_DEADLINE:
            return Reason::deadline;
        default:
            return Reason::resources;
    }
}

// `most` is what there is; who claims more is not believed, nor is memory behind it looked at.
std::optional<Bitset> bitset_of(const spur_bits& bits, std::uint32_t most) {
    Bitset set;
    if (bits.words == nullptr) return set;
    if (bits.count > (most + 63) / 64 * 64) return std::nullopt;
    for (std::uint32_t w = 0; w < bits.count / 64; ++w) set.set_word(w, bits.words[w]);
    if (const auto rest = bits.count % 64; rest != 0)  // what lies behind the last bit is not the plugin's to say
        set.set_word(bits.count / 64, bits.words[bits.count / 64] & ((std::uint64_t{1} << rest) - 1));
    return set;
}

// Shards come in a piece for each gpu they lie on; a share keeps them together, with how many lie on each.
void add_gres(GresShare piece, std::vector<GresShare>& list) {
    if (!find_gres_kind(piece.name.view())) piece.devices = {};  // a count: the mirror made its devices up
    if (!is_part_gres(piece.name.view()) || piece.devices.empty()) return list.push_back(std::move(piece));
    const auto gpus = piece.devices.count();
    for (std::uint32_t i = 0; i < gpus; ++i)  // of one piece with several: evenly
        piece.per_device.push_back(static_cast<std::uint32_t>(piece.count / gpus + (i < piece.count % gpus ? 1 : 0)));
    const auto same = std::ranges::find_if(
        list, [&](const GresShare& other) { return other.name == piece.name && other.type == piece.type; });
    if (same == list.end()) return list.push_back(std::move(piece));
    std::map<std::uint32_t, std::uint32_t> on_gpu;
    for (const auto* part : {static_cast<const GresShare*>(&*same), static_cast<const GresShare*>(&piece)}) {
        std::size_t i = 0;
        part->devices.for_each([&](std::uint32_t gpu) { on_gpu[gpu] += part->per_device[i++]; });
    }
    same->count += piece.count;
    same->devices |= piece.devices;
    same->per_device.clear();
    for (const auto& [gpu, count] : on_gpu) same->per_device.push_back(count);
}

PreemptMode mode_of(std::uint32_t mode) {
    if (mode == SPUR_PREEMPT_REQUEUE) return PreemptMode::requeue;
    return mode == SPUR_PREEMPT_SUSPEND ? PreemptMode::suspend : PreemptMode::cancel;
}

Text first_partition(const Job& job) { return job.spec->partitions.empty() ? Text{} : job.spec->partitions.front(); }

bool takes_whole_nodes(const spur_placement& given) {
    const plugin::Records<spur_node_share> shares{spur_shares(&given)};
    return std::any_of(shares.begin(), shares.end(),
                       [](const auto& share) { return (share.flags & SPUR_SHARE_WHOLE_NODE) != 0; });
}

PlanCollector& of(const spur_plan_sink* sink) { return *static_cast<PlanCollector*>(sink->context); }

}  // namespace

PlanCollector::PlanCollector(Mirror& mirror, const spur_cluster_view& view,
                             std::chrono::steady_clock::time_point stop_at, const std::atomic<bool>& stopping,
                             LimitCounts& counts, Promises& promises, MayStart may_start)
    : mirror_{mirror},
      view_{view},
      stop_at_{stop_at},
      stopping_{stopping},
      counts_{counts},
      promises_{promises},
      may_start_{std::move(may_start)} {
    counts_.begin_plan();
    sink_.size = sizeof(sink_);
    sink_.context = this;
    sink_.stopped = [](const spur_plan_sink* s) -> std::uint32_t {
        const auto& self = of(s);
        if (!self.stopped_)
            self.stopped_ = self.stopping_.load(std::memory_order_relaxed) ||
                            (self.stop_at_ != never && std::chrono::steady_clock::now() > self.stop_at_);
        return self.stopped_ ? 1 : 0;
    };
    sink_.may_start = [](const spur_plan_sink* s, std::uint32_t job, std::uint32_t partition) -> spur_status {
        return of(s).may_start(job, partition);
    };
    sink_.start = [](const spur_plan_sink* s, std::uint32_t job, std::uint32_t partition, const spur_placement* given,
                     std::uint32_t limit_s) { return of(s).start(job, partition, given, limit_s); };
    sink_.expect = [](const spur_plan_sink* s, std::uint32_t job, std::int64_t start, std::uint32_t partition,
                      spur_bits nodes) { of(s).expect(job, start, partition, nodes); };
    sink_.waits = [](const spur_plan_sink* s, std::uint32_t job, std::uint32_t reason, spur_str text) {
        of(s).waits(job, reason, text);
    };
    sink_.preempt = [](const spur_plan_sink* s, std::uint32_t job, std::uint32_t partition,
                       const std::uint32_t* victims, std::uint32_t count,
                       const spur_placement* given) { return of(s).preempt(job, partition, victims, count, given); };
}

bool PlanCollector::is_pending(std::uint32_t slot) const {
    return slot < view_.pending.count && mirror_.pending().view(slot).id != 0;
}

bool PlanCollector::complain(std::string text) {
    if (plan_.complaints.size() < 10) plan_.complaints.push_back(std::move(text));
    return false;
}

PendingNote& PlanCollector::note(JobId job) {
    const auto [found, is_new] = notes_.try_emplace(job, plan_.notes.size());
    if (is_new) plan_.notes.push_back({.job = job});
    return plan_.notes[found->second];
}

bool PlanCollector::is_own(std::uint32_t slot, std::uint32_t partition) const {
    const plugin::Records<std::uint32_t> own{mirror_.pending().view(slot).partitions};
    return std::find(own.begin(), own.end(), partition) != own.end();
}

spur_status PlanCollector::may_start(std::uint32_t slot, std::uint32_t partition) {
    if (!is_pending(slot)) return SPUR_REJECTED;
    const auto& view = mirror_.pending().view(slot);
    const auto& job = *mirror_.pending().backing(slot).job;
    host::note({"job", view.id});
    if (!is_own(slot, partition))
        return complain(fmt::format("asks whether job {} may start in partition {}, which is not its own", view.id,
                                    partition)),
               SPUR_REJECTED;
    auto limit = counts_.judge(job, view, mirror_.partition(partition).name);
    if (limit == Reason::none && may_start_) limit = may_start_(job);
    if (limit == Reason::none) return SPUR_MAY_START;
    limits_[slot] = limit;
    return SPUR_LIMITED;
}

Result<NodeShare> PlanCollector::share(const spur_node_share& given) const {
    if (given.node >= view_.nodes.count)
        return fail(ErrorCode::invalid, "names node {}, which does not exist", given.node);
    const auto& node = *SPUR_AT(spur_node_view, view_.nodes, given.node);
    auto cores = bitset_of(given.cores, node.sockets * node.cores_per_socket);
    if (!cores)
        return fail(ErrorCode::invalid, "claims {} cores of node {}, which has {}", given.cores.count,
                    plugin::view(node.name), node.sockets * node.cores_per_socket);
    NodeShare out{.node = NodeId{given.node},
                  .cores = std::move(*cores),
                  .cpus = given.cpus,
                  .memory_mib = given.memory_mib,
                  .tasks = given.tasks};
    constexpr std::uint32_t most_pieces = 4096;
    if (given.gres.count > most_pieces || (given.gres.count != 0 && given.gres.stride < sizeof(spur_gres_share)))
        return fail(ErrorCode::invalid, "brings {} generic resources of {} bytes each on node {}", given.gres.count,
                    given.gres.stride, plugin::view(node.name));
    for (const auto& gres : plugin::Records<spur_gres_share>{given.gres}) {
        if (gres.name >= view_.gres_names.count || gres.type >= view_.gres_types.count)
            return fail(ErrorCode::invalid, "names a generic resource that does not exist");
        std::uint32_t most = 0;
        for (const auto& here : plugin::Records<spur_gres_view>{node.gres})
            if (here.name == gres.name) most = here.devices.count;
        auto devices = bitset_of(gres.devices, most);
        if (!devices)
            return fail(ErrorCode::invalid, "claims {} devices of node {}, which has {}", gres.devices.count,
                        plugin::view(node.name), most);
        add_gres(
            {Text{mirror_.gres_name(gres.name)}, Text{mirror_.gres_type(gres.type)}, gres.count, std::move(*devices)},
            out.gres);
    }
    return out;
}

Result<Placement> PlanCollector::placement(std::uint32_t slot, std::uint32_t partition, const spur_placement* given,
                                           std::uint32_t limit_s) const {
    const auto& job = *mirror_.pending().backing(slot).job;
    if (partition >= mirror_.partition_count())
        return fail(ErrorCode::invalid, "names partition {}, which does not exist", partition);
    if (given == nullptr || given->share_count == 0 || given->shares == nullptr)
        return fail(ErrorCode::invalid, "starts it on no node");
    if (given->share_count > view_.nodes.count)
        return fail(ErrorCode::invalid, "names {} nodes, and there are {}", given->share_count, view_.nodes.count);
    Placement placed{.job = job.id, .partition = mirror_.partition(partition).name};
    for (const auto& one : plugin::Records<spur_node_share>{spur_shares(given)}) {
        SPUR_TRY(auto taken, share(one));
        placed.shares.push_back(std::move(taken));
    }
    // A planner names nodes in any order; the books are kept in this one.
    if (!std::ranges::is_sorted(placed.shares, {}, &NodeShare::node))
        std::ranges::sort(placed.shares, {}, &NodeShare::node);
    const auto twice = std::ranges::adjacent_find(placed.shares, {}, &NodeShare::node);
    if (twice != placed.shares.end()) return fail(ErrorCode::invalid, "names node {} twice", twice->node.value);
    if (limit_s != SPUR_UNLIMITED && limit_s / 60 != job.time_limit_min && job.spec->time_min_min)
        placed.time_limit_min = (limit_s + 59) / 60;
    return placed;
}

spur_status PlanCollector::start(std::uint32_t slot, std::uint32_t partition, const spur_placement* given,
                                 std::uint32_t limit_s) {
    if (!is_pending(slot))
        return complain(fmt::format("starts slot {}, which holds no waiting job", slot)), SPUR_REJECTED;
    const auto& view = mirror_.pending().view(slot);
    const auto& job = *mirror_.pending().backing(slot).job;
    host::note({"job", view.id});
    if (const auto known = started_.find(slot);
        known != started_.end() && known->second >= std::max(view.array_tasks, 1U))
        return complain(fmt::format("starts job {} more than once", view.id)), SPUR_REJECTED;
    auto placed = placement(slot, partition, given, limit_s);
    if (!placed) return complain(fmt::format("job {}: {}", view.id, placed.error().text)), SPUR_REJECTED;
    if (promises_.find_broken(job.id, placed->shares, takes_whole_nodes(*given), plan_.starts, mirror_.model()))
        return SPUR_REJECTED;
    if (counts_.enforces()) {
        // It may get more than it asked for, whole nodes for instance; limits count what it gets.
        Allocation would{.shares = placed->shares, .partition = placed->partition};
        for (const auto& share : would.shares) {
            would.cpus += share.cpus;
            would.memory_mib += share.memory_mib;
        }
        const auto uses = allocated_tres(mirror_.model(), would);
        if (const auto limit = counts_.judge(job, uses, placed->partition); limit != Reason::none) {
            if (keeps_notes_) tell(job, limit, {});
            return SPUR_LIMITED;
        }
        counts_.start(job, uses, placed->partition);
    }
    promises_.end(job.id);
    ++started_[slot];
    plan_.starts.push_back(std::move(*placed));
    return SPUR_OK;
}

void PlanCollector::expect(std::uint32_t slot, std::int64_t start, std::uint32_t partition, spur_bits nodes) {
    if (!is_pending(slot)) return void(complain(fmt::format("expects slot {}, which holds no waiting job", slot)));
    const auto& job = *mirror_.pending().backing(slot).job;
    if (!is_own(slot, partition))
        return void(
            complain(fmt::format("expects job {} in partition {}, which is not its own", job.id.value, partition)));
    const auto set = bitset_of(nodes, view_.nodes.count);
    if (!set)
        return void(complain(fmt::format("expects job {} on a set of {} nodes, and there are {}", job.id.value,
                                         nodes.count, view_.nodes.count)));
    if (!keeps_notes_) return;
    std::string names;
    if (nodes.words != nullptr) {
        std::vector<std::string> list;
        set->for_each([&](std::uint32_t node) {
            if (node < view_.nodes.count)
                list.emplace_back(plugin::view(SPUR_AT(spur_node_view, view_.nodes, node)->name));
        });
        names = compress_hosts(list);
    }
    if (job.start_time == start && job.scheduled_nodes == names) return;
    auto& told = note(job.id);
    told.expected_start = start;
    told.expected_nodes = Text{names};
}

void PlanCollector::waits(std::uint32_t slot, std::uint32_t reason, spur_str text) {
    if (!is_pending(slot)) return void(complain(fmt::format("explains slot {}, which holds no waiting job", slot)));
    if (!keeps_notes_) return;
    const auto& job = *mirror_.pending().backing(slot).job;
    if (reason == SPUR_WAIT_LIMIT) {
        // A planner may ask about one job and hold back others that are alike.
        const auto known = limits_.find(slot);
        const auto limit = known != limits_.end()
                               ? known->second
                               : counts_.judge(job, mirror_.pending().view(slot), first_partition(job));
        if (limit != Reason::none) tell(job, limit, {});
        return;
    }
    const auto sentence = plugin::view(text).substr(0, 1024);
    const bool for_nodes =
        reason == SPUR_WAIT_RESOURCES || reason == SPUR_WAIT_NEVER || reason == SPUR_WAIT_NODES_UNAVAILABLE;
    if (for_nodes) {  // what the host can see for itself it says in Slurm's words; else the planner's sentence stands
        if (const auto missing = missing_nodes(slot)) return tell(job, Reason::req_node_not_avail, *missing);
        if (reason == SPUR_WAIT_NEVER && is_too_large(slot)) return tell(job, Reason::partition_config, {});
        if (reason == SPUR_WAIT_NODES_UNAVAILABLE || (reason == SPUR_WAIT_RESOURCES && is_kept_by_reservations(slot)))
            return tell(job, Reason::req_node_not_avail, "ReqNodeNotAvail, May be reserved for other job");
    }
    tell(job, reason_of(reason), sentence);
}

void PlanCollector::tell(const Job& job, Reason why, std::string_view sentence) {
    if (job.reason == why && job.reason_text == sentence) return;
    auto& told = note(job.id);
    told.reason = why;
    told.reason_text = Text{sentence};
}

std::uint32_t PlanCollector::partition_of(std::uint32_t slot) const {
    const auto& partitions = mirror_.pending().view(slot).partitions;
    return partitions.count == 1 ? *SPUR_AT(std::uint32_t, partitions, 0) : SPUR_NONE;
}

// Enough nodes have room, but too few of them are free of others' reservations until the job would end.
bool PlanCollector::is_kept_by_reservations(std::uint32_t slot) const {
    const auto& job = mirror_.pending().view(slot);
    const auto index = partition_of(slot);
    if (view_.reservations.count == 0 || index == SPUR_NONE) return false;
    const auto end = job.limit_s == SPUR_UNLIMITED ? SPUR_TIME_UNLIMITED : view_.now + job.limit_s;
    Words kept((view_.nodes.count + 63) / 64);
    for (std::uint32_t i = 0; i < view_.reservations.count; ++i) {
        const auto* other = SPUR_AT(spur_reservation_view, view_.reservations, i);
        const bool is_own = job.reservation != SPUR_NONE &&
                            plugin::view(other->name) ==
                                plugin::view(SPUR_AT(spur_reservation_view, view_.reservations, job.reservation)->name);
        if (is_own || other->start >= end || other->end <= view_.now || other->cores.words != nullptr) continue;
        for (std::size_t w = 0; w < kept.size() && w < (other->nodes.count + 63) / 64; ++w)
            kept[w] |= other->nodes.words[w];
    }
    const auto& partition = SPUR_AT(spur_partition_view, view_.partitions, index)->nodes;
    const auto has = [](const spur_bits& set, std::uint32_t node) {
        return node < set.count && (set.words[node / 64] >> (node % 64) & 1U) != 0;
    };
    std::uint32_t with_room = 0, left = 0;
    for (std::uint32_t i = 0; i < view_.nodes.count; ++i) {
        if (!has(partition, i) || (job.eligible_nodes.words != nullptr && !has(job.eligible_nodes, i))) continue;
        const auto* node = SPUR_AT(spur_node_view, view_.nodes, i);
        const bool reserved = (kept[i / 64] >> (i % 64) & 1U) != 0;
        if (job.required_nodes.words != nullptr && has(job.required_nodes, i) && reserved) return true;
        const bool room =
            (node->flags & SPUR_NODE_USABLE) && !(node->flags & SPUR_NODE_EXCLUSIVE) && node->cpus_used < node->cpus;
        with_room += room ? 1 : 0;
        left += room && !reserved ? 1 : 0;
    }
    return with_room >= job.min_nodes && left < job.min_nodes;
}

// More nodes than its partition has.
bool PlanCollector::is_too_large(std::uint32_t slot) const {
    const auto index = partition_of(slot);
    if (index == SPUR_NONE) return false;
    const auto& nodes = SPUR_AT(spur_partition_view, view_.partitions, index)->nodes;
    std::uint32_t count = 0;
    for (std::uint32_t w = 0; w < (nodes.count + 63) / 64; ++w)
        count += static_cast<std::uint32_t>(std::popcount(nodes.words[w]));
    return mirror_.pending().view(slot).min_nodes > count;
}

// Slurm's words where the nodes a job needs are down or drained: those it names, or so many that the rest is too few.
std::optional<std::string> PlanCollector::missing_nodes(std::uint32_t slot) {
    if (!unusable_) {
        unusable_.emplace((view_.nodes.count + 63) / 64);
        for (std::uint32_t i = 0; i < view_.nodes.count; ++i)
            if (!(SPUR_AT(spur_node_view, view_.nodes, i)->flags & SPUR_NODE_USABLE))
                (*unusable_)[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    if (std::ranges::all_of(*unusable_, [](std::uint64_t word) { return word == 0; })) return std::nullopt;
    const auto& job = mirror_.pending().view(slot);
    const auto& required = job.required_nodes;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; required.words != nullptr && i < required.count; ++i)
        if (required.words[i / 64] & (*unusable_)[i / 64] & (std::uint64_t{1} << (i % 64)))
            names.emplace_back(plugin::view(SPUR_AT(spur_node_view, view_.nodes, i)->name));
    if (!names.empty()) return fmt::format("ReqNodeNotAvail, UnavailableNodes:{}", compress_hosts(names));

    const auto index = partition_of(slot);
    if (index == SPUR_NONE) return std::nullopt;
    const auto* partition = SPUR_AT(spur_partition_view, view_.partitions, index);
    std::uint32_t all = 0, usable = 0;
    for (std::size_t w = 0; w < unusable_->size() && w < (partition->nodes.count + 63) / 64; ++w) {
        auto nodes = partition->nodes.words[w];
        if (job.eligible_nodes.words != nullptr && w < (job.eligible_nodes.count + 63) / 64)
            nodes &= job.eligible_nodes.words[w];
        all += static_cast<std::uint32_t>(std::popcount(nodes));
        usable += static_cast<std::uint32_t>(std::popcount(nodes & ~(*unusable_)[w]));
    }
    if (all < job.min_nodes || usable >= job.min_nodes) return std::nullopt;
    return std::string{nodes_are_down};
}

spur_status PlanCollector::preempt(std::uint32_t slot, std::uint32_t partition, const std::uint32_t* victims,
                                   std::uint32_t count, const spur_placement* given) {
    if (!is_pending(slot))
        return complain(fmt::format("preempts for slot {}, which holds no waiting job", slot)), SPUR_REJECTED;
    const JobId preemptor{mirror_.pending().view(slot).id};
    std::vector<Plan::Preemption> preemptions;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (victims[i] >= view_.running.count || mirror_.running().view(victims[i]).id == 0)
            return complain(fmt::format("preempts slot {}, which holds no running job", victims[i])), SPUR_REJECTED;
        const auto& victim = mirror_.running().view(victims[i]);
        preemptions.push_back({JobId{victim.id}, mirror_.running().backing(victims[i]).job->attempt,
                               mode_of(victim.preempt_mode), preemptor});
    }
    auto placed = placement(slot, partition, given, SPUR_UNLIMITED);
    if (!placed)
        return complain(fmt::format("preempts for job {}: {}", preemptor.value, placed.error().text)), SPUR_REJECTED;
    const bool whole = takes_whole_nodes(*given);
    if (promises_.find_broken(preemptor, placed->shares, whole, plan_.starts, mirror_.model())) return SPUR_REJECTED;
    Promise promise{.job = preemptor,
                    .shares = std::move(placed->shares),
                    .whole = whole,
                    .until = view_.now + SPUR_PREEMPT_PROMISE_S};
    for (const auto& one : preemptions) promise.victims.push_back(one.victim);
    promises_.keep(std::move(promise));
    std::ranges::move(preemptions, std::back_inserter(plan_.preemptions));
    return SPUR_OK;
}

}  // namespace spur::planning
