// One thread for work that is too long for an I/O thread and too unimportant for the engine's.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace spur::ctld {

class BackgroundWorker {
public:
    BackgroundWorker() : thread_{[this](const std::stop_token& stop) { loop(stop); }} {}
    ~BackgroundWorker() { stop(); }

    void post(std::function<void()> work) {
        {
            const std::lock_guard lock{mutex_};
            queue_.push_back(std::move(work));
        }
        wake_.notify_one();
    }
    // The same, at once where this is that thread already.
    void run(std::function<void()> work) {
        if (std::this_thread::get_id() == thread_.get_id()) return work();
        post(std::move(work));
    }
    // What is queued is done first.
    void stop() {
        if (!thread_.joinable()) return;
        thread_.request_stop();
        wake_.notify_all();
        thread_.join();
    }

private:
    void loop(const std::stop_token& stop) {
        for (;;) {
            std::vector<std::function<void()>> work;
            {
                std::unique_lock lock{mutex_};
                wake_.wait(lock, stop, [&] { return !queue_.empty(); });
                work = std::exchange(queue_, {});
            }
            if (work.empty()) return;
            for (auto& item : work) item();
        }
    }

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::vector<std::function<void()>> queue_;
    std::jthread thread_;
};

}  // namespace spur::ctld
