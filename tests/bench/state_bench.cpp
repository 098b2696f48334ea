// state_bench [plugin] [directory]: how many commits a state plugin makes, one after the other and together.
//
// Sequential (each proposal waits for the last one's commit), eight clients that do the same beside each other, batched
// (8 threads keep 1,000 proposals in flight each), and large proposals of 100 entries. Beside them how many entries
// shared a write, and what a plain pwrite() with O_DSYNC of one block costs in the same directory: that is the floor
// for sequential commits. Then what a restart with 100,000 jobs costs, from the log and from a snapshot.
#include <fcntl.h>
#include <fmt/format.h>
#include <spur/plugin/state.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/test_host.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using spur::test::TestHost;
using spur::test::TestInstance;
using spur::test::TestPlugin;

constexpr std::size_t entry_size = 256;

struct Counter {
    std::atomic<std::uint64_t> committed{0};
    std::atomic<std::uint64_t> outcomes{0};
    std::atomic<std::uint64_t> waiters{0};
    std::array<std::atomic<std::uint64_t>, 64> clients{};  // outcomes of each
    std::mutex mutex;
    std::condition_variable changed;

    void wait_for(std::uint64_t count) {
        for (int spin = 0; spin < 200; ++spin)
            if (outcomes.load(std::memory_order_acquire) >= count) return;
        std::unique_lock lock(mutex);
        ++waiters;
        changed.wait(lock, [&] { return outcomes.load(std::memory_order_acquire) >= count; });
        --waiters;
    }
    void one_more() {
        outcomes.fetch_add(1, std::memory_order_acq_rel);
        if (waiters.load() == 0) return;
        const std::lock_guard lock(mutex);
        changed.notify_all();
    }
};

spur_state_listener listener_for(Counter& counter) {
    spur_state_listener listener{};
    listener.size = sizeof listener;
    listener.context = &counter;
    listener.committed = [](const spur_state_listener* self, const spur_state_entry*, std::uint32_t count) {
        static_cast<Counter*>(self->context)->committed += count;
    };
    listener.outcome = [](const spur_state_listener* self, std::uint64_t client, spur_status, const spur_error*) {
        auto& counts = *static_cast<Counter*>(self->context);
        counts.one_more();
        ++counts.clients[client];
        counts.clients[client].notify_one();
    };
    listener.restore = [](const spur_state_listener*, std::uint64_t, const spur_source* source, spur_error*) {
        std::vector<char> buffer(1 << 20);
        for (std::uint64_t length = 1; length > 0;)
            if (const auto status = source->read(source, buffer.data(), buffer.size(), &length); status != SPUR_OK)
                return status;
        return SPUR_OK;
    };
    listener.role = [](const spur_state_listener*, std::uint32_t, std::uint64_t, spur_str) {};
    listener.snapshot_wanted = [](const spur_state_listener*) {};
    listener.failed = [](const spur_state_listener*, const spur_error* err) {
        fmt::print(stderr, "failed: {}\n", err->text);
        std::exit(1);
    };
    return listener;
}

class Bench {
public:
    Bench(const TestInstance& instance, Counter& counter)
        : plugin_(instance.get()), ops_(instance.query<spur_state_ops>(SPUR_STATE_IFACE)), counter_(counter) {}

