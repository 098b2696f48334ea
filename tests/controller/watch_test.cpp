// Watch streams: the picture, and everything after it.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <ranges>

#include "daemons/common/wire/server_state.hpp"
#include "daemons/spurctld/service/watch.hpp"
#include "tests/support/engine_rig.hpp"
#include "tests/support/fake_directory.hpp"

namespace spur::ctld {
namespace {

using namespace std::chrono_literals;
using namespace testing;

// A Watch stream whose messages are kept.
struct Watcher {
    explicit Watcher(std::uint32_t uid = 0) {
        state->route = {inbox, 1, 1};
        state->method = "/spur.v1.Controller/Watch";
        state->peer = std::make_shared<wire::Peer>(wire::Peer{"127.0.0.1:40000", "", {}});
        state->caller = {.uid = uid, .gid = uid, .name = ""};
        state->max_queue = 64U << 20;
    }
    void read() {
        std::vector<wire::Order> orders;
        inbox->take(orders);
        for (const auto& order : orders) {
            v1::WatchReply reply;
            if (order.kind != wire::Order::Kind::send || !reply.ParseFromString(order.bytes)) continue;
            for (const auto& job : reply.jobs()) priority[job.id()] = job.priority();
        }
    }
    std::shared_ptr<wire::Inbox> inbox = *wire::Inbox::make();
    std::shared_ptr<wire::SessionState> state = std::make_shared<wire::SessionState>();
    std::map<std::uint32_t, std::uint32_t> priority;
};

class WatchTest : public ::testing::Test {
protected:
    WatchTest()
        : rig{[](FakeLog& log) {
              ClusterBuilder builder;
              builder.nodes("n1");
              for (int i = 0; i < job_count; ++i) builder.pending(fmt::format("job{}", i));
              log.first_snapshot = snapshot_of(builder.cluster());
          }} {
        rig.engine->observe(hub);
        rig.start();
    }
    ~WatchTest() override {
        hub.stop();
        users.stop();
        rig.engine->stop();
    }
    void set_priority(std::uint32_t job, std::uint32_t priority) {
        const auto done = rig.propose(SetPending{{{.job = JobId{job}, .priority = priority}}});
        ASSERT_TRUE(done) << done.error().text;
    }
    static constexpr int job_count = 1000;
    EngineRig rig;
    Users users{std::make_shared<FakeDirectory>(), {.answer = 20ms, .again = 10ms}};
    WatchHub hub{*rig.engine, users};
};

// Each change is another job's, so that none makes up for one that was missed.
TEST_F(WatchTest, NothingThatHappensWhileTheFirstPictureIsMadeIsMissed) {
    std::atomic<std::uint32_t> changed{0};
    std::jthread changes{[&] {
        for (std::uint32_t job = 1; job <= job_count; ++job) {
            set_priority(job, 7);
            changed = job;
        }
    }};
    std::vector<Watcher> watchers(3);
    for (std::uint32_t i = 0; i < watchers.size(); ++i) {
        while (changed < job_count * (i + 1) / 5) std::this_thread::yield();
        hub.subscribe(wire::Session{watchers[i].state}, {}, Actor::root());
    }
    changes.join();
    const auto has_all = [](Watcher& watcher) {
        watcher.read();
        return std::ranges::count(std::views::values(watcher.priority), 7U) == job_count;
    };
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    for (std::size_t i = 0; i < watchers.size(); ++i) {
        while (!has_all(watchers[i]) && std::chrono::steady_clock::now() < give_up) std::this_thread::sleep_for(1ms);
        EXPECT_TRUE(has_all(watchers[i])) << "watcher " << i;
    }
}

TEST_F(WatchTest, AUserHasSoManyStreamsAndNoMore) {
    std::vector<Watcher> watchers;
    for (int i = 0; i < 65; ++i) {
        watchers.emplace_back(1000);
        hub.subscribe(wire::Session{watchers.back().state}, {}, Actor::root());
    }
    EXPECT_FALSE(watchers[63].state->closed);
    EXPECT_TRUE(watchers[64].state->closed);
    watchers[0].state->closed = true;
    Watcher next{1000}, other{1001};
    hub.subscribe(wire::Session{next.state}, {}, Actor::root());
    hub.subscribe(wire::Session{other.state}, {}, Actor::root());
    EXPECT_FALSE(next.state->closed) << "one that is gone makes room";
    EXPECT_FALSE(other.state->closed);
}

TEST_F(WatchTest, AStreamAsksOnce) {
    Watcher watcher;
    int asked = 0;
    WatchHub::await_request(wire::Session{watcher.state}, [&](const v1::WatchRequest&) { ++asked; });
    watcher.state->on_message(v1::WatchRequest{}.SerializeAsString());
    EXPECT_FALSE(watcher.state->closed);
    watcher.state->on_message(v1::WatchRequest{}.SerializeAsString());
    EXPECT_TRUE(watcher.state->closed) << "each request costs a whole picture";
    EXPECT_EQ(asked, 1);
    watcher.state->on_message = {};  // it holds the session
}

// The first question is asked by whoever waits, the second by the hub, and while it is being answered the job changes.
TEST_F(WatchTest, WhoWaitsForAJobHearsOfWhatHappensWhileBeingAsked) {
    std::atomic<int> asked{0};
    std::promise<void> heard;
    hub.wait_for_job(JobId{1}, WatchHub::Clock::now() + 1min, [&](const planning::ReadModel&, bool expired) {
        switch (++asked) {
            case 1: return false;
            case 2: set_priority(1, 7); return false;
            default:
                if (!expired) heard.set_value();
                return true;
        }
    });
    EXPECT_EQ(heard.get_future().wait_for(20s), std::future_status::ready);
}

}  // namespace
}  // namespace spur::ctld
