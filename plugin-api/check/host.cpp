// The services, and what counts as misuse of each.
#include "host.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <ctime>

namespace spur::check {
namespace {

std::int64_t monotonic_ns() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}
std::int64_t unix_ns() { return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

// As the daemon that would load it: some plugins act differently in different daemons.
const char* program_for(const Subject& subject) {
    const auto* axis = find_axis(subject.type);
    return axis != nullptr ? axis->program : "spurctld";
}

// A port nobody listens on, the same for all hosts of this process.
int free_port() {
    static const int port = [] {
        const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        bind(probe, reinterpret_cast<sockaddr*>(&address), length);
        getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length);
        close(probe);
        return ntohs(address.sin_port);
    }();
    return port;
}

bool is_metric_name(std::string_view name) {
    const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
    return !name.empty() && std::ranges::all_of(name, good);
}

bool is_store_key(std::string_view key) {
    const auto good = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-' || c == '/';
    };
    return !key.empty() && key.size() <= SPUR_STORE_MOST_KEY && std::ranges::all_of(key, good);
}

}  // namespace

// ---- services ------------------------------------------------------------------------------------------------------

TestHost::TestHost(const Subject& subject, Shape shape, Services services) : memory_(shape) {
    facts_ = {{"cluster_name", "check"},
              {"state_dir", subject.scratch / "state"},
              {"runtime_dir", subject.scratch / "run"},
              {"node_name", "check1"},
              {"listen_addr", fmt::format("127.0.0.1:{}", free_port())},
              {"controller.hosts", fmt::format("127.0.0.1:{}", free_port())},
              {"plugin.file", subject.file}};
    std::filesystem::create_directories(subject.scratch / "state");
    std::filesystem::create_directories(subject.scratch / "run");
    if (services == Services::all) lay_out();
    host_ = memory_.one(spur_host{.program = memory_.c_str(program_for(subject)),
                                  .version = memory_.c_str(SPUR_VERSION),
                                  .service = &find_service,
                                  .context = this});
}

void TestHost::lay_out() {
    services_[SPUR_LOG_SERVICE] =
        memory_.one(spur_log{.context = this, .write = &write_log, .enabled = [](auto*, auto) { return 1u; }});
    services_[SPUR_CLOCK_SERVICE] =
        memory_.one(spur_clock{.context = this,
                               .unix_ns = [](auto* clock) { return ++of(clock).clock_calls_, unix_ns(); },
                               .monotonic_ns = [](auto* clock) { return ++of(clock).clock_calls_, monotonic_ns(); }});
    services_[SPUR_CONFIG_SERVICE] = memory_.one(spur_config_service{.context = this, .get = &get_fact});
    services_[SPUR_METRICS_SERVICE] = memory_.one(spur_metrics{
        .context = this,
        .define = &define_metric,
        .series = &find_series,
        .forget = [](auto* table, auto) { of(table).enter("metrics.forget"); },
        .add = &change_metric,
        .set = &change_metric,
    });
    services_[SPUR_NOTIFY_SERVICE] = memory_.one(spur_notify{.context = this, .changed = &hear});
    lay_out_executor();
    lay_out_store();
}

