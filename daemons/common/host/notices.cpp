// A short pause gathers what belongs together: a driver that loses eight cards says so eight times.
#include "daemons/common/host/notices.hpp"

#include <utility>

#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {
constexpr std::int64_t pause_ns = 100'000'000;
constexpr std::chrono::seconds patience{5};
}  // namespace

NoticeBoard::NoticeBoard(std::shared_ptr<Executor> executor)
    : executor_{std::move(executor)}, client_{executor_->add_client("the notices of plugins")} {}

void NoticeBoard::on(std::uint32_t what, Handler handler) {
    const std::lock_guard lock{mutex_};
    handlers_[what] = std::make_shared<const Handler>(std::move(handler));
}

spur_status NoticeBoard::post(const std::string& plugin, std::uint32_t what, std::string subject, std::string reason) {
    const std::lock_guard lock{mutex_};
    if (!handlers_.contains(what)) return SPUR_E_UNSUPPORTED;
    const auto [place, is_new] = waiting_.try_emplace({plugin, what}, Notice{plugin, what, subject, std::move(reason)});
    if (!is_new) {
        if (place->second.subject != subject) place->second.subject.clear();
        ++place->second.count;
    }
    if (std::exchange(is_scheduled_, true)) return SPUR_OK;
    const auto run = [](void* self) { static_cast<NoticeBoard*>(self)->deliver(); };
    const auto posted = executor_->post_after(client_, pause_ns, run, nullptr, this, nullptr);
    if (posted != SPUR_OK) is_scheduled_ = false;
    return posted;
}

void NoticeBoard::deliver() {
    const std::lock_guard one_at_a_time{delivering_};
    std::map<std::pair<std::string, std::uint32_t>, Notice> waiting;
    std::map<std::uint32_t, std::shared_ptr<const Handler>> handlers;
    {
        const std::lock_guard lock{mutex_};
        waiting.swap(waiting_);
        handlers = handlers_;
        is_scheduled_ = false;
    }
    for (const auto& [key, notice] : waiting) {
        log::debug("plugin {} says that something changed: {}{}", notice.plugin,
                   notice.reason.empty() ? "no reason given" : notice.reason,
                   notice.count > 1 ? fmt::format(" (the first of {})", notice.count) : "");
        if (const auto handler = handlers.find(notice.what); handler != handlers.end()) (*handler->second)(notice);
    }
}

void NoticeBoard::close() {
    {
        const std::lock_guard lock{mutex_};
        handlers_.clear();
    }
    if (!executor_->drain(client_, patience)) log::warning("what a plugin said is still being acted on");
}

}  // namespace spur::host
