// The functions plugins call. Nothing thrown here may reach them, and no pointer they pass is trusted further than it
// must be.
#include "daemons/common/host/services.hpp"

#include <spur/plugin/plugin.hpp>

#include <time.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "daemons/common/host/frame.hpp"
#include "daemons/common/host/memory.hpp"
#include "daemons/common/log/log.hpp"
#include "plugin-api/abi/first_sizes.hpp"

namespace spur::host {
namespace {

constexpr std::size_t longest_line = 4096, longest_key = 128;
constexpr std::uint64_t most_lines = 1000;  // of one instance in ten seconds

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
    return "spur_" + type;
}

std::shared_ptr<PluginStore> store_for(const ServiceSetup& setup) {
    const auto state_dir = setup.facts.find("state_dir");
    if (state_dir == setup.facts.end() || state_dir->second.empty()) return nullptr;
    return PluginStore::at(PluginStore::place(state_dir->second, setup.type));
}

// Text that a plugin handed over; nothing if it cannot be read.
std::optional<std::string> copy_bytes(const void* data, std::uint64_t length, std::uint64_t longest) {
    std::string copy(length <= longest ? length : 0, '\0');
    if (length > longest || !copy_memory(copy.data(), data, copy.size())) return std::nullopt;
    return copy;
}

spur_status status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid:
            return SPUR_E_INVALID;
        case ErrorCode::denied:
            return SPUR_E_DENIED;
        case ErrorCode::corrupt:
            return SPUR_E_CORRUPT;
        default:
            return SPUR_E_IO;
    }
}

Result<std::vector<PluginStore::Change>> copy_changes(const spur_span& changes) {
    constexpr std::size_t most = std::size_t{SPUR_STORE_MOST_KEYS} * 2;
    if (changes.count > most || (changes.count > 0 && changes.stride < abi::first_size<spur_store_change>))
        return fail(ErrorCode::invalid, "{} changes of {} bytes each are not what a store takes", changes.count,
                    changes.stride);
    std::vector<PluginStore::Change> copies;
    for (std::uint32_t i = 0; i < changes.count; ++i) {
        spur_store_change change{};  // an older plugin's is shorter
        const auto length = std::min<std::size_t>(changes.stride, sizeof(change));
        const bool is_there = copy_memory(&change, SPUR_AT(spur_store_change, changes, i), length);
        const auto key = is_there ? copy_bytes(change.key.data, change.key.length, SPUR_STORE_MOST_KEY) : std::nullopt;
        const bool is_put = change.what == SPUR_STORE_PUT;
        auto value = is_put ? copy_bytes(change.value.data, change.value.length, SPUR_STORE_MOST_VALUE) : std::nullopt;
        if (!key || (is_put && !value) || (!is_put && change.what != SPUR_STORE_REMOVE))
            return fail(ErrorCode::invalid, "change {} cannot be read, is too long, or is of an unknown kind", i);
        copies.push_back({*key, std::move(value)});
    }
    return copies;
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
            if (text.data == nullptr || !log::is_enabled(level_of(level)) || !self.may_log()) return;
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

    // Every way to hand something over is one call of the executor with the client in front.
    template <auto Member, class... Args>
    static spur_status hand_over(const spur_executor* table, Args... args) noexcept try {
        auto& self = of(table);
        self.check_open(SPUR_EXECUTOR_SERVICE);
        return (*self.executor_.*Member)(self.client_, args...);
    } catch (...) {
        return SPUR_E_BUSY;
    }
    static std::uint32_t cancel(const spur_executor* table, std::uint64_t timer) noexcept try {
        auto& self = of(table);
        return self.executor_->cancel(self.client_, timer) ? 1 : 0;
    } catch (...) {
        return 0;
    }

    static std::uint32_t define(const spur_metrics* table, const spur_metric* metric) noexcept try {
        std::string why;
        const auto handle = of(table).metrics_.define(metric, why);
        if (handle == 0) of(table).report_refusal(why);
        return handle;
    } catch (...) {
        return 0;
    }
    static std::uint32_t series(const spur_metrics* table, std::uint32_t metric, spur_span values) noexcept try {
        std::string why;
        const auto handle = metric == 0 ? 0 : of(table).metrics_.series(metric, values, why);
        if (!why.empty()) of(table).report_refusal(why);
        return handle;
    } catch (...) {
        return 0;
    }
    static void forget(const spur_metrics* table, std::uint32_t series) noexcept try {
        of(table).metrics_.forget(series);
    } catch (...) {
    }
    static void add(const spur_metrics* table, std::uint32_t handle, double amount) noexcept {
        of(table).metrics_.add(handle, amount);
    }
    static void set(const spur_metrics* table, std::uint32_t handle, double value) noexcept {
        of(table).metrics_.set(handle, value);
    }

    static spur_status changed(const spur_notify* table, std::uint32_t what, spur_str subject, spur_str reason) noexcept
        try {
        auto& self = of(table);
        self.check_open(SPUR_NOTIFY_SERVICE);
        auto about = copy_bytes(subject.data, subject.length, longest_key);
        const auto why = copy_bytes(reason.data, reason.length, longest_line);
        if (!about || !why) return SPUR_E_INVALID;
        return self.notices_->post(self.setup_.type, what, std::move(*about), one_line(*why));
    } catch (...) {
        return SPUR_E_INTERNAL;
    }

    // Opens the store's call, and turns what it came to into the plugin's words.
    template <class Body>
    static spur_status with_store(const spur_store* table, spur_error* err, const Body& body) noexcept try {
        auto& self = of(table);
        self.check_open(SPUR_STORE_SERVICE);
        const auto done = body(self, *self.store_);
        return done ? *done : plugin::fail(err, status_of(done.error().code), done.error().text);
    } catch (...) {
        return plugin::fail(err, SPUR_E_INTERNAL, "out of memory");
    }
    static spur_status store_get(const spur_store* table, spur_str key, const spur_sink* sink,
                                 spur_error* err) noexcept {
        return with_store(table, err, [&](Services&, PluginStore& store) -> Result<spur_status> {
            const auto wanted = copy_bytes(key.data, key.length, SPUR_STORE_MOST_KEY);
            if (!wanted || sink == nullptr) return fail(ErrorCode::invalid, "the key or the sink cannot be read");
            SPUR_TRY(const auto values, store.values());
            const auto found = values->find(*wanted);
            if (found == values->end()) return SPUR_E_NOT_FOUND;
            return sink->write(sink, found->second.data(), found->second.size());
        });
    }
    static spur_status store_change(const spur_store* table, spur_span changes, spur_error* err) noexcept {
        return with_store(table, err, [&](Services& self, PluginStore& store) -> Result<spur_status> {
            const auto* const frame = Frame::find(self.type());
            if (frame != nullptr && frame->role() == Role::cycle)
                self.report_violation("it wrote to its store in a planning cycle, which waits for the disk");
            SPUR_TRY(const auto copies, copy_changes(changes));
            SPUR_CHECK(store.change(copies));
            return SPUR_OK;
        });
    }
    static spur_status store_each(const spur_store* table, spur_str prefix, void* context,
                                  spur_status (*each)(void*, spur_str, spur_bytes), spur_error* err) noexcept {
        return with_store(table, err, [&](Services&, PluginStore& store) -> Result<spur_status> {
            const auto wanted = copy_bytes(prefix.data, prefix.length, SPUR_STORE_MOST_KEY);
            if (!wanted || each == nullptr) return fail(ErrorCode::invalid, "the prefix cannot be read");
            SPUR_TRY(const auto values, store.values());
            for (auto at = values->lower_bound(*wanted); at != values->end() && at->first.starts_with(*wanted); ++at)
                if (const auto status = each(context, plugin::str(at->first), {at->second.data(), at->second.size()});
                    status != SPUR_OK)
                    return status;
            return SPUR_OK;
        });
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
        if (*wanted == SPUR_NOTIFY_SERVICE) return &self.notify_;
        if (*wanted == SPUR_STORE_SERVICE && self.store_) return &self.store_table_;
        return nullptr;
    } catch (...) {
        return nullptr;
    }
};

