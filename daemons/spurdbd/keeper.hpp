// What spurdbd does by itself, on a thread of its own: rolling usage up, and purging what is too old.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "daemons/spurdbd/retention.hpp"

namespace spur::dbd {

class Keeper {
public:
    Keeper(Database& database, RollUp& roll_up, Retention retention);
    ~Keeper() { stop(); }
    void stop();

private:
    void loop(const std::stop_token& stop);
    void purge(UnixSeconds now);

    Database& database_;
    RollUp& roll_up_;
    const Retention retention_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;
};

}  // namespace spur::dbd
