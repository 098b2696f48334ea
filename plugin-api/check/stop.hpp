// What calls that may wait are handed: a stop that never comes, or one that has come already.
#pragma once

#include <spur/plugin/abi.h>

#include <cstdint>

namespace spur::check {

class FixedStop {
public:
    explicit FixedStop(bool is_stopped) : is_stopped_{is_stopped} {}
    FixedStop(const FixedStop&) = delete;
    FixedStop& operator=(const FixedStop&) = delete;
    const spur_stop* get() const { return &stop_; }

private:
    static std::uint32_t stopped(const spur_stop* stop) noexcept {
        return static_cast<const FixedStop*>(stop->context)->is_stopped_ ? 1 : 0;
    }
    bool is_stopped_;
    spur_stop stop_{sizeof(stop_), -1, is_stopped_ ? 0 : INT64_MAX, this, stopped};
};

struct Never : FixedStop {
    Never() : FixedStop{false} {}
};

}  // namespace spur::check
