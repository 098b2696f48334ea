// How a daemon holds a plugin: Bound<Axis> is the axis, whoever serves it at the moment; Pin<Axis> is one instance of
// it, kept for as long as the pin lives. A call through either is counted, named in crash reports, and cannot throw.
//
//   SPUR_TRY(auto verdict, sched.call(&spur_sched_ops::plan, &view, &selector, &sink));
//
// `self` is put in front where the op takes one; a spur_error is put at the end where the op takes one and the caller
// gave none. A negative status becomes an Error with the plugin's sentence; verdicts come back as they are.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/base/result.hpp"
#include "daemons/common/host/crash.hpp"
#include "daemons/common/host/frame.hpp"
#include "daemons/common/host/instance.hpp"

namespace spur::host {

// An axis of a running daemon: the instance in force, replaced as a whole by reconfiguration. Owned by the PluginHost.
class Slot {
public:
    explicit Slot(const AxisInfo& axis) : axis_{&axis} {}
    const AxisInfo& axis() const { return *axis_; }

    // The instance in force, entered. It may be replaced before it is entered: then look again. Nothing is
    // ever freed, so a stale pointer does no harm.
    Instance* pin() const noexcept {
        for (;;) {
            auto* const instance = current_.load();
            if (instance == nullptr) return nullptr;
            instance->enter();
            if (current_.load() == instance) return instance;
            instance->leave();
        }
    }
    Instance* current() const noexcept { return current_.load(); }
    Instance* exchange(Instance* fresh) noexcept { return current_.exchange(fresh); }

    // Run on every new instance before it is put in force.
    std::function<Result<void>(Instance&)> prepare;

private:
    const AxisInfo* axis_;
    std::atomic<Instance*> current_{nullptr};
};

namespace detail {

template <class T>
struct OpType;
template <class R, class... Params>
struct OpType<R (*)(Params...)> {
    using Answer = R;
    static constexpr std::size_t arity = sizeof...(Params);
    static constexpr bool takes_self = [] {
        if constexpr (arity == 0)
            return false;
        else
            return std::is_same_v<std::tuple_element_t<0, std::tuple<Params...>>, spur_plugin*>;
    }();
    static constexpr bool takes_error = [] {
        if constexpr (arity == 0)
            return false;
        else
            return std::is_same_v<std::tuple_element_t<arity - 1, std::tuple<Params...>>, spur_error*>;
    }();
};

}  // namespace detail

template <class Axis>
class Pin {
public:
    using Ops = typename Axis::Ops;

    Pin() = default;
    explicit Pin(Instance* entered) : instance_{entered} {}
    Pin(Pin&& other) noexcept : instance_{std::exchange(other.instance_, nullptr)} {}
    Pin& operator=(Pin&& other) noexcept {
        std::swap(instance_, other.instance_);
        return *this;
    }
    ~Pin() {
        if (instance_ != nullptr) instance_->leave();
    }
    explicit operator bool() const { return instance_ != nullptr; }

    Instance& instance() const { return *instance_; }
    const std::string& type() const { return instance_->type(); }
    const Ops& ops() const { return *static_cast<const Ops*>(instance_->ops()); }
    spur_plugin* self() const { return instance_->self(); }

    template <class Fn>
    bool can(Fn Ops::*op) const {
        return instance_->find_op(offset_of(op)) != nullptr;
    }

    template <class Fn, class... Args>
    auto call(Fn Ops::*op, Args&&... args) const {
        return call(CallHint{}, op, std::forward<Args>(args)...);
    }

