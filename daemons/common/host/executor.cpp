// One lock; a queue for each instance, and a ring of the instances whose turn it is; what is due later by its time;
// what waits for a descriptor in an epoll set.
#include "daemons/common/host/executor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "daemons/common/host/crash.hpp"
#include "daemons/common/host/frame.hpp"
#include "daemons/common/host/stop.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience_at_exit{2};
constexpr std::int64_t longest_ns = std::int64_t{365} * 86'400 * 1'000'000'000, shortest_period_ns = 1'000'000;

// Watched descriptors and the events they are watched for, in both alphabets.
std::uint32_t to_epoll(std::uint32_t events) {
    return ((events & SPUR_WATCH_READ) != 0 ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
           ((events & SPUR_WATCH_WRITE) != 0 ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
}
std::uint32_t from_epoll(std::uint32_t events) {
    return ((events & EPOLLIN) != 0 ? SPUR_WATCH_READ : 0U) | ((events & EPOLLOUT) != 0 ? SPUR_WATCH_WRITE : 0U) |
           ((events & (EPOLLHUP | EPOLLERR)) != 0 ? SPUR_WATCH_BROKEN : 0U);
}

}  // namespace

// One thing a plugin handed over.
struct Executor::Work {
    std::shared_ptr<Client> client;
    spur_task drop;
    void* argument;
    spur_task run{nullptr};
    spur_blocking_task run_blocking{nullptr};
    spur_watcher run_watch{nullptr};
    std::uint64_t id{};
    Clock::time_point when{};         // of a timer
    std::chrono::nanoseconds period{};  // 0: it runs once
    int fd{-1};
    std::uint32_t events{}, seen{};
    bool is_running{false}, is_over{false};

    bool repeats() const { return period.count() > 0 || run_watch != nullptr; }
};

class Executor::Client {
public:
    explicit Client(const char* name) : plugin{name} {}
    const char* plugin;
    std::map<std::uint64_t, std::shared_ptr<Work>> all;  // what waits, and what repeats
    std::deque<std::shared_ptr<Work>> due, blocking;
    std::size_t running{}, running_blocking{}, blocking_threads{};
    bool has_turn{false}, closed{false};
    std::optional<StopSource> stop;  // of blocking tasks; made with the first
    OpCounter counter;
};

struct Executor::Shared : std::enable_shared_from_this<Shared> {
    using WorkPtr = std::shared_ptr<Work>;

    std::mutex mutex;
    std::condition_variable wake, quiet;  // something to do; something was done
    std::deque<std::shared_ptr<Client>> turns;
    std::multimap<Clock::time_point, WorkPtr> later;
    std::map<std::uint64_t, WorkPtr> watched;
    std::uint64_t next_id{1};
    unsigned threads{}, alive{};
    int epoll{-1}, epoll_stop{-1};
    bool workers_started{false}, stopping{false};

    ~Shared() {
        if (epoll >= 0) ::close(epoll), ::close(epoll_stop);
    }
    std::size_t most_running() const { return std::max(1U, threads / 2); }  // of one instance: others get the rest

    template <class Body>
    void start_thread(Body body) {
        ++alive;
        std::thread{[shared = shared_from_this(), body = std::move(body)] {
            arm_this_thread();
            body(*shared);
            const std::lock_guard lock{shared->mutex};
            --shared->alive;
            shared->quiet.notify_all();
        }}.detach();  // a task may never return
    }
    void start_workers();
    bool start_watching();

    spur_status take(WorkPtr work, std::uint64_t* id);
    void make_due(const WorkPtr& work);
    WorkPtr next_due();
    void finish(const WorkPtr& work);
    void forget(const WorkPtr& work);
    void run(const WorkPtr& work, std::unique_lock<std::mutex>& lock);
    void serve();
    void serve_blocking(const std::shared_ptr<Client>& client);
    void watch();
};

namespace {

// What plugins' functions throw ends here.
template <class Body>
bool survives(const char* plugin, const char* what, const Body& body) {
    try {
        const Frame frame{plugin, what, Role::worker};
        body();
        return true;
    } catch (const std::exception& thrown) {
        log::error("plugin {} threw an exception out of a task: {}", plugin, thrown.what());
    } catch (...) {
        log::error("plugin {} threw an exception out of a task", plugin);
    }
    return false;
}

}  // namespace

// ---- inside, with the lock held where nothing else is said --------------------------------------------------------

void Executor::Shared::start_workers() {
    if (std::exchange(workers_started, true)) return;
    for (unsigned i = 0; i < threads; ++i) start_thread([](Shared& shared) { shared.serve(); });
}

bool Executor::Shared::start_watching() {
    if (epoll >= 0) return true;
    epoll = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_stop = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll < 0 || ::epoll_ctl(epoll, EPOLL_CTL_ADD, epoll_stop, &event) != 0) return false;
    start_thread([](Shared& shared) { shared.watch(); });
    return true;
}

