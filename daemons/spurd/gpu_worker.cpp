// One thread for each plugin that watches, one that lets go.
#include "daemons/spurd/gpu_worker.hpp"

#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "daemons/common/host/stop.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::agent {
namespace {
constexpr std::chrono::seconds release_limit{30}, first_pause{1}, longest_pause{60}, end_patience{5};
}

struct GpuWorker::Shared {
    Shared(const host::Group<host::GpuAxis>& all, std::function<void(const std::string& plugin)> look)
        : plugins{all}, look_again{std::move(look)} {}
    void watch(const std::string& type);
    void work();
    void release_now(const GpuHeld& held);
    bool pause(std::chrono::seconds length);  // false: it is over

    host::Group<host::GpuAxis> plugins;
    std::function<void(const std::string& plugin)> look_again;
    host::StopSource stop;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<GpuHeld> waiting;
    std::size_t threads{0};
    bool is_over{false};
};

GpuWorker::GpuWorker(const host::Group<host::GpuAxis>& plugins,
                     std::function<void(const std::string& plugin)> look_again)
    : shared_{std::make_shared<Shared>(plugins, std::move(look_again))} {
    const auto start = [&](auto run) {
        ++shared_->threads;
        std::thread{[shared = shared_, run] {
            run(*shared);
            const std::lock_guard lock{shared->mutex};
            --shared->threads;
            shared->changed.notify_all();
        }}.detach();
    };
    const std::lock_guard lock{shared_->mutex};
    bool has_release = false;
    for (const auto& plugin : plugins.pins()) {
        if (plugin.can(&spur_gpu_ops::watch)) start([type = plugin.type()](Shared& shared) { shared.watch(type); });
        has_release |= plugin.can(&spur_gpu_ops::release);
    }
    if (has_release) start([](Shared& shared) { shared.work(); });
}

GpuWorker::~GpuWorker() {
    shared_->stop.stop();
    std::unique_lock lock{shared_->mutex};
    shared_->is_over = true;
    shared_->changed.notify_all();
    if (!shared_->changed.wait_for(lock, end_patience, [this] { return shared_->threads == 0; }))
        log::warning("a gpu plugin does not give up a call; it is left behind");
}

bool GpuWorker::Shared::pause(std::chrono::seconds length) {
    std::unique_lock lock{mutex};
    return !changed.wait_for(lock, length, [this] { return is_over; });
}

// Again and again: a plugin in a process of its own may lose that, a driver may be restarted.
void GpuWorker::Shared::watch(const std::string& type) {
    for (auto length = first_pause;; length = std::min(2 * length, longest_pause)) {
        const auto begun = std::chrono::steady_clock::now();
        std::string why = "it is not there";
        for (const auto& plugin : plugins.pins()) {
            if (plugin.type() != type) continue;
            const auto ended = plugin.call(&spur_gpu_ops::watch, stop.get());
            why = ended ? "it came back by itself" : ended.error().text;
            if (stop.stopped()) return;
        }
        if (std::chrono::steady_clock::now() - begun >= longest_pause) length = first_pause;
        log::warning("{} watches its devices no more ({}); it is asked to again in {} s", type, why, length.count());
        if (!pause(length)) return;
        look_again(type);
    }
}

void GpuWorker::release(GpuHeld held) {
    if (held.keys.empty()) return;
    const std::lock_guard lock{shared_->mutex};
    shared_->waiting.push_back(std::move(held));
    shared_->changed.notify_all();
}

void GpuWorker::Shared::work() {
    std::unique_lock lock{mutex};
    for (;;) {
        changed.wait(lock, [this] { return is_over || !waiting.empty(); });
        if (is_over) return;
        const auto next = std::move(waiting.front());
        waiting.pop_front();
        lock.unlock();
        release_now(next);
        lock.lock();
    }
}

void GpuWorker::Shared::release_now(const GpuHeld& held) {
    for (const auto& plugin : plugins.pins()) {
        const auto keys = held.keys.find(plugin.type());
        if (keys == held.keys.end() || !plugin.can(&spur_gpu_ops::release)) continue;
        std::vector<spur_gpu_grant> grants;
        for (const auto& key : keys->second) grants.push_back({plugin::str(key), 0});
        const auto binding = binding_for(held.holder, plugin::span_of(grants));
        const host::StopSource limit{stop, std::chrono::steady_clock::now() + release_limit};
        const auto released = plugin.call(&spur_gpu_ops::release, &binding, limit.get());
        if (!released && !stop.stopped())
            log::warning("{} could not let go of the devices of job {}: {}", plugin.type(), held.holder.job,
                         released.error().text);
    }
}

}  // namespace spur::agent