    template <class Fn, class... Args>
    auto call(CallHint hint, Fn Ops::*op, Args&&... args) const -> Result<typename detail::OpType<Fn>::Answer> {
        using Op = detail::OpType<Fn>;
        constexpr auto given = sizeof...(Args) + (Op::takes_self ? 1 : 0);
        constexpr bool adds_error = Op::takes_error && given + 1 == Op::arity;
        static_assert(given + (adds_error ? 1 : 0) == Op::arity, "wrong number of arguments for this op");

        const auto offset = offset_of(op);
        const auto& info = instance_->op(offset);
        const auto function = reinterpret_cast<Fn>(const_cast<void*>(instance_->find_op(offset)));
        if (function == nullptr) return std::unexpected(instance_->missing(info));
        spur_error error;
        if constexpr (adds_error) {
            error.size = sizeof(error);
            error.code = SPUR_OK;
            error.text[0] = '\0';
        }
        const auto run = [&]() -> typename Op::Answer {
            if constexpr (Op::takes_self && adds_error)
                return function(self(), std::forward<Args>(args)..., &error);
            else if constexpr (Op::takes_self)
                return function(self(), std::forward<Args>(args)...);
            else if constexpr (adds_error)
                return function(std::forward<Args>(args)..., &error);
            else
                return function(std::forward<Args>(args)...);
        };
        const spur_error* told = nullptr;
        if constexpr (adds_error)
            told = &error;
        else if constexpr (Op::takes_error)
            told = std::get<sizeof...(Args) - 1>(std::forward_as_tuple(args...));
        return guarded<typename Op::Answer>(hint, offset, info, told, run);
    }

private:
    template <class Fn>
    static std::uint32_t offset_of(Fn Ops::*op) {
        static constexpr Ops table{};
        return static_cast<std::uint32_t>(reinterpret_cast<const char*>(&(table.*op)) -
                                          reinterpret_cast<const char*>(&table));
    }

    template <class Answer, class Run>
    Result<Answer> guarded(CallHint hint, std::uint32_t offset, const OpInfo& info, const spur_error* told,
                           const Run& run) const {
        const bool checks = info.role == Role::cycle && instance_->checks_roles();
        if (checks) instance_->begin_cycle_call(info);
        arm_this_thread();
        bool failed = true;
        Result<Answer> result{std::unexpect};
        const auto before = ticks_now();
        auto& counter = instance_->counter(offset);
        counter.begin(before);
        try {
            const Frame frame{instance_->name(), info.name, info.role, hint};
            if constexpr (std::is_void_v<Answer>) {
                run();
                result = {};
                failed = false;
            } else {
                result = run();
                failed = false;
            }
        } catch (...) {
            result = std::unexpected(instance_->thrown(info));
        }
        const auto took = ticks_now() - before;
        if constexpr (std::is_same_v<Answer, spur_status>) {
            if (!failed && *result < 0) {
                failed = true;
                static constexpr spur_error silent{};
                result = std::unexpected(instance_->failure(info, *result, told != nullptr ? *told : silent));
            }
        }
        counter.record(took, failed);
        if (checks) instance_->end_cycle_call();
        return result;
    }

    Instance* instance_{nullptr};
};

template <class Axis>
class Bound {
public:
    using Ops = typename Axis::Ops;
    Bound() = default;
    explicit Bound(Slot* slot) : slot_{slot} {}
    explicit operator bool() const { return slot_ != nullptr && slot_->current() != nullptr; }

    Pin<Axis> pin() const { return Pin<Axis>{slot_ == nullptr ? nullptr : slot_->pin()}; }
    std::string type() const {
        const auto pinned = pin();
        return pinned ? pinned.type() : std::string{};
    }
    template <class Fn>
    bool can(Fn Ops::*op) const {
        const auto pinned = pin();
        return pinned && pinned.can(op);
    }
    template <class Fn, class... Args>
    auto call(Fn Ops::*op, Args&&... args) const {
        return call(CallHint{}, op, std::forward<Args>(args)...);
    }
    template <class Fn, class... Args>
    auto call(CallHint hint, Fn Ops::*op, Args&&... args) const -> Result<typename detail::OpType<Fn>::Answer> {
        const auto pinned = pin();
        if (!pinned) return fail(ErrorCode::unavailable, "no {} plugin is in force", Axis::info.name);
        return pinned.call(hint, op, std::forward<Args>(args)...);
    }

private:
    Slot* slot_{nullptr};
};

}  // namespace spur::host
