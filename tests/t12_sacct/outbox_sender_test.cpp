// The outbox on its way to a spurdbd that the test plays.
#include <gtest/gtest.h>

#include <filesystem>

#include "daemons/spurctld/accounting/outbox_sender.hpp"
#include "tests/support/engine_rig.hpp"

namespace spur::ctld {
namespace {

using namespace std::chrono_literals;
using namespace testing;

// What was sent, and whether it is taken.
struct FakeHistory {
    Result<v1::StoreHistoryReply> take(const v1::StoreHistoryRequest& batch) {
        const std::lock_guard lock{mutex};
        ++calls;
        if (!is_there) return fail(ErrorCode::unavailable, "nobody there");
        batches.push_back(batch);
        v1::StoreHistoryReply reply;
        reply.set_stored_up_to(batch.last());
        return reply;
    }
    template <class Check>
    bool wait(const Check& check) {
        for (int i = 0; i < 2000; ++i) {
            {
                const std::lock_guard lock{mutex};
                if (check()) return true;
            }
            std::this_thread::sleep_for(5ms);
        }
        return false;
    }
    std::uint64_t last() const { return batches.empty() ? 0 : batches.back().last(); }
    std::mutex mutex;
    bool is_there{true};
    int calls{};
    std::vector<v1::StoreHistoryRequest> batches;
};

class T12Outbox : public ::testing::Test {
protected:
    T12Outbox() {
        std::string pattern = std::filesystem::temp_directory_path() / "spur-outbox-XXXXXX";
        spool = mkdtemp(pattern.data());
    }
    ~T12Outbox() override {
        stop();
        std::filesystem::remove_all(spool);
    }
    // A cluster with one job that waits.
    void start(OutboxSender::Options options = {.limit = 1000, .batch = 3, .first_pause = 5ms, .longest_pause = 10ms, .gather = 1ms}) {
        rig = std::make_unique<EngineRig>([](FakeLog& log) {
            ClusterBuilder builder;
            builder.nodes("n1", cpus(4)).policies([](Policies& policies) { policies.keep_outbox = true; });
            builder.pending("first");
            log.first_snapshot = snapshot_of(builder.cluster());
        });
        sender = std::make_unique<OutboxSender>(
            *rig->engine, [this](const v1::StoreHistoryRequest& batch) { return history.take(batch); }, spool, options,
            [this](const std::string& text) { said.push_back(text); });
        ASSERT_TRUE(sender->open());
        rig->engine->observe(*sender);
        rig->start();
    }
    void stop() {
        if (sender) sender->stop();
        if (rig) rig->engine->stop();
        sender.reset();
        rig.reset();
    }
    void cancel(std::uint32_t job) { ASSERT_TRUE(rig->propose(CancelJob{JobRef{.job = job}, Actor::root()})); }
    std::size_t held() {
        std::size_t count = 0;
        rig->look([&](const Cluster& cluster) { count = cluster.outbox().size(); });
        return count;
    }

    std::filesystem::path spool;
    FakeHistory history;
    std::unique_ptr<EngineRig> rig;
    std::unique_ptr<OutboxSender> sender;
    std::vector<std::string> said;
};

TEST_F(T12Outbox, WhatHappenedIsSentAndThenForgotten) {
    start();
    cancel(1);
    ASSERT_TRUE(history.wait([&] { return !history.batches.empty() && history.last() >= 2; }));
    const auto& entry = history.batches.back().entries(history.batches.back().entries_size() - 1);
    EXPECT_EQ(entry.job().job().id(), 1U);
    EXPECT_EQ(entry.job().run(), 1U);
    ASSERT_TRUE(history.wait([&] { return sender->stats().waiting == 0; }));
    for (int i = 0; i < 1000 && held() != 0; ++i) std::this_thread::sleep_for(5ms);
    EXPECT_EQ(held(), 0U) << "acknowledged is out of the state";
}

TEST_F(T12Outbox, WhatIsNotTakenIsKeptAndSentLater) {
    history.is_there = false;
    start();
    cancel(1);
    ASSERT_TRUE(history.wait([&] { return history.calls > 2; }));
    EXPECT_GT(held(), 0U);
    {
        const std::lock_guard lock{history.mutex};
        history.is_there = true;
    }
    ASSERT_TRUE(history.wait([&] { return history.last() >= 2; }));
    stop();
    ASSERT_FALSE(said.empty());
    EXPECT_NE(said.front().find("nobody there"), std::string::npos) << said.front();
    EXPECT_EQ(said.back(), "spurdbd takes history again");
}

TEST_F(T12Outbox, WhatIsTooMuchGoesToDiskAndIsSentFirst) {
    history.is_there = false;
    start({.limit = 0, .batch = 1, .first_pause = 5ms, .longest_pause = 10ms, .gather = 1ms});
    cancel(1);
    ASSERT_TRUE(history.wait([&] { return sender->stats().spooled >= 2; }));
    for (int i = 0; i < 1000 && held() != 0; ++i) std::this_thread::sleep_for(5ms);
    EXPECT_EQ(held(), 0U) << "what is on disk is out of the state";
    stop();
    history.is_there = true;
    start();  // another life, with the files of the first
    ASSERT_TRUE(history.wait([&] { return history.batches.size() >= 2; }));
    EXPECT_EQ(history.batches[0].first(), 1U);
    EXPECT_EQ(history.batches[1].first(), 2U);
    ASSERT_TRUE(history.wait([&] { return sender->stats().spooled == 0; }));
}

}  // namespace
}  // namespace spur::ctld
