// The services, and what counts as misuse of each.
#include "host.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

namespace spur::check {
namespace {

constexpr std::size_t most_tasks = 1000;

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

}  // namespace

// ---- executor ------------------------------------------------------------------------------------------------------

spur_status Executor::post(spur_task task, void* argument, std::int64_t delay_ns, std::uint64_t* timer) {
    const std::scoped_lock hold(lock_);
    if (stopping_ || waiting_.size() >= most_tasks) return SPUR_E_BUSY;
    waiting_.push_back({++last_, monotonic_ns() + delay_ns, task, argument});
    if (timer != nullptr) *timer = last_;
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    changed_.notify_all();
    return SPUR_OK;
}

bool Executor::cancel(std::uint64_t timer) {
    const std::scoped_lock hold(lock_);
    return std::erase_if(waiting_, [&](const Task& task) { return task.timer == timer; }) != 0;
}

void Executor::stop() {
    {
        const std::scoped_lock hold(lock_);
        stopping_ = true;
        waiting_.clear();
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

void Executor::work() {
    std::unique_lock hold(lock_);
    while (!stopping_) {
        if (waiting_.empty()) {
            changed_.wait(hold);
            continue;
        }
        const auto next = std::ranges::min_element(waiting_, {}, &Task::due_ns);
        if (const auto wait = next->due_ns - monotonic_ns(); wait > 0) {
            changed_.wait_for(hold, std::chrono::nanoseconds(wait));
            continue;
        }
        const auto task = *next;
        waiting_.erase(next);
        hold.unlock();
        task.run(task.argument);
        hold.lock();
    }
}

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
    services_[SPUR_EXECUTOR_SERVICE] = memory_.one(spur_executor{
        .context = this,
        .post =
            [](auto* table, auto task, auto* argument) {
                of(table).enter("executor.post");
                return of(table).executor_.post(task, argument, 0, nullptr);
            },
        .post_after =
            [](auto* table, auto delay, auto task, auto* argument, auto* timer) {
                of(table).enter("executor.post_after");
                return of(table).executor_.post(task, argument, delay, timer);
            },
        .cancel = [](auto* table, auto timer) { return std::uint32_t{of(table).executor_.cancel(timer)}; }});
    services_[SPUR_METRICS_SERVICE] = memory_.one(
        spur_metrics{.context = this, .define = &define_metric, .add = &change_metric, .set = &change_metric});
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

std::uint32_t TestHost::define_metric(const spur_metrics* metrics, const char* name, std::uint32_t kind,
                                      const char* help) {
    auto& self = of(metrics);
    self.enter("metrics.define");
    if (name == nullptr || !is_metric_name(name))
        return self.misused("metrics.define was given a name that is not in lower_case_words"), 0;
    if (kind < SPUR_METRIC_COUNTER || kind > SPUR_METRIC_HISTOGRAM)
        return self.misused(fmt::format("metric {} is of unknown kind {}", name, kind)), 0;
    if (help == nullptr || *help == '\0') self.misused(fmt::format("metric {} has no help", name));
    const std::scoped_lock hold(self.lock_);
    const auto found = std::ranges::find(self.metrics_, name);
    if (found == self.metrics_.end()) self.metrics_.emplace_back(name);
    return static_cast<std::uint32_t>(std::ranges::find(self.metrics_, name) - self.metrics_.begin()) + 1;
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