void TestHost::lay_out_executor() {
    services_[SPUR_EXECUTOR_SERVICE] = memory_.one(spur_executor{
        .context = this,
        .post =
            [](auto* table, auto run, auto drop, auto* argument) {
                of(table).enter("executor.post");
                return of(table).executor_.add({.run = [=] { run(argument); }, .drop = drop, .argument = argument},
                                               nullptr);
            },
        .post_blocking =
            [](auto* table, auto run, auto drop, auto* argument) {
                of(table).enter("executor.post_blocking");
                return of(table).executor_.add_blocking(run, drop, argument);
            },
        .post_after =
            [](auto* table, auto delay, auto run, auto drop, auto* argument, auto* id) {
                of(table).enter("executor.post_after");
                return of(table).executor_.add({.run = [=] { run(argument); },
                                                .drop = drop,
                                                .argument = argument,
                                                .due_ns = monotonic_ns() + delay},
                                               id);
            },
        .post_every =
            [](auto* table, auto period, auto run, auto drop, auto* argument, auto* id) {
                of(table).enter("executor.post_every");
                return of(table).executor_.add({.run = [=] { run(argument); },
                                                .drop = drop,
                                                .argument = argument,
                                                .due_ns = monotonic_ns() + period,
                                                .period_ns = period},
                                               id);
            },
        .watch_fd =
            [](auto* table, auto fd, auto events, auto run, auto drop, auto* argument, auto* id) {
                of(table).enter("executor.watch_fd");
                const auto wanted = static_cast<short>(((events & SPUR_WATCH_READ) != 0 ? POLLIN : 0) |
                                                       ((events & SPUR_WATCH_WRITE) != 0 ? POLLOUT : 0));
                return of(table).executor_.add({.drop = drop,
                                                .argument = argument,
                                                .fd = fd,
                                                .events = wanted,
                                                .seen = [=](std::uint32_t seen) { run(argument, seen); }},
                                               id);
            },
        .cancel = [](auto* table, auto id) { return std::uint32_t{of(table).executor_.cancel(id)}; }});
}

// In memory, for one instance: what is kept over restarts is the daemon's to test.
void TestHost::lay_out_store() {
    services_[SPUR_STORE_SERVICE] = memory_.one(spur_store{
        .context = this,
        .get = [](auto* table, auto key, auto* sink, auto*) -> spur_status {
            auto& self = of(table);
            self.enter("store.get");
            const std::scoped_lock hold(self.lock_);
            const auto found = self.stored_.find(std::string(plugin::view(key)));
            return found == self.stored_.end() ? SPUR_E_NOT_FOUND : plugin::push(sink, found->second);
        },
        .change = &change_store,
        .each = [](auto* table, auto prefix, auto* context, auto each, auto*) -> spur_status {
            auto& self = of(table);
            self.enter("store.each");
            std::unique_lock hold(self.lock_);
            const auto copy = self.stored_;
            hold.unlock();
            for (const auto& [key, value] : copy)
                if (key.starts_with(plugin::view(prefix)))
                    if (const auto status = each(context, plugin::str(key), {value.data(), value.size()});
                        status != SPUR_OK)
                        return status;
            return SPUR_OK;
        }});
}

spur_status TestHost::change_store(const spur_store* store, spur_span changes, spur_error* err) {
    auto& self = of(store);
    self.enter("store.change");
    std::unique_lock hold(self.lock_);
    auto fresh = self.stored_;
    hold.unlock();
    std::size_t bytes = 0;
    for (const auto& change : plugin::Records<spur_store_change>(changes)) {
        const std::string key(plugin::view(change.key));
        if (!is_store_key(key)) return plugin::fail(err, SPUR_E_INVALID, "a key is not as store.h has them");
        if (change.what == SPUR_STORE_REMOVE)
            fresh.erase(key);
        else if (change.what == SPUR_STORE_PUT && change.value.length <= SPUR_STORE_MOST_VALUE)
            fresh[key] = {static_cast<const char*>(change.value.data), change.value.length};
        else
            return plugin::fail(err, SPUR_E_INVALID, "a value is too long, or the change of an unknown kind");
    }
    for (const auto& [key, value] : fresh) bytes += key.size() + value.size();
    if (fresh.size() > SPUR_STORE_MOST_KEYS || bytes > SPUR_STORE_MOST_BYTES)
        return plugin::fail(err, SPUR_E_INVALID, "the store is full");
    hold.lock();
    self.stored_ = std::move(fresh);
    return SPUR_OK;
}

spur_status TestHost::hear(const spur_notify* notify, std::uint32_t what, spur_str subject, spur_str reason) {
    of(notify).enter("notify.changed");
    if ((subject.data == nullptr && subject.length != 0) || (reason.data == nullptr && reason.length != 0))
        of(notify).misused("notify.changed was given a length without text");
    return what >= SPUR_CHANGED_PLAN && what <= SPUR_CHANGED_STORAGE ? SPUR_OK : SPUR_E_UNSUPPORTED;
}

