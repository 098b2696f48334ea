// Calls into a plugin that may throw, crash or hang. Whatever it does, the caller goes on, hears a sentence about it, and calls it
// no more: a step daemon must live to kill what it has started.
#pragma once

#include <chrono>
#include <string>
#include <utility>

namespace spur::step {

class CallGuard {
public:
    CallGuard(std::string type, std::chrono::milliseconds patience);

    // Runs `call` for `op`. Empty: it has returned. Not twice at once, and on one thread.
    template <class Call>
    std::string run(const char* op, Call&& call) {
        return run(
            op, [](void* context) { (*static_cast<std::remove_reference_t<Call>*>(context))(); }, &call);
    }
    // Why the plugin is not called any more; empty: it is.
    [[nodiscard]] const std::string& broken() const { return broken_; }
    [[nodiscard]] std::chrono::milliseconds patience() const { return patience_; }

private:
    std::string run(const char* op, void (*call)(void*), void* context);
    void note(const char* op, int signal);

    std::string type_, broken_;
    std::chrono::milliseconds patience_;
};

}  // namespace spur::step
