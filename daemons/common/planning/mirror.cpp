// The tables of the mirror and their upkeep: slots of jobs, interned names, sort order.
#include "daemons/common/planning/mirror.hpp"

#include <algorithm>
#include <utility>

#include "daemons/common/planning/mirror_parts.hpp"

namespace spur::planning {

namespace {

bool before(std::uint64_t priority_a, std::uint32_t id_a, std::uint64_t priority_b, std::uint32_t id_b) {
    return priority_a != priority_b ? priority_a > priority_b : id_a < id_b;
}

}  // namespace

// ---- slots ---------------------------------------------------------------------------------------------------------

std::uint32_t JobTable::claim(JobId id) {
    if (const auto found = slots_.find(id); found != slots_.end()) return found->second;
    std::uint32_t slot = 0;
    if (free_.empty()) {
        slot = static_cast<std::uint32_t>(views_.size());
        views_.emplace_back();
        backings_.push_back(std::make_unique<JobBacking>());
    } else {
        slot = free_.back();
        free_.pop_back();
    }
    slots_.emplace(id, slot);
    return slot;
}

void JobTable::release(JobId id) {
    const auto found = slots_.find(id);
    if (found == slots_.end()) return;
    views_[found->second] = {};
    *backings_[found->second] = {};
    free_.push_back(found->second);
    slots_.erase(found);
}

std::uint32_t JobTable::find(JobId id) const {
    const auto found = slots_.find(id);
    return found == slots_.end() ? SPUR_NONE : found->second;
}

spur_span JobTable::span() const { return span_of(views_); }

void JobTable::clear() {
    views_.clear();
    backings_.clear();
    free_.clear();
    slots_.clear();
}

// ---- numbers for names ---------------------------------------------------------------------------------------------

std::uint32_t Mirror::Interned::number(std::string_view text) {
    const auto [found, is_new] = numbers.try_emplace(std::string{text}, static_cast<std::uint32_t>(texts.size()));
    if (is_new) texts.emplace_back(text);
    return found->second;
}

void Mirror::Interned::refresh() {
    views.clear();
    for (const auto& text : texts) views.push_back(str(text));
}

// ---- keeping up ----------------------------------------------------------------------------------------------------

void Mirror::update(const std::shared_ptr<const ReadModel>& model, const Changes& changes) {
    model_ = model;
    if (changes.everything) return rebuild();
    if (changes.directory) {
        update_directory();
        refresh_references();
    }
    for (const auto id : changes.nodes)
        if (const auto& node = model_->nodes.get(id.value)) update_node(*node);
    for (const auto id : changes.jobs) update_job(id);
    for (const auto id : changes.forgotten) update_job(id);
}

void Mirror::rebuild() {
    changes_complete_ = false;
    order_dirty_ = running_dirty_ = true;
    pending_.clear();
    running_.clear();
    placed_.clear();
    to_place_.clear();
    owners_.clear();
    unscored_.clear();
    filters_.clear();
    array_slots_.clear();
    not_yet_.clear();
    without_node_.clear();
    misunderstood_.clear();
    node_views_.clear();
    node_backings_.clear();
    node_classes_.clear();
    gres_types_.number("");
    alarms_.clear();
    model_->nodes.for_each([&](std::uint32_t, const std::shared_ptr<const Node>& node) { update_node(*node); });
    update_switches();
    update_directory();
    model_->jobs.for_each([&](std::uint32_t id, const auto&) { update_job(JobId{id}); });
}

// Indexes into tables that were made anew.
void Mirror::refresh_references() {
    for (auto* table : {&pending_, &running_})
        table->for_each([&](std::uint32_t slot) {
            auto& backing = table->backing(slot);
            fill_references(*backing.job, backing, table->view(slot));
        });
}

void Mirror::update_job(JobId id) {
    const auto& job = model_->jobs.get(id.value);
    // Those that may not start yet are scored like the others, for all to see, but no planner is shown them.
    const bool waits = job && job->is_pending() && job->hold == Hold::none;
    const bool runs = job && (job->is_active() || job->is_completing()) && job->allocation;
    if (const auto slot = pending_.find(id); !waits && slot != SPUR_NONE) {
        pending_.release(id);
        if (slot < owners_.size()) owners_[slot] = {};
        array_slots_.erase(slot);
        without_node_.erase(slot);
        misunderstood_.erase(slot);
        if (not_yet_.erase(slot) == 0) gone_pending_.push_back(slot);
        order_dirty_ = true;
    }
    if (const auto slot = running_.find(id); !runs && slot != SPUR_NONE) {
        running_.release(id);
        gone_running_.push_back(slot);
        running_dirty_ = true;
    }
    if (waits) {
        const bool is_new = pending_.find(id) == SPUR_NONE;
        const auto slot = pending_.claim(id);
        const auto& held = pending_.backing(slot).job;
        // Reasons and expected starts come from us: they change nothing a planner looks at.
        const bool same_request = !is_new && held->spec == job->spec && held->task_count() == job->task_count() &&
                                  held->time_limit_min == job->time_limit_min && held->priority == job->priority &&
                                  held->association == job->association && held->eligible == job->eligible &&
                                  held->accrue_time == job->accrue_time && !job->is_array_record();
        if (same_request) {
            pending_.backing(slot).job = job;
            return;
        }
        pending_.backing(slot).job = job;
        fill_request(*job, slot, pending_);
        unscored_.push_back(slot);
        const auto& filter = pending_.backing(slot).filter;
        const bool lacks_node = job->eligible && filter && !filter->missing.empty();
        const bool is_unknown = job->eligible && (pending_.view(slot).wishes & ~understood_) != 0;
        const auto note = [slot](std::set<std::uint32_t>& set, bool is_in) {
            is_in ? void(set.insert(slot)) : void(set.erase(slot));
        };
        note(without_node_, lacks_node);
        note(misunderstood_, is_unknown);
        if (!job->eligible || lacks_node || is_unknown) {
            if (not_yet_.insert(slot).second && !is_new) gone_pending_.push_back(slot);
            array_slots_.erase(slot);
            return;
        }
        not_yet_.erase(slot);
        new_pending_.push_back(slot);
        if (job->array_job) array_slots_.insert(slot);
    }
    if (runs) {
        const auto slot = running_.claim(id);
        running_.backing(slot).job = job;
        fill_request(*job, slot, running_);
        fill_shares(*job, running_.backing(slot), running_.view(slot));
        new_running_.push_back(slot);
        running_dirty_ = true;
    }
}

// ---- order ---------------------------------------------------------------------------------------------------------

void Mirror::place(std::uint32_t slot, std::uint64_t priority) {
    auto& view = pending_.view(slot);
    view.priority = priority;
    if (const auto least = pending_.backing(slot).min_priority; least != 0) {
        const auto flags = priority < least ? view.flags | SPUR_JOB_NO_RESERVE : view.flags & ~SPUR_JOB_NO_RESERVE;
        if (std::exchange(view.flags, flags) != flags && !not_yet_.contains(slot)) new_pending_.push_back(slot);
    }
    if (owners_.size() <= slot) owners_.resize(slot + 1);
    owners_[slot] = {priority, view.id};
    to_place_.push_back({priority, view.id, slot});
    order_dirty_ = true;
}

void Mirror::rescore_all() {
    unscored_.clear();
    pending_.for_each([&](std::uint32_t slot) { unscored_.push_back(slot); });
    placed_.clear();
    to_place_.clear();
    owners_.clear();
}

void Mirror::sort_orders() {
    if (order_dirty_) sort_pending();
    if (running_dirty_) sort_running();
    order_dirty_ = running_dirty_ = false;
}

void Mirror::sort_pending() {
    const auto less = [](const Placed& a, const Placed& b) { return before(a.priority, a.id, b.priority, b.id); };
    std::ranges::sort(to_place_, less);
    merged_.clear();
    merged_.reserve(placed_.size() + to_place_.size());
    std::ranges::merge(placed_, to_place_, std::back_inserter(merged_), less);
    to_place_.clear();
    // What left, moved or was placed twice is dropped here: only the entry that matches the slot's present owner stays.
    placed_.clear();
    pending_order_.clear();
    for (const auto& entry : merged_) {
        if (entry.slot >= owners_.size()) continue;
        const auto& owner = owners_[entry.slot];
        if (owner.id != entry.id || owner.priority != entry.priority) continue;
        if (!placed_.empty() && placed_.back().slot == entry.slot) continue;
        placed_.push_back(entry);
        if (not_yet_.contains(entry.slot)) continue;
        if (at_array_limit_.empty() || !std::ranges::binary_search(at_array_limit_, entry.slot))
            pending_order_.push_back(entry.slot);
    }
}

void Mirror::sort_running() {
    struct Ending {
        std::int64_t ends;
        std::uint32_t id, slot;
        auto operator<=>(const Ending&) const = default;
    };
    std::vector<Ending> order;
    order.reserve(running_.size());
    running_.for_each([&](std::uint32_t slot) {
        const auto& view = running_.view(slot);
        order.push_back({view.ends, view.id, slot});
    });
    std::ranges::sort(order);
    running_order_.clear();
    for (const auto& one : order) running_order_.push_back(one.slot);
}

// A task that ends or starts changes what the array's other records may do, though they themselves stay as they are.
void Mirror::apply_array_limits() {
    at_array_limit_.clear();
    for (const auto slot : array_slots_) {
        auto& view = pending_.view(slot);
        const auto& job = *pending_.backing(slot).job;
        const auto may_start = startable_tasks(job);
        if (may_start == 0) at_array_limit_.push_back(slot);
        if (may_start == view.array_tasks) continue;
        if (may_start == 0 || view.array_tasks == 0) order_dirty_ = true;
        view.array_tasks = may_start;
        (may_start == 0 ? gone_pending_ : new_pending_).push_back(slot);
    }
    std::ranges::sort(at_array_limit_);
}

UnixSeconds Mirror::next_alarm(UnixSeconds now) {
    while (!alarms_.empty() && *alarms_.begin() <= now) alarms_.erase(alarms_.begin());
    return alarms_.empty() ? 0 : *alarms_.begin();
}

void Mirror::end_cycle() {
    for (auto* list : {&changed_nodes_, &new_pending_, &new_running_, &gone_pending_, &gone_running_}) list->clear();
    changes_complete_ = true;
    seen_number_ = view_.number;
}

// Licences are taken and given back by jobs, and the directory they are listed in is not made anew for each of those.
void Mirror::count_licenses() {
    if (license_views_.empty()) return;
    for (auto& license : license_views_) license.used = 0;
    running_.for_each([&](std::uint32_t slot) {
        for (const auto& held : running_.backing(slot).job->allocation->licenses)
            if (const auto at = std::ranges::find(license_names_, held.name.view()); at != license_names_.end())
                license_views_[static_cast<std::size_t>(at - license_names_.begin())].used += held.count;
    });
}

const spur_cluster_view& Mirror::view(UnixSeconds now) {
    apply_array_limits();
    count_licenses();
    sort_orders();
    features_.refresh();
    gres_names_.refresh();
    gres_types_.refresh();
    change_record_ = {.size = sizeof(spur_view_changes),
                      .complete = changes_complete_ ? 1U : 0U,
                      .since = seen_number_,
                      .nodes = span_of(changed_nodes_),
                      .new_pending = span_of(new_pending_),
                      .new_running = span_of(new_running_),
                      .gone_pending = span_of(gone_pending_),
                      .gone_running = span_of(gone_running_)};
    const auto number = view_.number + 1;
    view_ = {.size = sizeof(spur_cluster_view),
             .reserved = 0,
             .number = number,
             .now = now,
             .nodes = span_of(node_views_),
             .pending = pending_.span(),
             .pending_order = span_of(pending_order_),
             .running = running_.span(),
             .running_order = span_of(running_order_),
             .partitions = span_of(partition_views_),
             .reservations = span_of(reservation_views_),
             .licenses = span_of(license_views_),
             .qos = span_of(qos_views_),
             .associations = span_of(association_views_),
             .groups = span_of(switch_views_),
             .features = span_of(features_.views),
             .gres_names = span_of(gres_names_.views),
             .gres_types = span_of(gres_types_.views),
             .changes = changes_complete_ ? &change_record_ : nullptr};
    return view_;
}

}  // namespace spur::planning
