// Descriptors are polled between tasks: nothing here has to be quick.
#include "executor.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace spur::check {
namespace {

constexpr std::chrono::milliseconds between_polls{2};

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

void drop(const Executor::Task& task) {
    if (task.drop != nullptr) task.drop(task.argument);
}

}  // namespace

spur_status Executor::add(Task task, std::uint64_t* id) {
    const std::scoped_lock hold(lock_);
    if (stopping_) return SPUR_E_STOPPED;
    if (waiting_.size() >= SPUR_EXECUTOR_MOST_WAITING) return SPUR_E_BUSY;
    task.id = ++last_;
    if (id != nullptr) *id = task.id;
    waiting_.push_back(std::make_shared<Task>(std::move(task)));
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    changed_.notify_all();
    return SPUR_OK;
}

spur_status Executor::add_blocking(spur_blocking_task run, spur_task, void* argument) {
    const std::scoped_lock hold(lock_);
    if (stopping_) return SPUR_E_STOPPED;
    if (blocking_.size() >= SPUR_EXECUTOR_MOST_WAITING) return SPUR_E_BUSY;
    blocking_.emplace_back([this, run, argument] {
        const spur_stop stop{sizeof(spur_stop), -1, INT64_MAX, this, [](const spur_stop* table) {
                                 return std::uint32_t{static_cast<Executor*>(table->context)->stopping_};
                             }};
        run(argument, &stop);
    });
    return SPUR_OK;
}

bool Executor::cancel(std::uint64_t id) {
    std::shared_ptr<Task> found;
    {
        const std::scoped_lock hold(lock_);
        if (running_ && running_->id == id) return (running_->period_ns > 0 || running_->seen) && (cancelled_ = true);
        const auto at = std::ranges::find(waiting_, id, [](const auto& task) { return task->id; });
        if (at == waiting_.end()) return false;
        found = *at;
        waiting_.erase(at);
    }
    drop(*found);
    return true;
}

void Executor::stop() {
    std::list<std::shared_ptr<Task>> dropped;
    {
        const std::scoped_lock hold(lock_);
        stopping_ = true;
        dropped.swap(waiting_);
        changed_.notify_all();
    }
    for (const auto& task : dropped) drop(*task);
    if (thread_.joinable()) thread_.join();
    blocking_.clear();
}

std::uint32_t Executor::seen_on(const Task& task) {
    pollfd watched{task.fd, task.events, 0};
    if (poll(&watched, 1, 0) <= 0) return 0;
    return ((watched.revents & POLLIN) != 0 ? SPUR_WATCH_READ : 0u) |
           ((watched.revents & POLLOUT) != 0 ? SPUR_WATCH_WRITE : 0u) |
           ((watched.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ? SPUR_WATCH_BROKEN : 0u);
}

bool Executor::is_ready(Task& task) {
    if (!task.seen) return task.due_ns <= now_ns();
    const auto events = seen_on(task);
    if (events != 0) task.run = [&task, events] { task.seen(events); };
    return events != 0;
}

void Executor::work() {
    std::unique_lock hold(lock_);
    while (!stopping_) {
        const auto next = std::ranges::find_if(waiting_, [this](const auto& task) { return is_ready(*task); });
        if (next == waiting_.end()) {
            changed_.wait_for(hold, between_polls);
            continue;
        }
        running_ = *next;
        waiting_.erase(next);
        cancelled_ = false;
        hold.unlock();
        running_->run();
        hold.lock();
        const auto done = std::exchange(running_, nullptr);
        if (done->period_ns == 0 && !done->seen) continue;
        done->due_ns = now_ns() + done->period_ns;
        if (!cancelled_ && !stopping_) {
            waiting_.push_back(done);
            continue;
        }
        hold.unlock();
        drop(*done);
        hold.lock();
    }
}

}  // namespace spur::check