    void sequential(std::chrono::milliseconds time) {
        run(
            "sequential, 1 entry",
            [&](Clock::time_point end) {
                while (Clock::now() < end) {
                    propose(1);
                    counter_.wait_for(proposed_);
                }
            },
            time);
    }
    // As many clients, each waiting for its own commit before it goes on.
    void clients(unsigned count, std::chrono::milliseconds time) {
        run(
            "8 clients, 1 entry each",
            [&](Clock::time_point end) {
                std::vector<std::thread> workers;
                for (unsigned i = 1; i <= count; ++i)
                    workers.emplace_back([&, i] {
                        while (Clock::now() < end) {
                            const auto before = counter_.clients[i].load();
                            propose(1, i);
                            counter_.clients[i].wait(before);
                        }
                    });
                for (auto& worker : workers) worker.join();
            },
            time);
    }
    void together(const char* name, std::uint32_t entries, unsigned threads, std::uint64_t in_flight,
                  std::chrono::milliseconds time) {
        run(
            name,
            [&](Clock::time_point end) {
                std::vector<std::thread> workers;
                for (unsigned i = 0; i < threads; ++i)
                    workers.emplace_back([&] {
                        while (Clock::now() < end) {
                            if (proposed_ - counter_.outcomes > in_flight) {
                                counter_.wait_for(proposed_ - in_flight);
                                continue;
                            }
                            for (int burst = 0; burst < 16; ++burst) propose(entries);
                        }
                    });
                for (auto& worker : workers) worker.join();
                counter_.wait_for(proposed_);
            },
            time);
    }

private:
    void propose(std::uint32_t count, std::uint64_t client = 0) {
        static const std::string body(entry_size, 'x');
        const std::vector<spur_state_entry> entries(count, spur_state_entry{{body.data(), body.size()}, 0, 0});
        spur_error error{sizeof error, SPUR_OK, ""};
        while (ops_->propose(plugin_, entries.data(), count, client, &error) != SPUR_OK) {
            if (error.code != SPUR_E_BUSY) {
                fmt::print(stderr, "refused: {}\n", error.text);
                std::exit(1);
            }
            std::this_thread::yield();
        }
        ++proposed_;
    }
    spur_state_status status() const {
        spur_state_status status{};
        status.size = sizeof status;
        spur_error error{sizeof error, SPUR_OK, ""};
        ops_->status(plugin_, &status, &error);
        return status;
    }
    template <class Body>
    void run(const char* name, Body&& body, std::chrono::milliseconds time) {
        const auto before = status();
        const auto start = Clock::now();
        body(start + time);
        const std::chrono::duration<double> took = Clock::now() - start;
        const auto after = status();
        const auto entries = static_cast<double>(after.entries - before.entries);
        const auto writes = static_cast<double>(after.fsyncs - before.fsyncs);
        fmt::print("{:<28} {:>10.0f} entries/s {:>9.0f} writes/s {:>8.1f} entries/write\n", name,
                   entries / took.count(), writes / took.count(), writes > 0 ? entries / writes : 0);
    }

    spur_plugin* plugin_;
    const spur_state_ops* ops_;
    Counter& counter_;
    std::atomic<std::uint64_t> proposed_{0};
};

void plain_writes(const std::string& directory, std::chrono::milliseconds time) {
    const auto path = directory + "/floor";
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_DSYNC | O_DIRECT | O_CLOEXEC, 0600);
    void* block = nullptr;
    if (file < 0 || posix_memalign(&block, 4096, 4096) != 0) return;
    std::memset(block, 1, 4096);
    if (posix_fallocate(file, 0, 8 << 20) != 0) return;
    std::uint64_t writes = 0;
    const auto start = Clock::now();
    while (Clock::now() - start < time && pwrite(file, block, 4096, static_cast<off_t>(writes % 2048 * 4096)) == 4096)
        ++writes;
    const std::chrono::duration<double> took = Clock::now() - start;
    fmt::print("{:<28} {:>10} {:>19.0f} writes/s\n", "floor: pwrite O_DSYNC", "",
               static_cast<double>(writes) / took.count());
    std::free(block);
    close(file);
    unlink(path.c_str());
}