Services::Services(ServiceSetup setup, std::shared_ptr<Executor> executor, std::shared_ptr<NoticeBoard> notices)
    : setup_{std::move(setup)},
      executor_{std::move(executor)},
      client_{executor_->add_client(setup_.type.c_str())},
      notices_{std::move(notices)},
      store_{store_for(setup_)},
      metrics_{metric_prefix(setup_.type)} {
    host_ = {sizeof(host_), 0, setup_.program.c_str(), setup_.version.c_str(), Calls::service, this};
    log_ = {sizeof(log_), 0, this, Calls::write, Calls::enabled};
    clock_ = {sizeof(clock_), 0, this, Calls::unix_ns, Calls::monotonic_ns};
    config_ = {sizeof(config_), 0, this, Calls::get};
    executor_table_ = {sizeof(executor_table_),
                       0,
                       this,
                       Calls::hand_over<&Executor::post>,
                       Calls::hand_over<&Executor::post_blocking>,
                       Calls::hand_over<&Executor::post_after>,
                       Calls::hand_over<&Executor::post_every>,
                       Calls::hand_over<&Executor::watch_fd>,
                       Calls::cancel};
    metrics_table_ = {sizeof(metrics_table_), 0,          this,      Calls::define, Calls::series,
                      Calls::forget,          Calls::add, Calls::set};
    notify_ = {sizeof(notify_), 0, this, Calls::changed};
    store_table_ = {sizeof(store_table_), 0, this, Calls::store_get, Calls::store_change, Calls::store_each};
}

void Services::close() {
    closed_.store(true);
    const std::lock_guard lock{log_mutex_};
    begin_log_window(0);
}

// One plugin in a loop must not fill the disk, nor bury what the others say.
bool Services::may_log() {
    constexpr std::int64_t window_ns = 10'000'000'000;
    const auto now = setup_.monotonic_ns ? setup_.monotonic_ns() : read_clock(CLOCK_MONOTONIC);
    const std::lock_guard lock{log_mutex_};
    if (log_lines_ == 0 || now - log_since_ >= window_ns) begin_log_window(now);
    if (++log_lines_ == most_lines + 1)
        log::warning("plugin {} wrote {} lines to the log within 10 s; the rest of them is dropped", setup_.type,
                     most_lines);
    return log_lines_ <= most_lines;
}

void Services::begin_log_window(std::int64_t now) {
    if (log_lines_ > most_lines)
        log::warning("plugin {}: {} lines of its log were dropped", setup_.type, log_lines_ - most_lines);
    log_lines_ = 0;
    log_since_ = now;
}

void Services::report_violation(const std::string& what) {
    if (violations_.fetch_add(1) == 0) log::error("plugin {} breaks a rule: {}", setup_.type, what);
}

void Services::report_refusal(const std::string& what) {
    if (!warned_metrics_.exchange(true)) log::warning("plugin {}: refused {}", setup_.type, what);
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