spur_status Executor::Shared::take(WorkPtr work, std::uint64_t* id) {
    auto& client = *work->client;
    if (client.closed || stopping) return SPUR_E_STOPPED;
    if (client.all.size() >= most_waiting) return SPUR_E_BUSY;
    work->id = next_id++;
    if (work->fd >= 0) {
        epoll_event event{};
        event.events = to_epoll(work->events) | EPOLLONESHOT;
        event.data.u64 = work->id;
        if (!start_watching() || ::epoll_ctl(epoll, EPOLL_CTL_ADD, work->fd, &event) != 0) return SPUR_E_INVALID;
        watched.emplace(work->id, work);
    }
    if (id != nullptr) *id = work->id;
    client.all.emplace(work->id, work);
    start_workers();
    if (work->run_blocking != nullptr) {
        client.blocking.push_back(work);
        if (!client.stop) client.stop.emplace();
        if (client.blocking_threads < most_blocking) {
            ++client.blocking_threads;
            start_thread([owner = work->client](Shared& shared) { shared.serve_blocking(owner); });
        }
    } else if (work->when != Clock::time_point{}) {
        later.emplace(work->when, work);
        wake.notify_all();  // whoever waits for a later one must look again
    } else if (work->fd < 0) {
        make_due(work);
    }
    return SPUR_OK;
}

void Executor::Shared::make_due(const WorkPtr& work) {
    auto& client = *work->client;
    client.due.push_back(work);
    if (!std::exchange(client.has_turn, true)) turns.push_back(work->client);
    wake.notify_one();
}

// The first of the instance whose turn it is; it goes to the back of the ring. One that has as many running as it may
// is passed over until one of them returns.
Executor::Shared::WorkPtr Executor::Shared::next_due() {
    while (!later.empty() && later.begin()->first <= Clock::now()) {
        const auto work = later.begin()->second;
        later.erase(later.begin());
        make_due(work);
    }
    std::erase_if(turns, [](const auto& client) {
        client->has_turn = !client->due.empty();  // what it had may have been cancelled
        return !client->has_turn;
    });
    for (auto turn = turns.begin(); turn != turns.end(); ++turn) {
        const auto client = *turn;
        if (client->running >= most_running()) continue;
        auto work = client->due.front();
        client->due.pop_front();
        turns.erase(turn);
        client->has_turn = !client->due.empty();
        if (client->has_turn) turns.push_back(client);
        return work;
    }
    return nullptr;
}

void Executor::Shared::run(const WorkPtr& work, std::unique_lock<std::mutex>& lock) {
    auto& client = *work->client;
    work->is_running = true;
    if (!work->repeats()) client.all.erase(work->id);
    auto& running = work->run_blocking != nullptr ? client.running_blocking : client.running;
    ++running;
    lock.unlock();
    const auto before = ticks_now();
    client.counter.begin(before);
    const bool good = survives(client.plugin, "task", [&] {
        if (work->run_watch != nullptr)
            work->run_watch(work->argument, work->seen);
        else if (work->run_blocking != nullptr)
            work->run_blocking(work->argument, client.stop->get());
        else
            work->run(work->argument);
    });
    client.counter.record(ticks_now() - before, !good);
    lock.lock();
    work->is_running = false;
    if (work->repeats()) finish(work);
    const bool is_dropped = work->repeats() && work->is_over && work->drop != nullptr;
    if (is_dropped) {
        lock.unlock();
        survives(client.plugin, "drop", [&] { work->drop(work->argument); });
        lock.lock();
    }
    --running;
    quiet.notify_all();
    if (!client.due.empty()) wake.notify_one();  // it was passed over
}

