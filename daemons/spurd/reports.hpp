// What the controller must hear. A report is sent again until it is acknowledged: at every new session, and now and
// then within one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "daemons/spurd/loop.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::agent {

class Reports {
public:
    using Send = std::function<void(const v1::StepReport&)>;  // into the void while there is no session
    using Heard = std::function<void()>;

    Reports(Loop& loop, Send send);
    ~Reports();
    Reports(const Reports&) = delete;
    Reports& operator=(const Reports&) = delete;

    // `heard` is called once the controller has acknowledged it.
    std::uint64_t add(v1::StepReport report, Heard heard);
    void withdraw(std::uint64_t id);
    void acknowledge(std::uint64_t id);
    void send_all();  // a session has begun
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

private:
    struct Waiting {
        v1::StepReport report;
        Heard heard;
        Loop::Clock::time_point sent;
    };
    void repeat();

    Loop& loop_;
    Send send_;
    std::map<std::uint64_t, Waiting> waiting_;
    std::uint64_t next_id_;
    Loop::TimerId timer_{0};
};

}  // namespace spur::agent
