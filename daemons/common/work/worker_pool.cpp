// The workers, their queue, and the watch over their patience.
#include "daemons/common/work/worker_pool.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "daemons/common/log/log.hpp"

namespace spur::work {

namespace {

constexpr std::chrono::seconds farewell{1};  // what a thread gets to end before it is left behind

// What a question or its asker throws ends that question and nothing else.
template <class Function>
std::optional<std::string> caught(const Function& function) {
    try {
        function();
        return std::nullopt;
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "an exception of unknown type";
    }
}

}  // namespace

struct WorkerPool::State {
    using Shared = std::shared_ptr<const Task>;

    Options options;
    std::mutex mutex;
    std::condition_variable wake_worker, wake_clock, progress;
    std::deque<Shared> queue;                                // not begun; some may have been given up
    std::set<std::pair<Clock::time_point, Shared>> waiting;  // not answered, whether begun or not
    unsigned idle{0}, workers{0}, telling{0};
    bool has_clock{false}, stopping{false};

    void work();
    void watch();
    void answer(std::unique_lock<std::mutex>& lock, const Shared& task, const std::optional<Error>& error);
};

// Whoever takes the task off `waiting` answers it.
void WorkerPool::State::answer(std::unique_lock<std::mutex>& lock, const Shared& task,
                               const std::optional<Error>& error) {
    if (waiting.erase({task->deadline, task}) == 0) return;
    ++telling;
    lock.unlock();
    const auto what = caught([&] { error ? task->give_up(*error) : task->deliver(); });
    if (what) log::error("an exception where the answer of {} was to be handled: {}", task->whom, *what);
    lock.lock();
    --telling;
    progress.notify_all();
}

void WorkerPool::State::work() {
    std::unique_lock lock{mutex};
    while (!stopping) {
        if (queue.empty()) {
            ++idle;
            wake_worker.wait(lock);
            --idle;
            continue;
        }
        const auto task = queue.front();
        queue.pop_front();
        if (!waiting.contains({task->deadline, task})) continue;
        lock.unlock();
        const auto what = caught(task->question);
        lock.lock();
        std::optional<Error> error;
        if (what) error = Error{ErrorCode::internal, fmt::format("asking {} failed: {}", task->whom, *what)};
        answer(lock, task, error);
    }
    --workers;
    progress.notify_all();
}

void WorkerPool::State::watch() {
    std::unique_lock lock{mutex};
    while (!stopping) {
        if (waiting.empty()) {
            wake_clock.wait(lock);
        } else if (const auto [deadline, task] = *waiting.begin(); Clock::now() < deadline) {
            wake_clock.wait_until(lock, deadline);
        } else {
            answer(lock, task,
                   Error{ErrorCode::unavailable, fmt::format("{} has not answered within {} s; try again", task->whom,
                                                             std::chrono::duration<double>{task->patience}.count())});
        }
    }
    has_clock = false;
    progress.notify_all();
}

WorkerPool::WorkerPool(Options options) : state_{std::make_shared<State>()} { state_->options = options; }

void WorkerPool::stop() {
    decltype(State::waiting) dropped;  // destroyed outside the lock
    std::unique_lock lock{state_->mutex};
    state_->stopping = true;
    state_->queue.clear();
    dropped.swap(state_->waiting);
    state_->wake_worker.notify_all();
    state_->wake_clock.notify_all();
    state_->progress.wait(lock, [this] { return state_->telling == 0; });
    state_->progress.wait_for(lock, farewell, [this] { return state_->workers == 0 && !state_->has_clock; });
}

void WorkerPool::run(Task fresh) {
    const State::Shared task = std::make_shared<const Task>(std::move(fresh));
    auto& state = *state_;
    std::unique_lock lock{state.mutex};
    const auto place = state.waiting.emplace(task->deadline, task).first;
    if (state.stopping || state.queue.size() >= state.options.longest_queue)
        return state.answer(
            lock, task,
            Error{ErrorCode::unavailable,
                  state.stopping ? "the daemon is stopping"
                                 : fmt::format("too many questions wait for {}; try again later", task->whom)});
    state.queue.push_back(task);
    // Threads are made when they are needed: most daemons never ask anybody.
    if (!std::exchange(state.has_clock, true)) std::thread{[shared = state_] { shared->watch(); }}.detach();
    if (state.idle < state.queue.size() && state.workers < state.options.threads) {
        ++state.workers;
        std::thread{[shared = state_] { shared->work(); }}.detach();
    }
    state.wake_worker.notify_one();
    if (place == state.waiting.begin()) state.wake_clock.notify_one();
}

}  // namespace spur::work
