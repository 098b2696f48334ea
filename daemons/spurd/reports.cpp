// Keeping reports and sending them again until they are acknowledged.
#include "daemons/spurd/reports.hpp"

#include <ctime>

namespace spur::agent {

namespace {

using namespace std::chrono_literals;
constexpr auto repeat_after = 30s;

}  // namespace

// Ids go on growing over restarts, so that an answer to an earlier spurd is never taken for one to this.
Reports::Reports(Loop& loop, Send send)
    : loop_{loop}, send_{std::move(send)}, next_id_{static_cast<std::uint64_t>(std::time(nullptr)) << 20} {
    timer_ = loop_.after(repeat_after, [this] { repeat(); });
}

Reports::~Reports() { loop_.cancel(timer_); }

std::uint64_t Reports::add(v1::StepReport report, Heard heard) {
    const auto id = next_id_++;
    report.set_report_id(id);
    if (report.time() == 0) report.set_time(std::time(nullptr));
    const auto& kept =
        waiting_.emplace(id, Waiting{std::move(report), std::move(heard), Loop::Clock::now()}).first->second;
    send_(kept.report);
    return id;
}

void Reports::withdraw(std::uint64_t id) { waiting_.erase(id); }

void Reports::acknowledge(std::uint64_t id) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    const auto heard = std::move(found->second.heard);
    waiting_.erase(found);
    if (heard) heard();
}

void Reports::send_all() {
    for (auto& [id, waiting] : waiting_) {
        waiting.sent = Loop::Clock::now();
        send_(waiting.report);
    }
}

void Reports::repeat() {
    const auto now = Loop::Clock::now();
    for (auto& [id, waiting] : waiting_)
        if (now - waiting.sent >= repeat_after) {
            waiting.sent = now;
            send_(waiting.report);
        }
    timer_ = loop_.after(repeat_after, [this] { repeat(); });
}

}  // namespace spur::agent
