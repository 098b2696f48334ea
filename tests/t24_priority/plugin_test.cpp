// priority/fairshare as a daemon uses it: opened from its shared object, with options as text.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/test_host.hpp"
#include "tests/t24_priority/view_fixture.hpp"

namespace spur::fairshare {
namespace {

class T24Plugin : public ::testing::Test {
protected:
    test::TestInstance make(const test::TestOptions& options = {}) { return plugin.create(host, options); }
    static const spur_priority_ops& ops(const test::TestInstance& instance) {
        return *instance.query<spur_priority_ops>(SPUR_PRIORITY_IFACE);
    }
    std::vector<spur_priority> score(const test::TestInstance& instance) {
        std::vector<spur_priority_query> queries;
        for (std::uint32_t i = 0; i < f.jobs.size(); ++i) queries.push_back({i, 0, 0, 0});
        std::vector<spur_priority> answers(queries.size());
        spur_error err{sizeof err, 0, {}};
        const spur_scores out{sizeof out, 0, answers.data(), sizeof(spur_priority), 0, nullptr, nullptr};
        EXPECT_EQ(ops(instance).score(instance.get(), &f.view(), plugin::span_of(queries), &out, &err), SPUR_OK)
            << err.text;
        return answers;
    }
    test::TestHost host;
    test::TestPlugin plugin{test::TestPlugin::load(test::spur_plugin_path("priority_fairshare"))};
    testing::ViewFixture f;
};

TEST_F(T24Plugin, ByDefaultAJobWithoutAccountsIsWorthItsAgeAndPartition) {
    f.add_job();
    f.add_job();
    f.jobs[0].eligible -= 7 * 86'400;
    const auto instance = make();
    ASSERT_TRUE(instance) << instance.error().text;
    const auto answers = score(instance);
    EXPECT_EQ(answers[0].total, 1250U);
    EXPECT_EQ(answers[1].total, 250U);
}

TEST_F(T24Plugin, WeightsAreThoseOfTheOptions) {
    const auto instance = make({{"weight_age", "7"}, {"weight_tres", "cpu=30,mem=12"}});
    std::map<std::string, double> weights;
    const spur_factor_sink sink{sizeof sink, 0, &weights,
                                [](const spur_factor_sink* self, const spur_factor* factor) -> spur_status {
                                    auto& to = *static_cast<std::map<std::string, double>*>(self->context);
                                    to.emplace(plugin::view(factor->name), factor->weight);
                                    return SPUR_OK;
                                }};
    EXPECT_EQ(ops(instance).factors(instance.get(), &sink, nullptr), SPUR_OK);
    EXPECT_EQ(weights, (std::map<std::string, double>{{"age", 7},
                                                      {"fairshare", 10'000},
                                                      {"job_size", 0},
                                                      {"partition", 1000},
                                                      {"qos", 10'000},
                                                      {"association", 1000},
                                                      {"tres/cpu", 30},
                                                      {"tres/mem", 12}}));
}

TEST_F(T24Plugin, AWrongTresWeightIsRefusedWithASentence) {
    const auto instance = make({{"weight_tres", "cpu=30,bananas=12"}});
    EXPECT_FALSE(instance);
    EXPECT_EQ(instance.error().code, SPUR_E_INVALID);
    EXPECT_NE(instance.error().text.find("bananas"), std::string::npos);
}

TEST_F(T24Plugin, HalfLifeIsAnOption) {
    const auto instance = make({{"half_life", "1h"}});
    EXPECT_DOUBLE_EQ(ops(instance).decay(instance.get(), 5, 3605), 0.5);
    EXPECT_EQ(ops(instance).decay(instance.get(), 5, 5), 1);
    const auto never = make({{"half_life", "0"}});
    EXPECT_EQ(ops(never).decay(never.get(), 0, 1'000'000'000), 1);
}

TEST_F(T24Plugin, SharesAreWrittenWithTheHostsStride) {
    struct Longer {
        spur_share share;
        std::uint64_t later = 0xabcdef;
    };
    const auto alice = f.add_association("a", "alice", 0, 3, 30);
    f.add_association("a", "bob", 0, 1, 10);
    f.associations[0].usage = 40;
    const auto instance = make({{"algorithm", "classic"}});
    std::vector<Longer> out(3);
    spur_error err{sizeof err, 0, {}};
    ASSERT_EQ(ops(instance).shares(instance.get(), &f.view(), &out[0].share, sizeof(Longer), &err), SPUR_OK);
    EXPECT_DOUBLE_EQ(out[alice].share.normalised_shares, 0.75);
    EXPECT_DOUBLE_EQ(out[alice].share.normalised_usage, 0.75);
    EXPECT_DOUBLE_EQ(out[alice].share.factor, 0.5);
    for (const auto& line : out) EXPECT_EQ(line.later, 0xabcdefU);
}

}  // namespace
}  // namespace spur::fairshare
