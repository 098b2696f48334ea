// Laying out a step inside its job's allocation, as srun's users expect: all of the nodes' resources unless --exact,
// apart from other steps unless --overlap.
#include "core/machine/step_layout.hpp"

#include <algorithm>
#include <numeric>

#include "core/machine/validate.hpp"
#include "core/model/gres.hpp"
#include "core/slurm/refusal.hpp"
#include "core/store/state_version.hpp"
#include "core/text/hostlist.hpp"

namespace spur {

namespace {

// One node of the job as the step sees it.
struct Candidate {
    const NodeShare* share{};
    Bitset free_cores;
    std::vector<GresShare> free_gres;
    std::uint32_t cpus_per_core{1};

    std::uint32_t free_cpus() const { return std::min(share->cpus, free_cores.count() * cpus_per_core); }
};

void subtract(std::vector<GresShare>& from, const std::vector<GresShare>& used) {
    for (const auto& part : used)
        for (auto& pool : from)
            if (pool.name == part.name && (part.type.empty() || pool.type.empty() || pool.type == part.type)) {
                pool.devices -= part.devices;
                pool.count -= std::min(pool.count, part.count);
            }
}

class Layout {
public:
    Layout(const Picture& picture, const Job& job, const StepSpec& spec) : picture_{picture}, job_{job}, spec_{spec} {}

    Result<CreateStep> make() {
        const auto asked = Distribution::parse(spec_.distribution);
        if (!asked) return fail(refusal::bad_distribution);
        asked_ = *asked;
        SPUR_CHECK(choose_size());
        // What would be possible with the whole allocation decides between "busy now" and "never".
        if (auto now = try_with(!spec_.overlap)) return now;
        SPUR_CHECK(try_with(false));
        return fail(refusal::nodes_busy);
    }

private:
    Result<void> choose_size() {
        const auto open = static_cast<std::uint32_t>(job_.open_shares.size());
        const auto& demand = job_.request->demand;
        cpus_per_task_ = std::max(1U, spec_.cpus_per_task.value_or(1));
        min_nodes_ = spec_.min_nodes.value_or(spec_.node_list.empty() ? (spec_.tasks ? 1 : open) : 1);
        max_nodes_ = spec_.max_nodes.value_or(spec_.min_nodes.value_or(open));
        if (min_nodes_ == 0 || min_nodes_ > open || max_nodes_ < min_nodes_) return fail(refusal::node_count);
        const auto per_node = spec_.tasks_per_node.value_or(0);
        std::uint64_t wanted = spec_.min_nodes ? min_nodes_ : std::max(demand.tasks, min_nodes_);
        if (spec_.tasks)
            wanted = *spec_.tasks;
        else if (per_node)
            wanted = std::uint64_t{per_node} * min_nodes_;
        // No layout is longer than this, whoever asks for it: it is made on the thread that everybody waits for.
        if (wanted == 0 || wanted > std::uint64_t{open} * most_per_node()) return fail(refusal::bad_task_count);
        tasks_ = static_cast<std::uint32_t>(wanted);
        if (tasks_ < min_nodes_) min_nodes_ = tasks_;
        if (spec_.tasks && !spec_.min_nodes && !spec_.max_nodes) min_nodes_ = std::min(tasks_, open);
        max_nodes_ = std::min(max_nodes_, tasks_);
        return {};
    }

    Result<std::vector<Candidate>> candidates(bool beside_others) const {
        HostSet wanted;
        HostSet unwanted;
        if (!spec_.node_list.empty()) {
            SPUR_TRY(wanted, HostSet::parse(spec_.node_list));
        }
        if (!spec_.exclude_nodes.empty()) {
            SPUR_TRY(unwanted, HostSet::parse(spec_.exclude_nodes));
        }
        std::vector<Candidate> found;
        std::uint32_t position = 0;
        std::size_t named = 0;
        for (const auto open : job_.open_shares) {
            const auto& share = job_.allocation->shares[open];
            const auto name = picture_.find_node(share.node)->name;
            if (position++ < spec_.relative.value_or(0)) continue;
            if (unwanted.contains(name.view())) continue;
            if (!wanted.empty() && !wanted.contains(name.view())) continue;
            ++named;
            Candidate candidate{&share, share.cores, share.gres, 1};
            candidate.cpus_per_core = std::max(1U, share.cores.count() ? share.cpus / share.cores.count() : 1);
            if (beside_others) take_away_others(candidate);
            found.push_back(std::move(candidate));
        }
        if (named < wanted.size()) return fail(refusal::invalid_node);
        return found;
    }

    void take_away_others(Candidate& candidate) const {
        picture_.for_each_step(job_.id, [&](const Step& other) {
            if (other.is_over() || other.overlap) return;
            for (const auto& theirs : other.shares) {
                if (theirs.node != candidate.share->node) continue;
                candidate.free_cores -= theirs.cores;
                subtract(candidate.free_gres, theirs.gres);
            }
        });
    }

    bool is_whole() const { return !spec_.exact && !spec_.exclusive; }
    std::uint32_t most_per_node() const { return std::max(1U, picture_.policies().max_tasks_per_node); }

