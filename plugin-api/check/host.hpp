// A host for one instance: the services a daemon offers, each with a memory of what was done with it and an eye for
// misuse.
#pragma once

#include "case.hpp"
#include "executor.hpp"
#include "memory.hpp"

#include <spur/plugin/plugin.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace spur::check {

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
    std::uint32_t handle_of(const std::string& metric);
    void lay_out_executor();
    void lay_out_store();
    static std::uint32_t define_metric(const spur_metrics* metrics, const spur_metric* metric);
    static std::uint32_t find_series(const spur_metrics* metrics, std::uint32_t metric, spur_span values);
    static void change_metric(const spur_metrics* metrics, std::uint32_t handle, double amount);
    static spur_status hear(const spur_notify* notify, std::uint32_t what, spur_str subject, spur_str reason);
    static spur_status change_store(const spur_store* store, spur_span changes, spur_error* err);

    Memory memory_;
    std::map<std::string, std::string> facts_;
    std::map<std::string, const void*> services_;
    const spur_host* host_ = nullptr;
    Executor executor_;
    std::atomic<bool> gone_ = false;
    std::atomic<std::uint64_t> clock_calls_ = 0;
    mutable std::mutex lock_;
    std::vector<std::string> metrics_;  // "name", "name|value|value": handles are places in it
    std::map<std::string, std::string> stored_;
    std::vector<std::string> misuse_;
};

}  // namespace spur::check
