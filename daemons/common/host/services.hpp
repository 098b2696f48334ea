// What one instance is offered: the spur_host it is created with, and the service tables behind it. Lives for ever,
// since a thread that a plugin forgot may call in after destroy(); such calls are counted and answered, never obeyed.
#pragma once

#include <spur/plugin/clock.h>
#include <spur/plugin/config.h>
#include <spur/plugin/executor.h>
#include <spur/plugin/log.h>
#include <spur/plugin/metrics.h>
#include <spur/plugin/module.h>
#include <spur/plugin/notify.h>
#include <spur/plugin/store.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemons/common/host/executor.hpp"
#include "daemons/common/host/metrics.hpp"
#include "daemons/common/host/notices.hpp"
#include "daemons/common/host/plugin_store.hpp"

namespace spur::host {

struct ServiceSetup {
    std::string program, version;
    std::string type;  // of the plugin
    std::map<std::string, std::string> facts;
    std::function<std::int64_t()> unix_ns, monotonic_ns;  // empty: the system's
    bool is_policy{false};
    bool checks_roles{false};
};

class Services {
public:
    Services(ServiceSetup setup, std::shared_ptr<Executor> executor, std::shared_ptr<NoticeBoard> notices);
    Services(const Services&) = delete;
    Services& operator=(const Services&) = delete;

    const spur_host* host() const { return &host_; }
    const char* type() const { return setup_.type.c_str(); }

    // Before destroy(): no task of the instance runs from here on. False if one does not return.
    bool drain(std::chrono::milliseconds patience) { return executor_->drain(client_, patience); }
    void close();  // after destroy()

    // A rule of the ABI was broken: logged the first time, counted every time.
    void report_violation(const std::string& what);
    std::uint64_t violations() const { return violations_.load(); }
    std::vector<Metric> metrics() const { return metrics_.read(); }
    OpStats task_stats() const { return executor_->stats(client_); }

private:
    struct Calls;  // the functions in the tables
    void check_open(const char* service);
    void report_refusal(const std::string& what);  // of a metric; the first is told
    void check_clock() noexcept;
    bool may_log();  // false: it floods the log
    void begin_log_window(std::int64_t now);

    ServiceSetup setup_;
    std::shared_ptr<Executor> executor_;
    std::shared_ptr<Executor::Client> client_;
    std::shared_ptr<NoticeBoard> notices_;
    std::shared_ptr<PluginStore> store_;  // empty where the daemon has no state directory
    MetricTable metrics_;
    std::mutex log_mutex_;
    std::uint64_t log_lines_{};  // in this stretch of time
    std::int64_t log_since_{};   // when it began
    std::atomic<bool> closed_{false};
    std::atomic<std::uint64_t> violations_{0};
    std::atomic<bool> warned_closed_{false}, warned_clock_{false}, warned_metrics_{false};

    spur_host host_{};
    spur_log log_{};
    spur_clock clock_{};
    spur_config_service config_{};
    spur_executor executor_table_{};
    spur_metrics metrics_table_{};
    spur_notify notify_{};
    spur_store store_table_{};
};

}  // namespace spur::host
