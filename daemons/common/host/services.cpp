// The functions plugins call. Nothing thrown here may reach them, and no pointer they pass is trusted further than it
// must be.
#include "daemons/common/host/services.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "daemons/common/host/frame.hpp"
#include "daemons/common/host/memory.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

constexpr std::size_t longest_line = 4096, longest_key = 128;

std::int64_t read_clock(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

log::Level level_of(std::uint32_t level) {
    switch (level) {
        case SPUR_LOG_ERROR:
            return log::Level::error;
        case SPUR_LOG_WARNING:
            return log::Level::warning;
        case SPUR_LOG_INFO:
            return log::Level::info;
        default:
            return log::Level::debug;
    }
}

// One line stays one line: nobody forges log entries with a newline in a job name.
std::string one_line(std::string_view text) {
    std::string line{text.substr(0, longest_line)};
    std::ranges::replace_if(
        line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return line;
}

std::string metric_prefix(std::string type) {
    std::ranges::replace(type, '/', '_');
    return type;
}

}  // namespace

struct Services::Calls {
    template <class Table>
    static Services& of(const Table* table) {
        return *static_cast<Services*>(table->context);
    }

    static void write(const spur_log* table, std::uint32_t level, spur_str text) noexcept {
        auto& self = of(table);
        try {
            self.check_open(SPUR_LOG_SERVICE);
            if (text.data == nullptr || !log::is_enabled(level_of(level))) return;
            log::write(level_of(level), self.setup_.type + ": " + one_line({text.data, text.length}));
        } catch (...) {
        }
    }
    static std::uint32_t enabled(const spur_log*, std::uint32_t level) noexcept {
        return log::is_enabled(level_of(level)) ? 1 : 0;
    }

    static std::int64_t unix_ns(const spur_clock* table) noexcept {
        of(table).check_clock();
        const auto& fake = of(table).setup_.unix_ns;
        return fake ? fake() : read_clock(CLOCK_REALTIME);
    }
    static std::int64_t monotonic_ns(const spur_clock* table) noexcept {
        of(table).check_clock();
        const auto& fake = of(table).setup_.monotonic_ns;
        return fake ? fake() : read_clock(CLOCK_MONOTONIC);
    }

    static spur_status get(const spur_config_service* table, const char* key, const spur_sink* sink) noexcept try {
        auto& self = of(table);
        self.check_open(SPUR_CONFIG_SERVICE);
        const auto wanted = copy_string(key, longest_key);
        if (!wanted || sink == nullptr || sink->write == nullptr) return SPUR_E_INVALID;
        const auto fact = self.setup_.facts.find(*wanted);
        if (fact == self.setup_.facts.end()) return SPUR_E_NOT_FOUND;
        return sink->write(sink, fact->second.data(), fact->second.size());
    } catch (...) {
        return SPUR_E_INTERNAL;
    }

    static spur_status post(const spur_executor* table, spur_task task, void* argument) noexcept try {
        auto& self = of(table);
        self.check_open(SPUR_EXECUTOR_SERVICE);
        return self.executor_->post(self.client_, task, argument);
    } catch (...) {
        return SPUR_E_BUSY;
    }
    static spur_status post_after(const spur_executor* table, std::int64_t delay_ns, spur_task task, void* argument,
                                  std::uint64_t* timer) noexcept try {
        auto& self = of(table);
        self.check_open(SPUR_EXECUTOR_SERVICE);
        return self.executor_->post_after(self.client_, delay_ns, task, argument, timer);
    } catch (...) {
        return SPUR_E_BUSY;
    }
    static std::uint32_t cancel(const spur_executor* table, std::uint64_t timer) noexcept try {
        auto& self = of(table);
        return self.executor_->cancel(self.client_, timer) ? 1 : 0;
    } catch (...) {
        return 0;
    }

    static std::uint32_t define(const spur_metrics* table, const char* name, std::uint32_t kind,
                                const char* help) noexcept try {
        return of(table).metrics_.define(name, kind, help);
    } catch (...) {
        return 0;
    }
    static void add(const spur_metrics* table, std::uint32_t handle, double amount) noexcept {
        of(table).metrics_.add(handle, amount);
    }
    static void set(const spur_metrics* table, std::uint32_t handle, double value) noexcept {
        of(table).metrics_.set(handle, value);
    }

    static const void* service(const spur_host* host, const char* id) noexcept try {
        const auto& self = of(host);
        const auto wanted = copy_string(id, longest_key);
        if (!wanted) return nullptr;
        if (*wanted == SPUR_LOG_SERVICE) return &self.log_;
        if (*wanted == SPUR_CLOCK_SERVICE) return &self.clock_;
        if (*wanted == SPUR_CONFIG_SERVICE) return &self.config_;
        if (*wanted == SPUR_EXECUTOR_SERVICE) return &self.executor_table_;
        if (*wanted == SPUR_METRICS_SERVICE) return &self.metrics_table_;
        return nullptr;
    } catch (...) {
        return nullptr;
    }
};

Services::Services(ServiceSetup setup, std::shared_ptr<Executor> executor)
    : setup_{std::move(setup)},
      executor_{std::move(executor)},
      client_{executor_->add_client(setup_.type.c_str())},
      metrics_{metric_prefix(setup_.type)} {
    host_ = {sizeof(host_), 0, setup_.program.c_str(), setup_.version.c_str(), Calls::service, this};
    log_ = {sizeof(log_), 0, this, Calls::write, Calls::enabled};
    clock_ = {sizeof(clock_), 0, this, Calls::unix_ns, Calls::monotonic_ns};
    config_ = {sizeof(config_), 0, this, Calls::get};
    executor_table_ = {sizeof(executor_table_), 0, this, Calls::post, Calls::post_after, Calls::cancel};
    metrics_table_ = {sizeof(metrics_table_), 0, this, Calls::define, Calls::add, Calls::set};
}

void Services::report_violation(const std::string& what) {
    if (violations_.fetch_add(1) == 0) log::error("plugin {} breaks a rule: {}", setup_.type, what);
}

void Services::check_open(const char* service) {
    if (!closed_.load(std::memory_order_relaxed)) return;
    violations_.fetch_add(1);
    if (!warned_closed_.exchange(true))
        log::error("plugin {} used {} after destroy(): it left a thread behind; every thread must be joined there",
                   setup_.type, service);
}

void Services::check_clock() noexcept {
    if (!setup_.checks_roles || !setup_.is_policy) return;
    violations_.fetch_add(1);
    if (warned_clock_.exchange(true)) return;
    try {
        log::error(
            "plugin {} read the clock: a policy takes its time from view->now, so that the same view gives the same "
            "plan",
            setup_.type);
    } catch (...) {
    }
}

}  // namespace spur::host
