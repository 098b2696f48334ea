// A plugin in a process of its own, from the daemon's side: started, asked, ended when it does not come back, started
// again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "daemons/common/host/isolation.hpp"
#include "daemons/common/isolate/axes.hpp"
#include "daemons/common/isolate/record.hpp"

namespace spur::isolate {

struct Patience {
    std::chrono::milliseconds start{30'000};     // for loading and create()
    std::chrono::milliseconds call{30'000};      // for an op that is handed no stop
    std::chrono::milliseconds silence{300'000};  // of an op with a stop that may not last for hours: it hangs
    std::chrono::milliseconds grace{1'000};      // for one that was stopped
    std::chrono::milliseconds again{1'000};      // how long a call waits for a process that is being started
    std::chrono::milliseconds first_pause{100}, longest_pause{30'000};  // between two starts, twice as long each time
    std::chrono::milliseconds calm{60'000};                             // after which a process counts as well
};

class Process final : public host::Isolated, public Caller {
public:
    // Starts it and waits until the plugin is created, or for its refusal. `program`: spur-plugin-child.
    static Result<std::shared_ptr<host::Isolated>> open(host::IsolationWanted wanted, const std::string& program,
                                                        Patience patience);
    ~Process() override;

    const host::ModuleInfo& module() const override { return module_; }
    const void* ops() const override { return table_.data(); }
    spur_plugin* self() override { return reinterpret_cast<spur_plugin*>(static_cast<Caller*>(this)); }
    void close() override;
    Status status() const override;
    std::vector<host::Metric> metrics() override;

    Result<std::string> call(unsigned op, const std::string& arguments, const spur_stop* stop,
                             const Push& push) override;

private:
    // A call that waits, and what came for it.
    struct Waiting {
        std::condition_variable news;
        std::deque<Record> records;
        bool is_lost{false};
    };
    enum class State : std::uint8_t { starting, running, down, closed };

    Process(host::IsolationWanted wanted, const AxisCrossing& crossing, std::string program, Patience patience);
    void keep_alive();   // the thread: start, read until it ends, pause, again
    bool start_child();  // false: it could not be started; last_end_ says why
    void read_until_end();
    void take_opened(const Record& record);
    void take(Record record);
    void bury();  // after its end: how, and everybody who waits is told
    void end_child(const std::string& why);
    Result<std::shared_ptr<Socket>> running_socket(std::unique_lock<std::mutex>& lock);
    void reply(std::uint64_t id, spur_status said);  // of a sink
    Result<std::string> await_answer(std::unique_lock<std::mutex>& lock, Waiting& waiting, std::uint64_t id,
                                     unsigned op, const spur_stop* stop, const Push& push);

    const host::IsolationWanted wanted_;
    const AxisCrossing& crossing_;
    const std::string program_;
    const Patience patience_;
    host::ModuleInfo module_;
    std::vector<std::uint64_t> table_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    State state_{State::starting};
    bool has_opened_{false};  // once, at the beginning
    std::shared_ptr<Socket> socket_;
    int pid_{0};
    std::uint64_t restarts_{0}, next_call_{1};
    std::string last_end_;
    std::string ended_for_;  // why we ended it ourselves
    std::optional<Error> refusal_;
    std::map<std::uint64_t, Waiting*> waiting_;
    std::vector<host::Metric> last_metrics_;
    std::jthread thread_;
};

// For HostOptions: the program beside this one.
host::Isolate isolator(std::string program = {}, Patience patience = {});

}  // namespace spur::isolate
