// Watch streams: the picture, and everything after it.
#include <gtest/gtest.h>

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
              builder.nodes("n1").pending("a");
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
    void set_priority(std::uint32_t priority) {
        const auto done = rig.propose(SetPending{{{.job = JobId{1}, .priority = priority}}});
        ASSERT_TRUE(done) << done.error().text;
    }
    EngineRig rig;
    Users users{std::make_shared<FakeDirectory>(), {.answer = 20ms, .again = 10ms}};
    WatchHub hub{*rig.engine, users};
};

TEST_F(WatchTest, NothingThatHappensWhileTheFirstPictureIsMadeIsMissed) {
    constexpr std::uint32_t last = 3000;
    std::jthread changes{[&] {
        for (std::uint32_t i = 1; i <= last; ++i) set_priority(i);
    }};
    std::vector<Watcher> watchers(400);
    for (auto& watcher : watchers) hub.subscribe(wire::Session{watcher.state}, {}, Actor::root());
    changes.join();
    const auto give_up = std::chrono::steady_clock::now() + 60s;
    for (std::size_t i = 0; i < watchers.size(); ++i) {
        while (watchers[i].priority[1] != last && std::chrono::steady_clock::now() < give_up) {
            watchers[i].read();
            std::this_thread::yield();
        }
        ASSERT_EQ(watchers[i].priority[1], last) << "watcher " << i;
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

}  // namespace
}  // namespace spur::ctld