// 1.5 kB that look a little like a job, and compress like one.
std::string job_bytes(unsigned i) {
    std::string body = fmt::format("job {} user{} partition batch name train-{} ", i, i % 97, i * 7919 % 100'003);
    while (body.size() < 1500)
        body += fmt::format("ENV_{}=/home/user{}/data/{:x};", body.size() % 41, i % 97, i * 2654435761u);
    body.resize(1500);
    return body;
}

struct Jobs {
    static constexpr unsigned count = 100'000;
    unsigned next = 0;
    std::string buffer;
    spur_source source{sizeof(spur_source), 0, this,
                       [](const spur_source* self, void* out, std::uint64_t room, std::uint64_t* length) {
                           auto& jobs = *static_cast<Jobs*>(self->context);
                           while (jobs.buffer.size() < room && jobs.next < count) jobs.buffer += job_bytes(jobs.next++);
                           *length = jobs.buffer.copy(static_cast<char*>(out), room);
                           jobs.buffer.erase(0, *length);
                           return SPUR_OK;
                       }};
};

class Restart {
public:
    Restart(const std::string& plugin, const std::string& directory) : plugin_(plugin) {
        host_.set_fact("state_dir", directory);
    }

    void measure() {
        fmt::print("100,000 jobs of 1.5 kB:\n");
        timed("  write them, 500 at a time", [&] { fill(); });
        timed("  restart from the log", [&] { reopen(); });
        timed("  take a snapshot", [&] { snapshot(); });
        timed("  restart from the snapshot", [&] { reopen(); });
    }

private:
    template <class Body>
    void timed(const char* name, Body&& body) {
        const auto start = Clock::now();
        body();
        const std::chrono::duration<double, std::milli> took = Clock::now() - start;
        fmt::print("{:<28} {:>10.0f} ms\n", name, took.count());
    }
    void reopen() {
        instance_.reset();
        instance_.emplace(TestPlugin::load(spur::test::spur_plugin_path(plugin_))
                              .create(host_, {{"snapshot_threshold", "100000000"}}));
        ops_ = instance_->query<spur_state_ops>(SPUR_STATE_IFACE);
        check(ops_->open(instance_->get(), &listener_, spur::test::never_stopped(), &error_));
    }
    void fill() {
        reopen();
        std::uint64_t proposed = 0;
        for (unsigned first = 0; first < Jobs::count; first += 500) {
            std::vector<std::string> bodies;
            std::vector<spur_state_entry> entries;
            for (unsigned i = first; i < first + 500; ++i) bodies.push_back(job_bytes(i));
            for (const auto& body : bodies) entries.push_back({{body.data(), body.size()}, 0, 0});
            check(ops_->propose(instance_->get(), entries.data(), 500, 0, &error_));
            ++proposed;
        }
        counter_.wait_for(proposed);
    }
    void snapshot() {
        Jobs jobs;
        check(ops_->snapshot(instance_->get(), Jobs::count, &jobs.source, spur::test::never_stopped(), &error_));
    }
    void check(spur_status status) const {
        if (status == SPUR_OK) return;
        fmt::print(stderr, "{}\n", error_.text);
        std::exit(1);
    }

    std::string plugin_;
    TestHost host_;
    std::optional<TestInstance> instance_;
    const spur_state_ops* ops_ = nullptr;
    Counter counter_;
    spur_state_listener listener_ = listener_for(counter_);
    spur_error error_{sizeof(spur_error), SPUR_OK, ""};
};

}  // namespace

int main(int argc, char** argv) {
    using namespace std::chrono_literals;
    const std::string plugin = argc > 1 ? argv[1] : "state_raft";
    const spur::test::TestDirectory temporary;
    const std::string directory = argc > 2 ? argv[2] : temporary.path();
    TestHost host;
    host.set_fact("state_dir", directory);
    auto instance =
        TestPlugin::load(spur::test::spur_plugin_path(plugin)).create(host, {{"snapshot_threshold", "100000000"}});
    if (!instance) return fmt::print(stderr, "{}\n", instance.error().text), 1;
    Counter counter;
    const auto listener = listener_for(counter);
    spur_error error{sizeof error, SPUR_OK, ""};
    if (instance.query<spur_state_ops>(SPUR_STATE_IFACE)
            ->open(instance.get(), &listener, spur::test::never_stopped(), &error) != SPUR_OK)
        return fmt::print(stderr, "{}\n", error.text), 1;

    fmt::print("{}, entries of {} bytes, in {}\n", plugin, entry_size, directory);
    plain_writes(directory, 1s);
    Bench bench(instance, counter);
    bench.sequential(3s);
    bench.clients(8, 3s);
    bench.together("8 threads, 1,000 in flight", 1, 8, 8000, 3s);
    bench.together("8 threads, 100 entries", 100, 8, 200, 3s);
    instance.destroy();

    Restart(plugin, directory + "/restart").measure();
}
