// What plugins say through "spur.notify/1", gathered and handed to whoever in the daemon acts on it.
#pragma once

#include <spur/plugin/notify.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "daemons/common/host/executor.hpp"

namespace spur::host {

struct Notice {
    std::string plugin;  // "gpu/nvml"
    std::uint32_t what{};
    std::string subject;  // empty: all, or several
    std::string reason;   // of the first
    std::uint32_t count{1};
};

class NoticeBoard {
public:
    using Handler = std::function<void(const Notice&)>;

    explicit NoticeBoard(std::shared_ptr<Executor> executor);
    NoticeBoard(const NoticeBoard&) = delete;
    NoticeBoard& operator=(const NoticeBoard&) = delete;

    // From now on `handler` is called for these, on a thread of the executor, one at a time. One for each kind.
    void on(std::uint32_t what, Handler handler);
    // [any-thread, cheap] Notices of one plugin and kind that come close together are one.
    spur_status post(const std::string& plugin, std::uint32_t what, std::string subject, std::string reason);
    // No handler runs from here on.
    void close();

private:
    void deliver();

    std::shared_ptr<Executor> executor_;
    std::shared_ptr<Executor::Client> client_;
    std::mutex mutex_, delivering_;
    std::map<std::uint32_t, std::shared_ptr<const Handler>> handlers_;
    std::map<std::pair<std::string, std::uint32_t>, Notice> waiting_;
    bool is_scheduled_{false};
};

}  // namespace spur::host
