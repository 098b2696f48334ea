// The host's ears for a state plugin: remembers all it hears and notices what it should not.
#pragma once

#include "case.hpp"
#include "memory.hpp"

#include <spur/plugin/state.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace spur::check {

class Listener {
public:
    explicit Listener(Shape shape);
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    const spur_state_listener* get() const { return listener_; }

    // Fails with `otherwise` if `done` does not come true within the patience of 20 seconds.
    void wait(const char* otherwise, const std::function<bool()>& done);

    // What was heard. These lock; `done` above is called without the lock.
    bool is_leader() const;
    bool has_outcomes(std::uint64_t first, std::size_t count) const;
    spur_status outcome(std::uint64_t ticket) const;
    std::vector<std::string> bodies() const;
    std::uint64_t last_index() const;
    std::string restored() const;
    void judge() const;  // fails with the first thing that should not have been

private:
    static Listener& of(const spur_state_listener* listener) { return *static_cast<Listener*>(listener->context); }
    class Turn;  // one call; notices two at a time
    void committed(const spur_state_entry* entries, std::uint32_t count);
    void note_outcome(std::uint64_t ticket, spur_status status);
    spur_status restore(std::uint64_t index, const spur_source* snapshot);
    void object(std::string text);

    Memory memory_;
    const spur_state_listener* listener_;
    std::atomic<int> inside_ = 0;
    mutable std::mutex lock_;
    std::condition_variable changed_;
    std::uint32_t role_ = 0;
    std::uint64_t last_index_ = 0;
    std::vector<std::string> bodies_;
    std::map<std::uint64_t, std::vector<spur_status>> outcomes_;
    std::string restored_;
    std::string fault_;
};

// A source over a text, handing it out in odd pieces.
class StringSource {
public:
    explicit StringSource(const std::string& text) : text_(text) {}
    StringSource(const StringSource&) = delete;
    StringSource& operator=(const StringSource&) = delete;
    const spur_source* get() const { return &source_; }

private:
    const std::string& text_;
    std::size_t at_ = 0;
    spur_source source_{
        sizeof(spur_source), 0, this,
        [](const spur_source* source, void* buffer, std::uint64_t capacity, std::uint64_t* length) -> spur_status {
            auto& self = *static_cast<StringSource*>(source->context);
            *length = self.text_.copy(static_cast<char*>(buffer), std::min<std::uint64_t>(capacity, 4093), self.at_);
            self.at_ += *length;
            return SPUR_OK;
        }};
};

}  // namespace spur::check
