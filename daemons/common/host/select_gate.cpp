// A table of functions that stand in for select's own. `self` and the cycle a planner holds are both the gate's
// address.
#include "daemons/common/host/select_gate.hpp"

#include <cstddef>

namespace spur::host {

struct SelectGate::Calls {
    static SelectGate& of(const void* handle) {
        return *const_cast<SelectGate*>(static_cast<const SelectGate*>(handle));
    }

    // One counted call of select's op at `offset`; an exception becomes `broken`.
    template <class Answer, class Run>
    static Answer counted(SelectGate& gate, std::size_t offset, CallHint hint, Answer broken, const Run& run) noexcept {
        auto& select = *gate.select_;
        const auto& op = select.op(static_cast<std::uint32_t>(offset));
        auto& counter = select.counter(static_cast<std::uint32_t>(offset));
        const auto before = ticks_now();
        try {
            const Frame frame{select.name(), op.name, Role::cycle, hint};
            const Answer answer = run();
            counter.record_alone(ticks_now() - before, false);
            return answer;
        } catch (...) {
            counter.record_alone(ticks_now() - before, true);
            try {
                select.services().report_violation(select.thrown(op).text);
            } catch (...) {
            }
            return broken;
        }
    }
    template <class Run>
    static void counted(SelectGate& gate, std::size_t offset, const Run& run) noexcept {
        counted(gate, offset, CallHint{}, 0, [&] { return run(), 0; });
    }
    static CallHint job_hint(const SelectGate& gate, std::uint32_t slot) {
        if (gate.view_ == nullptr || slot >= gate.view_->pending.count) return {};
        return {"job", SPUR_AT(spur_job_view, gate.view_->pending, slot)->id};
    }

    static spur_status begin(spur_plugin* self, const spur_cluster_view* view, spur_select_cycle** out,
                             spur_error* err) noexcept {
        auto& gate = of(self);
        if (!gate.admits("begin") || view == nullptr || out == nullptr || gate.cycle_ != nullptr) return SPUR_E_INVALID;
        const auto status = counted(gate, offsetof(spur_select_ops, begin), {}, SPUR_E_INTERNAL,
                                    [&] { return gate.real_->begin(gate.select_->self(), view, &gate.cycle_, err); });
        if (status != SPUR_OK) gate.cycle_ = nullptr;
        gate.view_ = view;
        if (gate.cycle_ != nullptr) *out = reinterpret_cast<spur_select_cycle*>(&gate);
        return status;
    }
    static void end(spur_plugin* self, spur_select_cycle*) noexcept {
        auto& gate = of(self);
        if (!gate.admits("end") || gate.cycle_ == nullptr) return;
        counted(gate, offsetof(spur_select_ops, end), [&] { gate.real_->end(gate.select_->self(), gate.cycle_); });
        gate.cycle_ = nullptr;
    }
    static bool is_in_cycle(SelectGate& gate, const char* function) {
        return gate.admits(function) && gate.cycle_ != nullptr;
    }