    // How many tasks the node could take.
    std::uint32_t capacity(const Candidate& node) const {
        if (is_whole() && !spec_.overlap && !(node.free_cores == node.share->cores)) return 0;
        std::uint32_t room = spec_.overcommit ? tasks_ : node.free_cpus() / cpus_per_task_;
        if (spec_.tasks_per_node) room = std::min(room, *spec_.tasks_per_node);
        return std::min(room, most_per_node());
    }

    Result<CreateStep> try_with(bool beside_others) {
        SPUR_TRY(auto nodes, candidates(beside_others));
        std::erase_if(nodes, [&](const Candidate& node) { return capacity(node) == 0; });
        if (nodes.size() < min_nodes_) return fail(refusal::too_many_cpus);
        SPUR_TRY(const auto counts, spread(nodes));
        CreateStep step;
        step.job = job_.id;
        step.attempt = job_.attempt;
        step.name = spec_.name;
        step.tasks = tasks_;
        step.cpus_per_task = cpus_per_task_;
        step.time_limit_min = spec_.time_limit_min.value_or(unlimited);
        step.overlap = spec_.overlap;
        step.submit_host = spec_.submit_host;
        if (spec_.interactive) step.id = StepId{step_interactive};
        if (spec_.number) step.id = StepId{*spec_.number};
        for (std::size_t i = 0; i < counts.size(); ++i) {
            SPUR_TRY(auto share, share_of(nodes[i], counts[i], counts.size()));
            step.shares.push_back(std::move(share));
        }
        const auto chosen = distribution(counts.size());
        if (picture_.state_version() >= version_with_step_ends) {  // older controllers could not store these
            step.srun_pid = spec_.srun_pid;
            step.distribution = to_string(chosen);
        }
        step.task_ids = distribute_tasks(counts, chosen);
        for (auto& ids : step.task_ids)
            for (auto& id : ids) id += spec_.first_task;
        return step;
    }

    // Over the nodes; where nothing is said, a node is filled before the next as long as there are more tasks than
    // nodes.
    Distribution distribution(std::size_t nodes) const {
        auto chosen = asked_;
        if (chosen.nodes == Spread::standard) chosen.nodes = tasks_ > nodes ? Spread::block : Spread::cyclic;
        return chosen;
    }

    // A step as large as its job that asks for nothing else is laid out as the job was: with -c, that is where the CPUs
    // are. Nothing if it is no such step.
    std::vector<std::uint32_t> as_the_job(const std::vector<Candidate>& nodes) const {
        if (!is_whole() || spec_.cpus_per_task || spec_.tasks_per_node || !spec_.distribution.empty()) return {};
        if (nodes.size() != job_.open_shares.size() || nodes.size() > max_nodes_) return {};
        std::vector<std::uint32_t> counts;
        std::uint64_t total = 0;
        for (const auto& node : nodes) {
            const auto tasks = node.share->tasks;
            if (tasks == 0 || tasks > capacity(node)) return {};
            counts.push_back(tasks);
            total += tasks;
        }
        if (total != tasks_) return {};
        return counts;
    }

    // Tasks per node: the fewest nodes that hold them, at least one task on each.
    Result<std::vector<std::uint32_t>> spread(const std::vector<Candidate>& nodes) const {
        if (auto counts = as_the_job(nodes); !counts.empty()) return counts;
        std::size_t used = 0;
        std::uint64_t room = 0;
        std::vector<std::uint32_t> rooms;
        const auto most_nodes = std::min<std::size_t>(max_nodes_, nodes.size());
        while (used < min_nodes_ || (room < tasks_ && used < most_nodes))
            room += rooms.emplace_back(capacity(nodes[used++]));
        if (room < tasks_) return fail(refusal::too_many_cpus);
        std::vector<std::uint32_t> counts(used, 1);
        std::uint32_t left = tasks_ - static_cast<std::uint32_t>(used);
        const auto style = distribution(used).nodes;
        if (style == Spread::cyclic || style == Spread::plane || spec_.overcommit) {
            for (std::size_t i = 0; left; i = (i + 1) % used)
                if (counts[i] < rooms[i]) {
                    ++counts[i];
                    --left;
                }
        } else {
            for (std::size_t i = 0; left && i < used; ++i) {
                const auto more = std::min(left, rooms[i] - 1);
                counts[i] += more;
                left -= more;
            }
        }
        return counts;
    }

    Result<NodeShare> share_of(const Candidate& node, std::uint32_t tasks, std::size_t nodes) const {
        NodeShare share;
        share.node = node.share->node;
        share.tasks = tasks;
        if (is_whole()) {
            share.cores = spec_.overlap ? node.share->cores : node.free_cores;
            share.cpus = node.share->cpus;
        } else {
            const auto wanted = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(std::uint64_t{tasks} * cpus_per_task_, node.free_cpus()));
            node.free_cores.for_each([&](std::uint32_t core) {
                if (share.cores.count() * node.cpus_per_core < wanted) share.cores.add(core);
            });
            share.cpus = std::min(wanted, share.cores.count() * node.cpus_per_core);
        }
        share.memory_mib = memory_of(node, share.cpus);
        if (node.share->memory_mib && share.memory_mib > node.share->memory_mib) return fail(refusal::no_memory_left);
        SPUR_TRY(share.gres, gres_of(node, tasks, nodes));
        return share;
    }

