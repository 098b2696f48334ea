// One lock, one queue of what is due, one of what is due later.
#include "daemons/common/host/executor.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "daemons/common/host/crash.hpp"
#include "daemons/common/host/frame.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience_at_exit{2};
}  // namespace

class Executor::Client {
public:
    explicit Client(const char* name) : plugin{name} {}
    const char* plugin;
    std::size_t waiting{}, running{};
    bool closed{false};
    OpCounter counter;
};

struct Executor::Shared {
    struct Task {
        std::shared_ptr<Client> client;
        spur_task run;
        void* argument;
    };
    struct Timer {
        Task task;
        std::uint64_t id;
    };

    std::mutex mutex;
    std::condition_variable work, quiet;  // something to do; something was done
    std::deque<Task> due;
    std::multimap<Clock::time_point, Timer> later;
    std::uint64_t next_timer{1};
    unsigned threads{}, alive{};
    bool stopping{false};

    void serve();
    void move_due_timers();
    void run(Task task, std::unique_lock<std::mutex>& lock);
};

void Executor::Shared::move_due_timers() {
    while (!later.empty() && later.begin()->first <= Clock::now()) {
        due.push_back(std::move(later.begin()->second.task));
        later.erase(later.begin());
    }
}

void Executor::Shared::run(Task task, std::unique_lock<std::mutex>& lock) {
    auto& client = *task.client;
    --client.waiting;
    ++client.running;
    lock.unlock();
    bool failed = false;
    const auto before = ticks_now();
    client.counter.begin(before);
    try {
        const Frame frame{client.plugin, "task", Role::worker};
        task.run(task.argument);
    } catch (const std::exception& thrown) {
        failed = true;
        log::error("plugin {} threw an exception out of a task: {}", client.plugin, thrown.what());
    } catch (...) {
        failed = true;
        log::error("plugin {} threw an exception out of a task", client.plugin);
    }
    client.counter.record(ticks_now() - before, failed);
    lock.lock();
    --client.running;
    quiet.notify_all();
}

void Executor::Shared::serve() {
    arm_this_thread();
    std::unique_lock lock{mutex};
    while (!stopping) {
        move_due_timers();
        if (!due.empty()) {
            auto task = std::move(due.front());
            due.pop_front();
            run(std::move(task), lock);
        } else if (!later.empty()) {
            const auto first = later.begin()->first;  // a copy: the timer may be cancelled meanwhile
            work.wait_until(lock, first);
        } else {
            work.wait(lock);
        }
    }
    --alive;
    quiet.notify_all();
}

Executor::Executor(unsigned threads) : shared_{std::make_shared<Shared>()} {
    shared_->threads = threads == 0 ? 1 : threads;
}

Executor::~Executor() {
    std::unique_lock lock{shared_->mutex};
    shared_->stopping = true;
    shared_->due.clear();
    shared_->later.clear();
    shared_->work.notify_all();
    if (!shared_->quiet.wait_for(lock, patience_at_exit, [&] { return shared_->alive == 0; }))
        log::warning("{} plugin task(s) do not return and are left behind", shared_->alive);
}

// Threads start with the first task: most plugins never post one. They are detached, since a task may never return.
void Executor::start_threads() {
    while (shared_->alive < shared_->threads) {
        std::thread{[shared = shared_] { shared->serve(); }}.detach();
        ++shared_->alive;
    }
}

std::shared_ptr<Executor::Client> Executor::add_client(const char* plugin) { return std::make_shared<Client>(plugin); }

spur_status Executor::post(const std::shared_ptr<Client>& client, spur_task task, void* argument) {
    if (task == nullptr) return SPUR_E_INVALID;
    const std::lock_guard lock{shared_->mutex};
    if (client->closed || shared_->stopping) return SPUR_E_STOPPED;
    if (client->waiting >= most_waiting) return SPUR_E_BUSY;
    ++client->waiting;
    shared_->due.push_back({client, task, argument});
    start_threads();
    shared_->work.notify_one();
    return SPUR_OK;
}

spur_status Executor::post_after(const std::shared_ptr<Client>& client, std::int64_t delay_ns, spur_task task,
                                 void* argument, std::uint64_t* timer) {
    if (task == nullptr || delay_ns < 0) return SPUR_E_INVALID;
    const std::lock_guard lock{shared_->mutex};
    if (client->closed || shared_->stopping) return SPUR_E_STOPPED;
    if (client->waiting >= most_waiting) return SPUR_E_BUSY;
    ++client->waiting;
    constexpr std::int64_t longest_ns = std::int64_t{365} * 86'400 * 1'000'000'000;
    const auto when = Clock::now() + std::chrono::nanoseconds{std::min(delay_ns, longest_ns)};
    const auto id = shared_->next_timer++;
    shared_->later.emplace(when, Shared::Timer{{client, task, argument}, id});
    if (timer != nullptr) *timer = id;
    start_threads();
    shared_->work.notify_all();  // whoever waits for a later one must look again
    return SPUR_OK;
}

bool Executor::cancel(const std::shared_ptr<Client>& client, std::uint64_t timer) {
    const std::lock_guard lock{shared_->mutex};
    for (auto at = shared_->later.begin(); at != shared_->later.end(); ++at) {
        if (at->second.id != timer || at->second.task.client != client) continue;
        --client->waiting;
        shared_->later.erase(at);
        return true;
    }
    return false;
}

bool Executor::drain(const std::shared_ptr<Client>& client, std::chrono::milliseconds patience) {
    std::unique_lock lock{shared_->mutex};
    client->closed = true;
    std::erase_if(shared_->later, [&](const auto& entry) {
        const bool is_ours = entry.second.task.client == client;
        if (is_ours) --client->waiting;
        return is_ours;
    });
    const bool is_quiet =
        shared_->quiet.wait_for(lock, patience, [&] { return client->waiting == 0 && client->running == 0; });
    if (!is_quiet)  // what did not get its turn is dropped: it must not run after this
        std::erase_if(shared_->due, [&](const auto& task) {
            if (task.client == client) --client->waiting;
            return task.client == client;
        });
    return client->running == 0;
}

OpStats Executor::stats(const std::shared_ptr<Client>& client) const { return client->counter.read("task"); }

}  // namespace spur::host