    static std::uint32_t slots(spur_select_cycle* cycle) noexcept {
        auto& gate = of(cycle);
        if (!is_in_cycle(gate, "slots")) return 0;
        return counted(gate, offsetof(spur_select_ops, slots), {}, 0U, [&] { return gate.real_->slots(gate.cycle_); });
    }
    static spur_status copy(spur_select_cycle* cycle, std::uint32_t from, std::uint32_t to) noexcept {
        auto& gate = of(cycle);
        if (!is_in_cycle(gate, "copy")) return SPUR_E_INVALID;
        return counted(gate, offsetof(spur_select_ops, copy), {}, SPUR_E_INTERNAL,
                       [&] { return gate.real_->copy(gate.cycle_, from, to); });
    }
    static void take(spur_select_cycle* cycle, std::uint32_t slot, const spur_placement* placement,
                     std::uint32_t flags) noexcept {
        auto& gate = of(cycle);
        if (is_in_cycle(gate, "take"))
            counted(gate, offsetof(spur_select_ops, take),
                    [&] { gate.real_->take(gate.cycle_, slot, placement, flags); });
    }
    static void give(spur_select_cycle* cycle, std::uint32_t slot, const spur_placement* placement,
                     std::uint32_t flags) noexcept {
        auto& gate = of(cycle);
        if (is_in_cycle(gate, "give"))
            counted(gate, offsetof(spur_select_ops, give),
                    [&] { gate.real_->give(gate.cycle_, slot, placement, flags); });
    }
    static spur_status pick(spur_select_cycle* cycle, const spur_pick* pick, spur_placement* out) noexcept {
        auto& gate = of(cycle);
        if (!is_in_cycle(gate, "pick") || pick == nullptr) return SPUR_E_INVALID;
        return counted(gate, offsetof(spur_select_ops, pick), job_hint(gate, pick->job), SPUR_E_INTERNAL,
                       [&] { return gate.real_->pick(gate.cycle_, pick, out); });
    }
    static void screen(spur_select_cycle* cycle, std::uint32_t slot, const std::uint32_t* jobs, std::uint32_t count,
                       spur_status* verdicts) noexcept {
        auto& gate = of(cycle);
        if (is_in_cycle(gate, "screen"))
            counted(gate, offsetof(spur_select_ops, screen),
                    [&] { gate.real_->screen(gate.cycle_, slot, jobs, count, verdicts); });
    }
    static void idle_nodes(spur_select_cycle* cycle, std::uint32_t slot, std::uint64_t* words) noexcept {
        auto& gate = of(cycle);
        if (is_in_cycle(gate, "idle_nodes"))
            counted(gate, offsetof(spur_select_ops, idle_nodes),
                    [&] { gate.real_->idle_nodes(gate.cycle_, slot, words); });
    }
    static spur_status explain(spur_select_cycle* cycle, const spur_pick* pick, const spur_sink* text) noexcept {
        auto& gate = of(cycle);
        if (!is_in_cycle(gate, "explain") || pick == nullptr) return SPUR_E_INVALID;
        return counted(gate, offsetof(spur_select_ops, explain), job_hint(gate, pick->job), SPUR_E_INTERNAL,
                       [&] { return gate.real_->explain(gate.cycle_, pick, text); });
    }
};

SelectGate::SelectGate() : selector_{sizeof(selector_), 0, &table_, reinterpret_cast<spur_plugin*>(this)} {}

void SelectGate::open(Instance& select, Instance& sched) {
    select_ = &select;
    sched_.store(&sched);
    real_ = static_cast<const spur_select_ops*>(select.ops());
    thread_.store(std::this_thread::get_id());
    const auto has = [&](std::size_t offset) { return select.find_op(static_cast<std::uint32_t>(offset)) != nullptr; };
    table_ = {sizeof(table_),
              0,
              real_->understands,
              Calls::begin,
              Calls::end,
              Calls::slots,
              Calls::copy,
              Calls::take,
              Calls::give,
              Calls::pick,
              has(offsetof(spur_select_ops, screen)) ? Calls::screen : nullptr,
              has(offsetof(spur_select_ops, idle_nodes)) ? Calls::idle_nodes : nullptr,
              has(offsetof(spur_select_ops, explain)) ? Calls::explain : nullptr};
    is_open_.store(true);
}

void SelectGate::close() {
    if (cycle_ != nullptr) {
        sched_.load()->services().report_violation("plan() returned without end() for the select cycle it had begun");
        Calls::end(selector_.self, nullptr);
    }
    view_ = nullptr;
    is_open_.store(false);
}

bool SelectGate::admits(const char* function) {
    const bool is_ours = thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
    if (is_ours && is_open_.load(std::memory_order_relaxed)) return true;
    if (auto* const sched = sched_.load())
        sched->services().report_violation(
            fmt::format("select's {}() was called {}", function,
                        is_ours ? "after plan() had returned" : "from another thread than plan()'s"));
    return false;
}

}  // namespace spur::host
