// A timer descriptor is both the deadline and what stop() makes readable.
#include "daemons/common/host/stop.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

constexpr std::chrono::seconds patience{1};  // of abi.h

std::int64_t ns_of(StopSource::Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// 1 ns after boot has long passed.
void set_timer(int fd, std::int64_t at_ns) {
    itimerspec when{};
    when.it_value.tv_sec = at_ns / 1'000'000'000;
    when.it_value.tv_nsec = at_ns % 1'000'000'000;
    ::timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace

StopSource::StopSource(StopSource* parent, Clock::time_point deadline) : deadline_{deadline}, parent_{parent} {
    table_.size = sizeof(table_);
    table_.fd = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);  // -1: asked by polling, as abi.h says
    table_.deadline_ns = deadline == no_deadline ? INT64_MAX : ns_of(deadline);
    table_.context = this;
    table_.stopped = [](const spur_stop* table) -> std::uint32_t {
        return static_cast<const StopSource*>(table->context)->stopped() ? 1 : 0;
    };
    if (table_.fd >= 0 && deadline != no_deadline) set_timer(table_.fd, std::max<std::int64_t>(table_.deadline_ns, 1));
    if (parent_ != nullptr) parent_->add(this);
}

StopSource::StopSource(Clock::time_point deadline) : StopSource{nullptr, deadline} {}
StopSource::StopSource(StopSource& parent, Clock::time_point deadline) : StopSource{&parent, deadline} {}

StopSource::~StopSource() {
    if (parent_ != nullptr) parent_->remove(this);
    if (table_.fd >= 0) ::close(table_.fd);
}

void StopSource::add(StopSource* child) {
    {
        const std::lock_guard lock{mutex_};
        children_.push_back(child);
    }
    if (stopped()) child->stop();
}

void StopSource::remove(StopSource* child) {
    const std::lock_guard lock{mutex_};
    std::erase(children_, child);
}

void StopSource::stop() noexcept {
    Clock::rep never = 0;
    stopped_at_.compare_exchange_strong(never, Clock::now().time_since_epoch().count());
    if (table_.fd >= 0) set_timer(table_.fd, 1);
    const std::lock_guard lock{mutex_};
    for (auto* const child : children_) child->stop();
}

bool StopSource::stopped() const noexcept {
    return stopped_at_.load(std::memory_order_relaxed) != 0 || (deadline_ != no_deadline && Clock::now() >= deadline_);
}

void StopSource::report_if_late(const std::string& plugin, const char* op) const {
    const Clock::time_point told{Clock::duration{stopped_at_.load()}};
    const auto since = told == Clock::time_point{} ? deadline_ : std::min(told, deadline_);
    const auto late = Clock::now() - since;
    if (since == no_deadline || late < patience) return;
    log::warning("plugin {} went on in {}() for {} ms after it was asked to stop; a second is the most", plugin, op,
                 std::chrono::duration_cast<std::chrono::milliseconds>(late).count());
}

StopWhen::StopWhen(std::function<bool()> is_time) : is_time_{std::move(is_time)} {
    table_.size = sizeof(table_);
    table_.fd = -1;
    table_.deadline_ns = INT64_MAX;
    table_.context = this;
    table_.stopped = [](const spur_stop* table) -> std::uint32_t {
        auto& self = *static_cast<StopWhen*>(table->context);
        if (!self.stopped_.load(std::memory_order_relaxed) && self.is_time_()) self.stopped_.store(true);
        return self.stopped_.load(std::memory_order_relaxed) ? 1 : 0;
    };
}

bool is_stop_signal_pending() {
    sigset_t pending;
    if (::sigpending(&pending) != 0) return false;
    return ::sigismember(&pending, SIGTERM) == 1 || ::sigismember(&pending, SIGINT) == 1;
}

}  // namespace spur::host
