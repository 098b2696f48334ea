// Who wants to hear of changes: Watch streams, and calls that wait until a job has changed (srun and salloc waiting for
// their allocation). Woken after every published model, served on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "daemons/common/wire/server.hpp"
#include "daemons/spurctld/engine/engine.hpp"
#include "daemons/spurctld/service/users.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::ctld {

class WatchHub final : public EngineObserver {
public:
    using Clock = std::chrono::steady_clock;
    // True: it has got what it wanted and is to be forgotten. `expired`: the last chance to answer.
    using Waiter = std::function<bool(const planning::ReadModel& model, bool expired)>;

    WatchHub(Engine& engine, const Users& users);
    ~WatchHub() override;

    // Calls `then` with the stream's request. It takes one: each costs a whole picture.
    static void await_request(const wire::Session& session, std::function<void(const v1::WatchRequest&)> then);
    // A Watch stream; its one request has arrived. Closes it if its caller has too many already. [any thread]
    void subscribe(const wire::Session& session, const v1::WatchRequest& request, const Actor& who);
    // Calls `waiter` now, after each change of `job`, and at `deadline`.
    void wait_for_job(JobId job, Clock::time_point deadline, Waiter waiter);
    void close_all(const std::string& why);  // the streams; their readers open them again
    void stop();

    void on_applied(const Cluster& cluster, const Events& events, const planning::Changes& changes,
                    const std::shared_ptr<const planning::ReadModel>& model, bool leads) override;
    void on_leadership(const Cluster&, const Leadership&) override {}

private:
    struct Batch {
        planning::Changes changes;
        std::shared_ptr<const planning::ReadModel> model;
    };
    struct Subscriber {
        wire::Session session;
        bool jobs, nodes;
        Actor who;
        bool has_picture{false};   // what happens before it has is kept in `missed`
        std::uint64_t version{0};  // of the picture
        std::vector<Batch> missed{};
    };
    struct Waiting {
        JobId job;
        Clock::time_point deadline;
        Waiter waiter;
    };
    void loop(const std::stop_token& stop);
    void serve(const Batch& batch);
    bool enter(const std::shared_ptr<Subscriber>& subscriber);
    void tell(const Subscriber& subscriber, const Batch& batch, bool everything) const;
    void check_waiters(const planning::ReadModel& model, const planning::Changes* changes, bool expired_only);

    Engine& engine_;
    const Users& users_;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::vector<Batch> batches_;
    std::list<std::shared_ptr<Subscriber>> subscribers_;
    std::list<Waiting> waiting_;
    bool has_waiters_in_hand_{false};  // taken out of waiting_ to be asked; some may come back
    std::jthread thread_;
};

}  // namespace spur::ctld
