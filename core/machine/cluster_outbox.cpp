// Filling and emptying the accounting outbox.
#include <fmt/format.h>

#include <set>

#include "core/machine/cluster_ops.hpp"
#include "core/model/tres.hpp"

namespace spur {

namespace {
constexpr std::size_t most_entries = 1'000'000;  // a database gone for good must not take the controller with it

// Empty: it may be used, or nothing was heard of it yet.
std::string event_state(const Node& node) {
    if (!node.configured) return {};
    const std::string_view state = node.state == NodeState::down               ? "DOWN"
                                   : (node.flags & node_flag::drain) != 0       ? "DRAIN"
                                   : (node.flags & node_flag::fail) != 0        ? "FAIL"
                                   : (node.flags & node_flag::invalid_reg) != 0 ? "INVAL"
                                                                                : "";
    if (state.empty()) return {};
    return fmt::format("{}{}", state, (node.flags & node_flag::no_respond) != 0 ? "*" : "");
}

}

OutboxEntry& ClusterOps::post(OutboxKind kind) {
    auto& entry = c.outbox_.emplace_back(OutboxEntry{c.next_outbox_++, kind, at});
    if (c.outbox_.size() > most_entries) c.outbox_.pop_front();
    return entry;
}

void ClusterOps::post(OutboxKind kind, const Job& job, const Step* step) {
    post(kind, std::make_shared<Job>(job), step);
}

void ClusterOps::post(OutboxKind kind, std::shared_ptr<const Job> job, const Step* step) {
    auto& entry = post(kind);
    entry.job = std::move(job);
    if (step) entry.step = std::make_shared<Step>(*step);
}

void ClusterOps::post_event(const NodeEvent& event) {
    post(OutboxKind::node_event).event = std::make_shared<NodeEvent>(event);
}

void ClusterOps::post_jobs() {
    if (!keeps_outbox()) return;
    std::shared_ptr<const Job> last;  // a batch step starts with its job: one copy is enough for both
    const auto copy_of = [&](const Job& job) {
        if (!last || last->id != job.id) last = std::make_shared<Job>(job);
        return last;
    };
    for (const auto& event : events) {
        if (const auto* queued = std::get_if<JobQueued>(&event)) {
            if (const Job* found = job(queued->job); found && !queued->duplicate)
                post(OutboxKind::job_queued, *found, nullptr);
        } else if (const auto* again = std::get_if<JobRequeued>(&event)) {
            if (const Job* found = job(again->job)) post(OutboxKind::job_queued, *found, nullptr);
        } else if (const auto* started = std::get_if<JobStarted>(&event)) {
            if (const Job* found = job(started->job)) post(OutboxKind::job_started, copy_of(*found), nullptr);
        } else if (const auto* begun = std::get_if<StepStarted>(&event);
                   begun && c.state_version_ >= version_with_step_ends) {
            const Job* found = job(begun->step.job);
            const Step* step = c.find_step(begun->step);
            if (found && step) post(OutboxKind::step_started, copy_of(*found), step);
        } else if (const auto* ended = std::get_if<JobEnded>(&event)) {
            if (const Job* found = job(ended->job)) post(OutboxKind::job_ended, *found, nullptr);
        } else if (const auto* over = std::get_if<StepEnded>(&event);
                   over && c.state_version_ < version_with_step_ends) {
            const Job* found = job(over->step.job);
            const Step* step = c.find_step(over->step);
            if (found && step) post(OutboxKind::step_ended, *found, step);
        }
    }
}

bool ClusterOps::keeps_outbox() const {
    return c.policies_.keep_outbox && (c.outbox_is_read_ || c.state_version_ < version_with_outbox_readers);
}

bool ClusterOps::posts_events() const { return keeps_outbox() && c.state_version_ >= version_with_outbox_readers; }

// What is not as it was told of last: the node's state or reason, or nothing is wrong with it any more.
void ClusterOps::follow_node(const Node& node) {
    const auto state = event_state(node);
    const auto open = c.open_events_.find(node.name);
    if (open != c.open_events_.end()) {
        auto event = open->second;
        if (event.state.view() == state && event.reason == node.reason) return;
        c.open_events_.erase(open);
        event.end = at;
        if (event.start != at || state.empty()) post_event(event);
    }
    if (state.empty()) return;
    const NodeEvent event{node.name, at, 0, Text{state}, node.reason, node.reason_uid, configured_tres(node)};
    post_event(event);
    c.open_events_[node.name] = event;
}

void ClusterOps::follow_capacity() {
    TresList tres;
    for (const auto& node : c.nodes_) {
        if (!node.configured || node.state == NodeState::future) continue;
        const auto own = configured_tres(node);
        for (const auto& one : own.entries()) tres.add(one.name, one.count);
        tres.add("node", 1);
    }
    const auto open = c.open_events_.find(std::string_view{});
    if (open != c.open_events_.end()) {
        if (open->second.tres == tres) return;
        auto event = open->second;
        event.end = at;
        if (event.start != at) post_event(event);
    }
    const NodeEvent event{{}, at, 0, {}, Text{"Cluster Registered TRES"}, 0, std::move(tres)};
    post_event(event);
    c.open_events_[Text{}] = event;
}

void ClusterOps::post_edits(std::vector<AccountsChange> changes) {
    std::uint32_t number = 0;
    for (auto& change : changes) {
        change.number = ++number;
        post(OutboxKind::accounts_edited).change = std::make_shared<AccountsChange>(std::move(change));
    }
}

void ClusterOps::post_changes() {
    if (!posts_events()) return;
    bool is_all = false, is_mirror = false;
    std::set<NodeId> nodes;
    for (const auto& event : events) {
        if (const auto* node = std::get_if<NodeChanged>(&event)) nodes.insert(node->node);
        is_all |= std::holds_alternative<ConfigChanged>(event);
        is_mirror |= std::holds_alternative<AssociationsChanged>(event);
        if (const auto* changed = std::get_if<ReservationChanged>(&event)) {
            is_mirror = true;
            if (const auto* found = c.find_reservation(changed->name))
                post(OutboxKind::reservation_set).reservation = std::make_shared<Reservation>(*found);
        }
    }
    if (is_all) {
        follow_capacity();
        for (const auto& node : c.nodes_) follow_node(node);
    } else {
        for (const auto id : nodes) follow_node(c.nodes_[id.value]);
    }
    if (is_all || is_mirror) post(OutboxKind::mirror);
}

// The first of a lead, which has nothing delivered yet, is a new reader: it hears of everything that is as it is.
Result<void> ClusterOps::on(const OutboxDelivered& cmd) {
    if (c.state_version_ >= version_with_outbox_readers) c.outbox_is_read_ = true;
    while (!c.outbox_.empty() && c.outbox_.front().sequence <= cmd.sequence) c.outbox_.pop_front();
    if (cmd.sequence != 0 || !posts_events()) return {};
    follow_capacity();
    for (const auto& node : c.nodes_) follow_node(node);
    post(OutboxKind::mirror);
    return {};
}

}  // namespace spur
