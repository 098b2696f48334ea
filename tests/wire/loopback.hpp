// A server on a free loopback port and channels to it, for the tests of this folder.
#pragma once

#include "daemons/common/wire/client.hpp"
#include "daemons/common/wire/server.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace spur::wire {

using namespace std::chrono_literals;

inline Clock::time_point soon() { return Clock::now() + 10s; }

// Waits for what another thread will make true.
inline bool eventually(const std::function<bool()>& is_true, std::chrono::milliseconds patience = 10s) {
    const auto deadline = Clock::now() + patience;
    while (!is_true()) {
        if (Clock::now() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

class Loopback {
public:
    explicit Loopback(ServerOptions options = {}) {
        options.warn = [this](std::string_view text) {
            const std::lock_guard lock{mutex_};
            warnings_.emplace_back(text);
        };
        server_ = std::make_unique<RpcServer>(std::move(options));
        server_->unary("/test/Echo", [](Call call) { call.reply(std::string{call.request()}); });
    }

    RpcServer& server() { return *server_; }
    void start() {
        const auto started = server_->start();
        ASSERT_TRUE(started) << started.error().text;
    }
    [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", server_->port()}; }
    [[nodiscard]] ChannelOptions channel_options() const { return {.endpoints = {endpoint()}}; }
    [[nodiscard]] Channel channel() const { return Channel{channel_options()}; }
    bool warned_of(std::string_view part) {
        const std::lock_guard lock{mutex_};
        for (const auto& warning : warnings_)
            if (warning.find(part) != std::string::npos) return true;
        return false;
    }
    void stop() { server_.reset(); }

private:
    std::mutex mutex_;
    std::vector<std::string> warnings_;
    std::unique_ptr<RpcServer> server_;
};

}  // namespace spur::wire
