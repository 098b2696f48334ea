// Which plugin this thread is inside of right now, in which op, for which job: what a crash report and the checks of
// thread roles read. A frame lives on the stack around one call; frames nest when one plugin calls another (sched asks
// select).
#pragma once

#include <cstdint>
#include <string_view>

namespace spur::host {

enum class Role : std::uint8_t { any, main, cycle, worker };
std::string_view to_string(Role role);  // "cycle-thread"

// What a call is about, for the crash report: {"job", 12}. `noun` is a literal.
struct CallHint {
    const char* noun{nullptr};
    std::uint64_t number{};
};

class Frame {
public:
    // `plugin` and `op` are terminated and outlive the frame: a signal handler reads them.
    Frame(const char* plugin, const char* op, Role role, CallHint hint = {}) noexcept
        : plugin_{plugin}, op_{op}, hint_{hint}, role_{role}, outer_{top_} {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        top_ = this;
    }
    ~Frame() { top_ = outer_; }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    const char* plugin() const { return plugin_; }
    const char* op() const { return op_; }
    CallHint hint() const { return hint_; }
    Role role() const { return role_; }
    const Frame* outer() const { return outer_; }
    void set_hint(CallHint hint) { hint_ = hint; }

    static Frame* top() noexcept { return top_; }  // of this thread; nullptr outside of plugins
    // The innermost frame of this thread that belongs to `plugin`, compared by address.
    static const Frame* find(const char* plugin) noexcept;

private:
    const char* plugin_;
    const char* op_;
    CallHint hint_;
    Role role_;
    Frame* outer_;
    static inline constinit thread_local Frame* top_ = nullptr;
};

// The call in progress on this thread is now working on this: kept up to date by sinks as a planner goes through its
// jobs.
inline void note(CallHint hint) noexcept {
    if (auto* const frame = Frame::top()) frame->set_hint(hint);
}

}  // namespace spur::host
