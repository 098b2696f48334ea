// Nodes coming, going and being changed by hand.
#include <fmt/format.h>

#include <algorithm>

#include "core/machine/cluster_ops.hpp"

#include "core/slurm/refusal.hpp"

namespace spur {

namespace {

constexpr std::string_view silent_reason = "Not responding";
constexpr std::string_view reboot_reason = "Node unexpectedly rebooted";
constexpr std::string_view forgotten_reason = "Node lost its record of the job";

std::uint64_t count_of(const std::vector<GresPool>& pools, const Text& name) {
    std::uint64_t count = 0;
    for (const auto& pool : pools)
        if (pool.name == name) count += pool.count;
    return count;
}

// Slurm's words for what a node lacks of what its configuration promises; empty if nothing.
std::string find_shortage(const Node& node, const NodeRegistered& found) {
    if (found.topology.cores() < node.topology.cores() || found.cpus < node.cpus) {
        if (found.topology.sockets * found.topology.cores_per_socket * found.topology.threads_per_core <
            static_cast<int>(node.topology.threads()))
            return "Low socket*core*thread count, Low CPUs";
        return "Low CPUs";
    }
    if (found.memory_mib < node.memory_mib)
        return fmt::format("Low RealMemory (reported:{} < 100.00% of configured:{})", found.memory_mib,
                           node.memory_mib);
    if (found.tmp_mib < node.tmp_mib) return "Low TmpDisk";
    for (const auto& pool : node.gres) {
        if (!pool.has_devices) continue;  // a count that the configuration alone knows
        const auto reported = count_of(found.gres, pool.name);
        const auto configured = count_of(node.gres, pool.name);
        if (reported < configured)
            return fmt::format("gres/{} count reported lower than configured ({} < {})", pool.name, reported,
                               configured);
    }
    return {};
}

}  // namespace

void ClusterOps::touch(Node& node) {
    node.version = version;
    if (!events.empty())
        if (const auto* last = std::get_if<NodeChanged>(&events.back()); last && last->node == node.id) return;
    events.push_back(NodeChanged{node.id});
}

void ClusterOps::set_reason(Node& node, std::string_view reason, Uid by) {
    node.reason = Text{reason};
    node.reason_uid = by;
    node.reason_time = reason.empty() ? 0 : at;
}

void ClusterOps::fail_jobs_on(Node& node, std::string_view why) {
    const auto jobs = c.jobs_on(node.id);  // a copy: the set shrinks underway
    for (const auto id : jobs)
        if (Job* lost = job(id)) fail_on_node(*lost, node.id, why);
}

void ClusterOps::set_node_down(Node& node, std::string_view reason, Uid by) {
    node.state = NodeState::down;
    set_reason(node, reason, by);
    touch(node);
    fail_jobs_on(node, reason);
}

// ---- registration --------------------------------------------------------------------------------------------------

Result<void> ClusterOps::on(const NodeRegistered& cmd) {
    Node* node = this->node(cmd.node);
    if (!node || !node->configured) return fail(refusal::invalid_node.as(ErrorCode::not_found));
    const bool rebooted = !node->boot_id.empty() && !(node->boot_id == cmd.boot_id);
    const bool expected = node->flags & (node_flag::reboot_issued | node_flag::powering_up);
    if (rebooted) {
        fail_jobs_on(*node, reboot_reason);
        if (!expected && c.policies_.return_to_service < 2 && node->state != NodeState::unknown) {
            node->state = NodeState::down;
            set_reason(*node, reboot_reason, 0);
        }
    }
    node->boot_id = cmd.boot_id;
    node->boot_time = cmd.boot_time;
    node->start_time = cmd.start_time;
    if (!cmd.addr.empty()) node->addr = cmd.addr;
    if (!cmd.hostname.empty()) node->hostname = cmd.hostname;
    node->architecture = cmd.architecture;
    node->os = cmd.os;
    node->software_version = cmd.software_version;
    const bool forgot = !node->spool_id.empty() && !cmd.spool_id.empty() && !(node->spool_id == cmd.spool_id);
    if (!cmd.spool_id.empty()) node->spool_id = cmd.spool_id;
    node->enforced = cmd.enforced;
    node->gpu_places = cmd.gpu_places;
    node->gpu_links = cmd.gpu_links;
    // A node that was told to reboot and comes without having done so is told again.
    const bool awaits_reboot = (node->flags & node_flag::reboot_issued) && !rebooted && follows_reboots();
    node->flags &= ~(node_flag::no_respond | node_flag::powering_up | node_flag::powered_down);
    if (awaits_reboot || end_reboot(*node)) bring_back(*node, expected && rebooted);
    judge_hardware(*node, cmd);
    follow_seen(*node, cmd.seen);
    touch(*node);
    events.push_back(NodeFreed{node->id});
    // Of another history nothing is ours, whatever its number.
    const bool is_foreign = compare(c.history_, c.version_, cmd.seen) == Standing::other;
    if (is_foreign)
        for (const auto& step : cmd.held) events.push_back(EndUnknown{node->id, step.job, step.attempt, step.step});
    reconcile(*node, is_foreign ? std::vector<HeldStep>{} : cmd.held, forgot);
    return {};
}

// ---- reboots -------------------------------------------------------------------------------------------------------

bool ClusterOps::follows_reboots() const { return c.state_version_ >= version_with_reboots; }

void ClusterOps::request_reboot(Node& node, const UpdateNode& cmd) {
    const bool asap = cmd.action == NodeAction::reboot_asap;
    if (asap) node.flags |= node_flag::drain;
    if (follows_reboots()) {
        node.after_reboot = asap ? std::max(cmd.after_reboot, AfterReboot::resume) : cmd.after_reboot;
        if (!cmd.reason && asap)
            set_reason(node, "Reboot ASAP", cmd.actor.uid);
        else if (node.reason.empty())
            set_reason(node, "reboot requested", cmd.actor.uid);
    }
    node.flags |= node_flag::reboot_requested;
    issue_reboot(node);
}

// Once no job is left on it.
void ClusterOps::issue_reboot(Node& node) {
    if (!(node.flags & node_flag::reboot_requested) || !c.jobs_on(node.id).empty()) return;
    node.flags = (node.flags & ~node_flag::reboot_requested) | node_flag::reboot_issued;
    if (follows_reboots()) add_to_reason(node, "reboot issued");
    events.push_back(RebootWanted{node.id});
}

void ClusterOps::add_to_reason(Node& node, std::string_view more) {
    set_reason(node, node.reason.empty() ? std::string{more} : fmt::format("{} : {}", node.reason, more),
               node.reason_uid);
}

// The node has registered, and any reboot that was issued is over. False if it is to stay down.
bool ClusterOps::end_reboot(Node& node) {
    if (!(node.flags & node_flag::reboot_issued)) return true;
    node.flags &= ~node_flag::reboot_issued;
    const auto after = std::exchange(node.after_reboot, AfterReboot::as_before);
    if (after == AfterReboot::as_before) return true;
    node.flags &= ~node_flag::drain;
    if (after == AfterReboot::resume) return true;
    node.state = NodeState::down;
    add_to_reason(node, "reboot complete");
    return false;
}

// One that has not been issued yet. What it drained takes jobs again.
void ClusterOps::cancel_reboot(Node& node) {
    const bool was_drained_for_it =
        (node.flags & node_flag::reboot_requested) && node.after_reboot != AfterReboot::as_before;
    node.flags &= ~node_flag::reboot_requested;
    if (!was_drained_for_it) return;
    node.after_reboot = AfterReboot::as_before;
    node.flags &= ~node_flag::drain;
    set_reason(node, {}, 0);
    events.push_back(NodeFreed{node.id});
}

// Somebody has decided otherwise what becomes of the node.
void ClusterOps::forget_reboot(Node& node) {
    if (!follows_reboots()) return;
    node.flags &= ~(node_flag::reboot_requested | node_flag::reboot_issued);
    node.after_reboot = AfterReboot::as_before;
}

// Does a node that answers again serve again? ReturnToService decides.
void ClusterOps::bring_back(Node& node, bool expected) {
    const bool was_silent = node.state == NodeState::down && node.reason == silent_reason;
    const bool serves = node.state == NodeState::unknown || node.state == NodeState::future || expected ||
                        (was_silent && c.policies_.return_to_service >= 1) ||
                        (node.state == NodeState::down && c.policies_.return_to_service >= 2);
    if (!serves) return;
    if (node.state == NodeState::down || expected)
        if (!(node.flags & (node_flag::drain | node_flag::fail))) set_reason(node, {}, 0);
    node.state = NodeState::idle;
}

void ClusterOps::judge_hardware(Node& node, const NodeRegistered& found) {
    auto shortage = found.unfit.str();
    if (shortage.empty() && !c.policies_.config_overrides) shortage = find_shortage(node, found);
    if (!shortage.empty()) {
        if (!(node.flags & node_flag::drain)) set_reason(node, shortage, 0);
        node.flags |= node_flag::drain | node_flag::invalid_reg;
    } else if (node.flags & node_flag::invalid_reg) {
        node.flags &= ~(node_flag::drain | node_flag::invalid_reg);
        set_reason(node, {}, 0);
    }
}

// What the agent holds against what the state says it should: unknown things end, missing launches are sent again. One
// that forgot may have run what it does not hold: an attempt is never launched twice, so those fail or start anew.
void ClusterOps::reconcile(Node& node, const std::vector<HeldStep>& held, bool forgot) {
    std::set<std::pair<JobId, std::uint32_t>> there;
    for (const auto& step : held) {
        const Job* owner = job(step.job);
        // The same number may mean another job where the state was put back.
        const bool right = owner && owner->attempt == step.attempt && c.jobs_on(node.id).contains(step.job) &&
                           (step.start_time == 0 || step.start_time == owner->start_time);
        if (right)
            there.insert({step.job, step.attempt});
        else
            events.push_back(EndUnknown{node.id, step.job, step.attempt, step.step});
    }
    const auto jobs = c.jobs_on(node.id);  // a copy: the set shrinks underway
    for (const auto id : jobs) {
        Job* here = job(id);
        if (here == nullptr || !c.jobs_on(node.id).contains(id)) continue;  // it went with another
        if (here->is_completing())
            events.push_back(JobEnding{id, here->attempt});
        else if (there.contains({id, here->attempt}))
            continue;
        else if (forgot)
            fail_on_node(*here, node.id, forgotten_reason);
        else
            events.push_back(LaunchAgain{node.id, id, here->attempt});
    }
}

Result<void> ClusterOps::on(const NodeSilent& cmd) {
    Node* node = this->node(cmd.node);
    if (!node) return fail(refusal::invalid_node.as(ErrorCode::not_found));
    if (node->flags & node_flag::no_respond) return {};
    node->flags |= node_flag::no_respond;
    touch(*node);
    return {};
}

Result<void> ClusterOps::on(const NodeLost& cmd) {
    Node* node = this->node(cmd.node);
    if (!node) return fail(refusal::invalid_node.as(ErrorCode::not_found));
    node->flags |= node_flag::no_respond;
    const auto reason = cmd.reason.empty() ? silent_reason : cmd.reason.view();
    if (node->state == NodeState::down) {
        touch(*node);
        fail_jobs_on(*node, reason);
        return {};
    }
    if (follows_reboots() && (node->flags & node_flag::reboot_issued)) {
        add_to_reason(*node, "reboot timed out");
        set_node_down(*node, node->reason.str(), 0);
    } else {
        set_node_down(*node, reason, 0);
    }
    return {};
}

// ---- by hand -------------------------------------------------------------------------------------------------------

Result<void> ClusterOps::check_node_update(const UpdateNode& cmd) const {
    if (!cmd.actor.is_operator()) return fail(refusal::denied);
    if (cmd.nodes.empty()) return fail(refusal::invalid_node);
    for (const auto id : cmd.nodes) {
        const Node* node = c.find_node(id);
        if (!node) return fail(refusal::invalid_node);
        if (cmd.action == NodeAction::idle && node->state == NodeState::down && (node->flags & node_flag::no_respond))
            return fail(refusal::invalid_node_state);
        if (cmd.action == NodeAction::future && !c.jobs_on(id).empty()) return fail(refusal::nodes_busy);
        if (cmd.gres) {
            Node changed = *node;
            changed.gres = *cmd.gres;
            SPUR_CHECK(check_jobs_fit(std::move(changed)));
        }
        if (cmd.active_features)
            for (const auto& feature : *cmd.active_features) {
                const auto& known = cmd.features ? *cmd.features : node->features;
                if (std::ranges::find(known, feature) == known.end()) return fail(refusal::feature_not_available);
            }
    }
    return {};
}

Result<void> ClusterOps::on(const UpdateNode& cmd) {
    SPUR_CHECK(check_node_update(cmd));
    for (const auto id : cmd.nodes) {
        auto& node = *this->node(id);
        if (cmd.reason) set_reason(node, *cmd.reason, cmd.actor.uid);
        if (cmd.comment) node.comment = *cmd.comment;
        if (cmd.extra) node.extra = *cmd.extra;
        if (cmd.addr) node.addr = *cmd.addr;
        if (cmd.hostname) node.hostname = *cmd.hostname;
        if (cmd.features) node.features = node.active_features = *cmd.features;
        if (cmd.active_features) node.active_features = *cmd.active_features;
        if (cmd.weight) node.weight = *cmd.weight;
        if (cmd.gres) {
            node.gres = *cmd.gres;
            rebuild_use(node);
        }
        act_on(node, cmd.action, cmd);
        touch(node);
    }
    if (cmd.features || cmd.gres) index_nodes();
    return {};
}

void ClusterOps::act_on(Node& node, NodeAction action, const UpdateNode& cmd) {
    switch (action) {
        case NodeAction::none:
            break;
        case NodeAction::down:
            forget_reboot(node);
            set_node_down(node, cmd.reason ? cmd.reason->view() : node.reason.view(), cmd.actor.uid);
            break;
        case NodeAction::drain:
            node.flags |= node_flag::drain;
            break;
        case NodeAction::fail:
            node.flags |= node_flag::fail;
            break;
        case NodeAction::undrain:
            node.flags &= ~node_flag::drain;
            events.push_back(NodeFreed{node.id});
            break;
        case NodeAction::idle:
        case NodeAction::resume:
            forget_reboot(node);
            node.flags &= ~(node_flag::drain | node_flag::fail | node_flag::invalid_reg | node_flag::reboot_requested |
                            node_flag::powered_down | node_flag::power_down);
            if (node.state == NodeState::down) node.state = NodeState::idle;
            if (!cmd.reason) set_reason(node, {}, 0);
            events.push_back(NodeFreed{node.id});
            break;
        case NodeAction::future:
            node.state = NodeState::future;
            break;
        case NodeAction::reboot:
        case NodeAction::reboot_asap:
            request_reboot(node, cmd);
            break;
        case NodeAction::cancel_reboot:
            cancel_reboot(node);
            break;
        case NodeAction::reboot_issued:
            node.flags = (node.flags & ~node_flag::reboot_requested) | node_flag::reboot_issued;
            break;
        case NodeAction::power_down:
            node.flags |= node_flag::power_down;
            break;
        case NodeAction::power_up:
            node.flags = (node.flags & ~(node_flag::power_down | node_flag::powered_down)) | node_flag::powering_up;
            break;
    }
}

}  // namespace spur