    std::uint64_t memory_of(const Candidate& node, std::uint32_t cpus) const {
        if (spec_.mem_per_node_mib && *spec_.mem_per_node_mib) return *spec_.mem_per_node_mib;
        if (spec_.mem_per_cpu_mib) return *spec_.mem_per_cpu_mib * cpus;
        if (!is_whole() && job_.spec->mem_per_cpu_mib) return *job_.spec->mem_per_cpu_mib * cpus;
        return node.share->memory_mib;
    }

    // What was asked for, or else all that the job has there.
    Result<std::vector<GresShare>> gres_of(const Candidate& node, std::uint32_t tasks, std::size_t nodes) const {
        GresList wanted;
        const auto add = [&](const Text& text, std::uint64_t times, std::uint64_t over) -> Result<void> {
            SPUR_TRY(auto list, parse_gres(text));
            for (auto& gres : list) {
                if (gres.count > UINT32_MAX) return fail(refusal::no_gres_left);
                gres.count = (gres.count * times + over - 1) / over;
                wanted.push_back(gres);
            }
            return {};
        };
        if (spec_.gres_per_node.empty() && spec_.gres_per_step.empty() && spec_.gres_per_task.empty())
            return node.free_gres;
        if (spec_.gres_per_node == "none" || spec_.gres_per_node == "NONE") return std::vector<GresShare>{};
        SPUR_CHECK(add(spec_.gres_per_node, 1, 1));
        SPUR_CHECK(add(spec_.gres_per_step, 1, nodes));
        SPUR_CHECK(add(spec_.gres_per_task, tasks, 1));
        std::vector<GresShare> shares;
        auto left = node.free_gres;
        for (const auto& gres : wanted) {
            SPUR_TRY(auto share, pick(left, gres));
            if (share.count) shares.push_back(std::move(share));
        }
        return shares;
    }

    static Result<GresShare> pick(std::vector<GresShare>& left, const Gres& wanted) {
        for (auto& pool : left) {
            if (pool.name != wanted.name || (!wanted.type.empty() && !pool.type.empty() && pool.type != wanted.type))
                continue;
            if (pool.count < wanted.count) continue;
            GresShare share{pool.name, pool.type, wanted.count, {}, {}};
            if (pool.per_device.empty())
                pool.devices.for_each([&](std::uint32_t device) {
                    if (share.devices.count() < wanted.count) share.devices.add(device);
                });
            else
                share.devices = pool.devices;
            pool.devices -= share.devices;
            pool.count -= wanted.count;
            return share;
        }
        return fail(refusal::no_gres_left);
    }

    const Picture& picture_;
    const Job& job_;
    const StepSpec& spec_;
    Distribution asked_;
    std::uint32_t tasks_{1};
    std::uint32_t cpus_per_task_{1};
    std::uint32_t min_nodes_{1};
    std::uint32_t max_nodes_{1};
};

}  // namespace

std::vector<std::vector<std::uint32_t>> distribute_tasks(const std::vector<std::uint32_t>& counts,
                                                         const Distribution& distribution) {
    std::vector<std::vector<std::uint32_t>> ids(counts.size());
    const auto total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    std::uint32_t chunk = UINT32_MAX;  // block: all of a node's tasks in one go
    if (distribution.nodes == Spread::cyclic) chunk = 1;
    if (distribution.plane_size) chunk = distribution.plane_size;
    std::uint32_t next = 0;
    for (std::size_t node = 0; next < total; node = (node + 1) % counts.size())
        for (std::uint32_t i = 0; i < chunk && ids[node].size() < counts[node]; ++i) ids[node].push_back(next++);
    return ids;
}

Result<CreateStep> lay_out_step(const Picture& picture, JobId id, const StepSpec& spec, const Actor& actor) {
    const auto* job = picture.find_job(id);
    if (!job) return fail(refusal::invalid_job_id);
    if (!picture.may_change(actor, *job)) return fail(refusal::denied);
    if (job->is_finished() || job->is_completing()) return fail(refusal::already_done.as(ErrorCode::invalid));
    if (job->state == JobState::pending) return fail(refusal::job_pending);
    if (job->state == JobState::suspended) return fail(refusal::job_suspended);
    constexpr std::uint32_t most_tasks = 1U << 24;
    const bool is_numbered = spec.number || spec.first_task;
    if (is_numbered &&
        (!job->het_job || spec.first_task > most_tasks || spec.number.value_or(0) >= picture.policies().max_step_count))
        return fail(refusal::invalid_job_id.as(ErrorCode::invalid));
    SPUR_TRY(auto step, (Layout{picture, *job, spec}.make()));
    step.actor = actor;
    return step;
}

}  // namespace spur