// A run of something that repeats is over: it waits again, unless it was cancelled meanwhile.
void Executor::Shared::finish(const WorkPtr& work) {
    if (work->is_over) return;
    if (work->run_watch != nullptr) {
        epoll_event event{};
        event.events = to_epoll(work->events) | EPOLLONESHOT;
        event.data.u64 = work->id;
        ::epoll_ctl(epoll, EPOLL_CTL_MOD, work->fd, &event);
        return;
    }
    const auto now = Clock::now();
    const auto missed = now > work->when ? (now - work->when) / work->period : 0;
    work->when += (missed + 1) * work->period;
    later.emplace(work->when, work);
    wake.notify_all();
}

// It does not run from here on; not called for what runs once and has begun.
void Executor::Shared::forget(const WorkPtr& work) {
    auto& client = *work->client;
    work->is_over = true;
    client.all.erase(work->id);
    std::erase(client.due, work);
    std::erase(client.blocking, work);
    std::erase_if(later, [&](const auto& entry) { return entry.second == work; });
    if (watched.erase(work->id) != 0) ::epoll_ctl(epoll, EPOLL_CTL_DEL, work->fd, nullptr);
}

// ---- the threads --------------------------------------------------------------------------------------------------

void Executor::Shared::serve() {
    std::unique_lock lock{mutex};
    while (!stopping) {
        if (const auto work = next_due()) {
            run(work, lock);
        } else if (!later.empty()) {
            const auto first = later.begin()->first;  // a copy: the timer may be cancelled meanwhile
            wake.wait_until(lock, first);
        } else {
            wake.wait(lock);
        }
    }
}

// Ends when there is nothing left to do: the next task gets a new thread.
void Executor::Shared::serve_blocking(const std::shared_ptr<Client>& client) {
    std::unique_lock lock{mutex};
    while (!stopping && !client->blocking.empty()) {
        const auto work = client->blocking.front();
        client->blocking.pop_front();
        run(work, lock);
    }
    --client->blocking_threads;
}

void Executor::Shared::watch() {
    std::array<epoll_event, 64> events{};
    for (;;) {
        const int count = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
        const std::lock_guard lock{mutex};
        if (stopping) return;
        for (int i = 0; i < count; ++i) {
            const auto found = watched.find(events[static_cast<std::size_t>(i)].data.u64);
            if (found == watched.end()) continue;
            found->second->seen = from_epoll(events[static_cast<std::size_t>(i)].events);
            make_due(found->second);
        }
    }
}

// ---- from outside --------------------------------------------------------------------------------------------------

Executor::Executor(unsigned threads) : shared_{std::make_shared<Shared>()} {
    shared_->threads = threads == 0 ? 1 : threads;
}

Executor::~Executor() {
    std::unique_lock lock{shared_->mutex};
    shared_->stopping = true;
    shared_->turns.clear();
    shared_->later.clear();
    shared_->watched.clear();
    shared_->wake.notify_all();
    if (shared_->epoll_stop >= 0) ::eventfd_write(shared_->epoll_stop, 1);
    if (!shared_->quiet.wait_for(lock, patience_at_exit, [&] { return shared_->alive == 0; }))
        log::warning("{} plugin task(s) do not return and are left behind", shared_->alive);
}

std::shared_ptr<Executor::Client> Executor::add_client(const char* plugin) { return std::make_shared<Client>(plugin); }

