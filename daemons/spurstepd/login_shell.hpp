// The environment that a login shell of the step's user sets up. It runs the user's profile, which may take for ever
// and print for ever: time and bytes are bounded, and whoever asks goes on with other things meanwhile.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/spurstepd/containment.hpp"
#include "daemons/spurstepd/descriptor.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::step {

class LoginShell {
public:
    // As the user, inside the step's containment; whatever it leaves behind is the caller's to kill.
    static Result<LoginShell> start(const LaunchSpec& spec, const Containment& containment);

    [[nodiscard]] int fd() const { return output_.get(); }  // readable once there is something to pump()
    void pump();
    [[nodiscard]] bool is_over() const;  // it has said all, or too much, or its time is up
    [[nodiscard]] Result<std::vector<std::string>> environment() const;

private:
    using Clock = std::chrono::steady_clock;
    Descriptor output_;
    std::string text_;
    Clock::time_point deadline_;
};

}  // namespace spur::step
