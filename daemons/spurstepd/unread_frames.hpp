// What a step has sent and its reader has not confirmed: it may ask for it again, for spurd can be restarted in the
// middle of a step and loses what it had not passed on.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "daemons/spurstepd/frame.hpp"

namespace spur::step {

class UnreadFrames {
public:
    static constexpr std::size_t limit = 16U << 20;  // far more than spurd and the sockets on both sides hold

    const Frame& add(FrameType type, std::string payload) {
        bytes_ += payload.size();
        return frames_.emplace_back(type, std::move(payload));
    }
    // All before this number has been read.
    void forget_before(std::uint64_t number) {
        for (; first_ < number && !frames_.empty(); ++first_) {
            bytes_ -= frames_.front().payload.size();
            frames_.pop_front();
        }
    }
    void shrink_to(std::size_t bytes) {
        while (bytes_ > bytes) forget_before(first_ + 1);
    }
    void clear() { forget_before(first_ + frames_.size()); }
    [[nodiscard]] const std::deque<Frame>& frames() const { return frames_; }
    [[nodiscard]] std::uint64_t first() const { return first_; }  // the number of the first one
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    std::deque<Frame> frames_;
    std::uint64_t first_{0};
    std::size_t bytes_{0};
};

}  // namespace spur::step