spur_status Executor::post(const std::shared_ptr<Client>& client, spur_task run, spur_task drop, void* argument) {
    if (run == nullptr) return SPUR_E_INVALID;
    const std::lock_guard lock{shared_->mutex};
    return shared_->take(std::make_shared<Work>(Work{.client = client, .drop = drop, .argument = argument, .run = run}),
                         nullptr);
}

spur_status Executor::post_blocking(const std::shared_ptr<Client>& client, spur_blocking_task run, spur_task drop,
                                    void* argument) {
    if (run == nullptr) return SPUR_E_INVALID;
    const std::lock_guard lock{shared_->mutex};
    return shared_->take(
        std::make_shared<Work>(Work{.client = client, .drop = drop, .argument = argument, .run_blocking = run}),
        nullptr);
}

spur_status Executor::post_after(const std::shared_ptr<Client>& client, std::int64_t delay_ns, spur_task run,
                                 spur_task drop, void* argument, std::uint64_t* id) {
    if (run == nullptr || delay_ns < 0) return SPUR_E_INVALID;
    const auto when = Clock::now() + std::chrono::nanoseconds{std::min(delay_ns, longest_ns)};
    const std::lock_guard lock{shared_->mutex};
    return shared_->take(
        std::make_shared<Work>(Work{.client = client, .drop = drop, .argument = argument, .run = run, .when = when}),
        id);
}

spur_status Executor::post_every(const std::shared_ptr<Client>& client, std::int64_t period_ns, spur_task run,
                                 spur_task drop, void* argument, std::uint64_t* id) {
    if (run == nullptr || period_ns < shortest_period_ns) return SPUR_E_INVALID;
    const std::chrono::nanoseconds period{std::min(period_ns, longest_ns)};
    const std::lock_guard lock{shared_->mutex};
    return shared_->take(std::make_shared<Work>(Work{.client = client,
                                                     .drop = drop,
                                                     .argument = argument,
                                                     .run = run,
                                                     .when = Clock::now() + period,
                                                     .period = period}),
                         id);
}

spur_status Executor::watch_fd(const std::shared_ptr<Client>& client, int fd, std::uint32_t events, spur_watcher run,
                               spur_task drop, void* argument, std::uint64_t* id) {
    if (run == nullptr || fd < 0 || to_epoll(events) == 0) return SPUR_E_INVALID;
    const std::lock_guard lock{shared_->mutex};
    return shared_->take(std::make_shared<Work>(Work{.client = client,
                                                     .drop = drop,
                                                     .argument = argument,
                                                     .run_watch = run,
                                                     .fd = fd,
                                                     .events = events}),
                         id);
}

bool Executor::cancel(const std::shared_ptr<Client>& client, std::uint64_t id) {
    std::shared_ptr<Work> work;
    {
        const std::lock_guard lock{shared_->mutex};
        const auto found = client->all.find(id);
        if (found == client->all.end()) return false;
        work = found->second;
        shared_->forget(work);
        if (work->is_running) return true;  // whoever runs it drops it
    }
    if (work->drop != nullptr) survives(client->plugin, "drop", [&] { work->drop(work->argument); });
    return true;
}

bool Executor::drain(const std::shared_ptr<Client>& client, std::chrono::milliseconds patience) {
    std::unique_lock lock{shared_->mutex};
    client->closed = true;
    if (client->stop) client->stop->stop();
    std::vector<std::shared_ptr<Work>> dropped;
    while (!client->all.empty()) {
        const auto work = client->all.begin()->second;
        shared_->forget(work);
        if (!work->is_running) dropped.push_back(work);
    }
    lock.unlock();
    for (const auto& work : dropped)
        if (work->drop != nullptr) survives(client->plugin, "drop", [&] { work->drop(work->argument); });
    lock.lock();
    return shared_->quiet.wait_for(lock, patience, [&] { return client->running + client->running_blocking == 0; });
}

OpStats Executor::stats(const std::shared_ptr<Client>& client) const { return client->counter.read("task"); }

}  // namespace spur::host