const void* TestHost::find_service(const spur_host* host, const char* id) {
    auto& self = of(host);
    self.enter("host.service");
    if (id == nullptr) return self.misused("host->service() was called with a NULL id"), nullptr;
    const auto found = self.services_.find(id);
    return found != self.services_.end() ? found->second : nullptr;
}

void TestHost::write_log(const spur_log* log, std::uint32_t level, spur_str text) {
    of(log).enter("log.write");
    if (level < SPUR_LOG_ERROR || level > SPUR_LOG_DEBUG)
        of(log).misused(fmt::format("log.write was given level {}", level));
    if (text.data == nullptr && text.length != 0)
        of(log).misused("log.write was given a length without text");
    else if (plugin::view(text).ends_with('\n'))
        of(log).misused("log.write was given a line that ends in a newline");
}

spur_status TestHost::get_fact(const spur_config_service* facts, const char* key, const spur_sink* sink) {
    auto& self = of(facts);
    self.enter("config.get");
    const auto found = self.facts_.find(key);
    return found == self.facts_.end() ? SPUR_E_NOT_FOUND : plugin::push(sink, found->second);
}

std::uint32_t TestHost::define_metric(const spur_metrics* metrics, const spur_metric* metric) {
    auto& self = of(metrics);
    self.enter("metrics.define");
    if (metric == nullptr || metric->size < first_size<spur_metric>)
        return self.misused("metrics.define was given a metric without its size"), 0;
    const std::string name(plugin::view(metric->name));
    if (!is_metric_name(name))
        return self.misused("metrics.define was given a name that is not in lower_case_words"), 0;
    if (metric->kind < SPUR_METRIC_COUNTER || metric->kind > SPUR_METRIC_HISTOGRAM)
        return self.misused(fmt::format("metric {} is of unknown kind {}", name, metric->kind)), 0;
    if (metric->help.length == 0) self.misused(fmt::format("metric {} has no help", name));
    for (const auto& label : plugin::Records<spur_str>(metric->labels))
        if (!is_metric_name(plugin::view(label)) || plugin::view(label) == "le")
            self.misused(fmt::format("metric {} has a label that is not in lower_case_words", name));
    return self.handle_of(name);
}

std::uint32_t TestHost::find_series(const spur_metrics* metrics, std::uint32_t metric, spur_span values) {
    auto& self = of(metrics);
    self.enter("metrics.series");
    std::string name;
    {
        const std::scoped_lock hold(self.lock_);
        if (metric == 0 || metric > self.metrics_.size()) return 0;
        name = self.metrics_[metric - 1];
    }
    for (const auto& value : plugin::Records<spur_str>(values)) name += fmt::format("|{}", plugin::view(value));
    return self.handle_of(name);
}

std::uint32_t TestHost::handle_of(const std::string& name) {
    const std::scoped_lock hold(lock_);
    const auto found = std::ranges::find(metrics_, name);
    if (found != metrics_.end()) return static_cast<std::uint32_t>(found - metrics_.begin()) + 1;
    metrics_.push_back(name);
    return static_cast<std::uint32_t>(metrics_.size());
}

void TestHost::change_metric(const spur_metrics* metrics, std::uint32_t handle, double amount) {
    auto& self = of(metrics);
    self.enter("metrics.add or set");
    if (!std::isfinite(amount)) self.misused("a metric was changed by NaN or infinity");
    const std::scoped_lock hold(self.lock_);
    if (handle > self.metrics_.size())
        self.misuse_.push_back(fmt::format("metric handle {} was never given out", handle));
}

void TestHost::enter(const char* what) {
    if (gone_) misused(fmt::format("{} was called after destroy()", what));
}

void TestHost::misused(std::string text) {
    const std::scoped_lock hold(lock_);
    misuse_.push_back(std::move(text));
}

void TestHost::judge() const {
    const std::scoped_lock hold(lock_);
    if (!misuse_.empty()) throw Failed{misuse_.front()};
}

}  // namespace spur::check
