// A host for one instance: the services a daemon offers, each with a memory of what was done with it and an eye for
// misuse.
#pragma once

#include "case.hpp"
#include "memory.hpp"

#include <spur/plugin/plugin.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace spur::check {

// Tasks run one after the other on a thread that starts with the first.
class Executor {
public:
    ~Executor() { stop(); }
    spur_status post(spur_task task, void* argument, std::int64_t delay_ns, std::uint64_t* timer);
    bool cancel(std::uint64_t timer);
    void stop();  // cancels what waits, finishes what runs

private:
    struct Task {
        std::uint64_t timer;
        std::int64_t due_ns;
        spur_task run;
        void* argument;
    };
    void work();

    std::mutex lock_;
    std::condition_variable changed_;
    std::vector<Task> waiting_;
    std::uint64_t last_ = 0;
    bool stopping_ = false;
    std::thread thread_;
};

class TestHost {
public:
    enum class Services { all, none };

    TestHost(const Subject& subject, Shape shape = {}, Services services = Services::all);
    TestHost(const TestHost&) = delete;
    TestHost& operator=(const TestHost&) = delete;

    const spur_host* get() const { return host_; }
    void before_destroy() { executor_.stop(); }
    void after_destroy() { gone_ = true; }

    std::uint64_t clock_calls() const { return clock_calls_; }
    // Fails if a service was used wrongly.
    void judge() const;

private:
    template <class Table>
    static TestHost& of(const Table* table) {
        return *static_cast<TestHost*>(table->context);
    }
    void enter(const char* what);
    void misused(std::string text);
    void lay_out();

    static const void* find_service(const spur_host* host, const char* id);
    static void write_log(const spur_log* log, std::uint32_t level, spur_str text);
    static spur_status get_fact(const spur_config_service* facts, const char* key, const spur_sink* sink);
    static std::uint32_t define_metric(const spur_metrics* metrics, const char* name, std::uint32_t kind,
                                       const char* help);
    static void change_metric(const spur_metrics* metrics, std::uint32_t handle, double amount);

    Memory memory_;
    std::map<std::string, std::string> facts_;
    std::map<std::string, const void*> services_;
    const spur_host* host_ = nullptr;
    Executor executor_;
    std::atomic<bool> gone_ = false;
    std::atomic<std::uint64_t> clock_calls_ = 0;
    mutable std::mutex lock_;
    std::vector<std::string> metrics_;
    std::vector<std::string> misuse_;
};

}  // namespace spur::check
