// One thread for work that is too long for an I/O thread and too unimportant for the engine's.
#pragma once

#include <functional>
#include <thread>
#include <utility>

#include "daemons/common/work/inbox.hpp"

namespace spur::ctld {

class BackgroundWorker {
public:
    BackgroundWorker() : thread_{[this](const std::stop_token& stop) { loop(stop); }} {}
    ~BackgroundWorker() { stop(); }

    void post(std::function<void()> work) { queue_.push(std::move(work)); }
    // The same, at once where this is that thread already.
    void run(std::function<void()> work) {
        if (std::this_thread::get_id() == thread_.get_id()) return work();
        post(std::move(work));
    }
    // What is queued is done first.
    void stop() {
        if (!thread_.joinable()) return;
        thread_.request_stop();
        queue_.interrupt();
        thread_.join();
    }

private:
    void loop(const std::stop_token& stop) {
        const auto perform = [](const auto& work) {
            for (const auto& item : work) item();
            return !work.empty();
        };
        while (!stop.stop_requested()) perform(queue_.take());
        while (perform(queue_.take(work::Doorbell::Clock::now()))) {
        }
    }

    work::Inbox<std::function<void()>> queue_;
    std::jthread thread_;
};

}  // namespace spur::ctld
