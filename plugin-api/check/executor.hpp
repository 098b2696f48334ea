// The executor of the checker's host: tasks, timers and watches on one thread, what may wait on threads of its own.
#pragma once

#include <spur/plugin/executor.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace spur::check {

class Executor {
public:
    // Something to do, and what is called instead if it never runs.
    struct Task {
        std::function<void()> run;
        spur_task drop = nullptr;
        void* argument = nullptr;
        std::int64_t due_ns = 0, period_ns = 0;
        int fd = -1;
        short events = 0;
        std::function<void(std::uint32_t)> seen;  // of a watch
        std::uint64_t id = 0;
    };

    ~Executor() { stop(); }
    spur_status add(Task task, std::uint64_t* id);
    spur_status add_blocking(spur_blocking_task run, spur_task drop, void* argument);
    bool cancel(std::uint64_t id);
    void stop();  // drops what waits, stops and finishes what runs

private:
    void work();
    bool is_ready(Task& task);
    static std::uint32_t seen_on(const Task& task);

    std::mutex lock_;
    std::condition_variable changed_;
    std::list<std::shared_ptr<Task>> waiting_;
    std::shared_ptr<Task> running_;
    std::uint64_t last_ = 0;
    bool cancelled_ = false;  // what runs, by itself or another
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
    std::vector<std::jthread> blocking_;
};

}  // namespace spur::check
