// Live reconfiguration: make and check everything new, then swap, then end what was replaced.
#include <algorithm>

#include "daemons/common/host/host.hpp"
#include "daemons/common/host/options.hpp"
#include "daemons/common/host/secrets.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

constexpr std::chrono::seconds patience{2};

// Lines do not count: moving a section is no change.
bool is_same(const std::vector<ConfigOption>& a, const std::vector<ConfigOption>& b) {
    const auto find = [](const auto& all, const std::string& key) {
        return std::ranges::find_if(all, [&](const auto& option) { return option.key == key; });
    };
    return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& option) {
               const auto other = find(b, option.key);
               return other != b.end() && other->value == option.value;
           });
}

bool has_same_options(const Instance& now, const Config& config) {
    return is_same(now.options(), options_for(config, now.type())) && now.secrets() == secret_stamp(now.options());
}

// The same plugin may be open twice: its mistake is one.
void complain(std::string& mistakes, const std::string& sentence) {
    if (mistakes.contains(sentence)) return;
    mistakes += (mistakes.empty() ? "" : "\n") + sentence;
}

}  // namespace

void PluginHost::retire(Instance* instance) {
    if (instance->retire(patience)) return;
    leaving_.push_back(instance);
    sweep_later();
}

void PluginHost::sweep_later() {
    constexpr std::int64_t pause_ns = 200'000'000;
    const auto again = [](void* self) {
        auto& host = *static_cast<PluginHost*>(self);
        const std::lock_guard lock{host.main_};
        host.sweep();
        if (!host.leaving_.empty()) host.sweep_later();
    };
    executor_->post_after(janitor_, pause_ns, again, nullptr, this, nullptr);
}

void PluginHost::sweep() {
    std::erase_if(leaving_, [](Instance* instance) { return instance->retire(std::chrono::milliseconds{0}); });
}

void PluginHost::plan_swap(Slot& slot, const Config& config, std::vector<Swap>& swaps, std::string& mistakes) {
    auto* const now = slot.current();
    bool configured = false;
    const auto wanted = choices(slot.axis(), config, configured);
    // What is in force may be a later choice, or the stand-in for a quarantined one: it stays while it is among the
    // choices.
    const bool keeps_type = !wanted.empty() && (now->type() == wanted.front() || is_in_quarantine(wanted.front()));
    const bool keeps_options = has_same_options(*now, config);
    if (keeps_type && keeps_options) return;
    const auto& target = keeps_type ? now->type() : wanted.front();
    Change change{slot.axis().name, now->type(), target, keeps_type ? "options" : "plugin"};
    if (!slot.axis().swaps_live) {
        change.what = "restart needed";
        swaps.push_back({&slot, nullptr, std::move(change)});
        return;
    }
    auto fresh =
        keeps_type ? make(slot.axis(), target, config, slot.prepare) : make_first(slot.axis(), config, slot.prepare);
    if (!fresh) return complain(mistakes, fresh.error().text);
    if (!keeps_type && (*fresh)->type() == now->type() && keeps_options)
        return retire(*fresh);  // still the second choice
    change.to = (*fresh)->type();
    swaps.push_back({&slot, *fresh, std::move(change)});
}

void PluginHost::plan_group(const AxisInfo& axis, const Config& config, std::vector<Swap>& swaps,
                            std::string& mistakes) {
    bool configured = false;
    const auto wanted = choices(axis, config, configured);
    std::vector<std::string> present;
    for (auto* const slot : group_slots(axis)) {
        auto* const now = slot->current();
        if (now == nullptr) continue;
        const auto& type = now->type();
        present.push_back(type);
        if (std::ranges::find(wanted, type) == wanted.end()) {
            swaps.push_back({slot, nullptr, {axis.name, type, {}, "removed"}});
            continue;
        }
        if (has_same_options(*now, config)) continue;
        auto fresh = make(axis, type, config, {});
        if (fresh)
            swaps.push_back({slot, *fresh, {axis.name, type, type, "options"}});
        else
            complain(mistakes, fresh.error().text);
    }
    for (const auto& type : wanted) {
        if (std::ranges::find(present, type) != present.end()) continue;
        auto fresh = make(axis, type, config, {});
        if (!fresh && !configured) continue;  // a default that this machine has no use for
        if (!fresh) {
            complain(mistakes, fresh.error().text);
            continue;
        }
        members_.push_back({std::make_unique<Slot>(axis), true});  // empty until the swap
        swaps.push_back({members_.back().slot.get(), *fresh, {axis.name, {}, type, "added"}});
    }
}

Result<std::vector<Change>> PluginHost::reconfigure(const Config& config) {
    const std::lock_guard lock{main_};
    sweep();
    std::vector<Swap> swaps;
    std::string mistakes;
    for (const auto& member : members_)
        if (!member.in_group && member.slot->current() != nullptr) plan_swap(*member.slot, config, swaps, mistakes);
    for (const auto* const axis : groups_) plan_group(*axis, config, swaps, mistakes);

    if (!mistakes.empty()) {
        for (const auto& swap : swaps)
            if (swap.fresh != nullptr) retire(swap.fresh);
        return fail(ErrorCode::invalid, "{}", mistakes);
    }
    std::vector<Change> changes;
    std::vector<Instance*> replaced;
    for (auto& swap : swaps) {
        if (swap.change.what == "restart needed") {
            log::warning("{}: the change from {} to {} takes effect when {} is restarted", swap.change.axis,
                         swap.change.from, swap.change.to, options_.program);
        } else {
            if (auto* const old = swap.slot->exchange(swap.fresh)) replaced.push_back(old);
            log::info("{}: {} {} -> {}", swap.change.axis, swap.change.what,
                      swap.change.from.empty() ? "-" : swap.change.from, swap.change.to.empty() ? "-" : swap.change.to);
        }
        changes.push_back(std::move(swap.change));
    }
    for (const auto* const axis : groups_) {
        const auto before = group_slots(*axis);
        order_group(*axis, config);
        if (const auto after = group_slots(*axis); before != after && std::ranges::is_permutation(before, after)) {
            log::info("{}: the order is another now", axis->name);
            changes.push_back({axis->name, {}, {}, "order"});
        }
    }
    for (auto* const old : replaced) retire(old);
    note_changed_files(changes);
    return changes;
}

// Code is never unmapped, so what was loaded stays in force whatever the file holds by now.
void PluginHost::note_changed_files(std::vector<Change>& changes) const {
    for (const auto& member : members_) {
        const auto* const now = member.slot->current();
        const auto what = now == nullptr ? std::string{} : find_change(now->library(), options_.program);
        if (what.empty()) continue;
        Change change{member.slot->axis().name, now->type(), now->type(), "file changed"};
        if (std::ranges::find(changes, change) != changes.end()) continue;
        log::warning("plugin {}: {} {}", now->type(), now->library().name.native(), what);
        changes.push_back(std::move(change));
    }
}

}  // namespace spur::host
