// Names of roles, and looking through the frames of a thread.
#include "daemons/common/host/frame.hpp"

namespace spur::host {

std::string_view to_string(Role role) {
    switch (role) {
        case Role::main:
            return "main-thread";
        case Role::cycle:
            return "cycle-thread";
        case Role::worker:
            return "worker-thread";
        case Role::any:
            break;
    }
    return "any-thread";
}

const Frame* Frame::find(const char* plugin) noexcept {
    const Frame* frame = top_;
    while (frame != nullptr && frame->plugin() != plugin) frame = frame->outer();
    return frame;
}

}  // namespace spur::host
