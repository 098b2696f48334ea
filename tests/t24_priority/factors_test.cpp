// The factors of one job, each by itself, and how they add up.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "factors.hpp"
#include "tests/t24_priority/view_fixture.hpp"

namespace spur::fairshare {
namespace {

constexpr double day = 86'400;

class T24Factors : public ::testing::Test {
protected:
    Settings settings() {
        Settings made;
        made.age = 1000;
        made.fairshare = 10'000;
        made.job_size = 500;
        made.partition = 100;
        made.qos = 2000;
        made.association = 50;
        return made;
    }
    // An answer whose factors are found by name.
    struct Scored {
        std::uint64_t total;
        std::map<std::string, double> raw, weighted;
    };
    static Scored named(Scorer& scorer, const spur_priority_query& query) {
        const auto& answer = scorer.score(query);
        Scored made{answer.priority.total, {}, {}};
        for (std::size_t i = 0; i < scorer.factors().size(); ++i) {
            made.raw[scorer.factors()[i].name] = answer.raw.at(i);
            made.weighted[scorer.factors()[i].name] = answer.weighted.at(i);
        }
        return made;
    }
    Scored score(std::uint32_t job, const Settings& with, std::int64_t nice = 0, std::uint32_t partition = 0,
                 std::int64_t site_factor = 0) {
        Scorer scorer{with};
        scorer.set_view(f.view());
        return named(scorer, {job, partition, nice, site_factor});
    }
    testing::ViewFixture f;
};

TEST_F(T24Factors, AgeGrowsToMaxAgeAndStops) {
    const auto job = f.add_job();
    const auto aged = [&](double days) {
        f.jobs[job].eligible = f.now - static_cast<std::int64_t>(days * day);
        return score(job, settings()).raw[SPUR_FACTOR_AGE];
    };
    EXPECT_EQ(aged(0), 0);
    EXPECT_DOUBLE_EQ(aged(3.5), 0.5);
    EXPECT_EQ(aged(7), 1);
    EXPECT_EQ(aged(700), 1);
    EXPECT_EQ(aged(-1), 0) << "a clock that was set back";
}

// Figures of a real Slurm on the same two nodes.
TEST_F(T24Factors, JobSizeIsTheMeanOfNodesAndCpus) {
    const auto job = f.add_job();
    auto with = settings();
    const auto size = [&](std::uint32_t nodes, std::uint32_t cpus) {
        f.jobs[job].min_nodes = nodes;
        f.jobs[job].cpus_per_task = cpus;
        return score(job, with).raw[SPUR_FACTOR_JOB_SIZE];
    };
    EXPECT_DOUBLE_EQ(size(1, 4), 0.375);
    EXPECT_DOUBLE_EQ(size(1, 2), 0.3125);
    EXPECT_DOUBLE_EQ(size(2, 8), 1.0);
    with.favor_small = true;
    EXPECT_DOUBLE_EQ(size(1, 4), 0.625);
    EXPECT_DOUBLE_EQ(size(1, 2), 0.6875);
    EXPECT_DOUBLE_EQ(size(2, 8), 0.0);
    with = settings();
    with.small_relative_to_time = true;
    EXPECT_NEAR(size(1, 4), 0.0083333, 1e-7);
    f.jobs[job].limit_s = 600;
    EXPECT_DOUBLE_EQ(size(1, 2), 0.05);
}

TEST_F(T24Factors, TheBestPartitionAndQosCountAsOne) {
    const auto job = f.add_job();
    EXPECT_DOUBLE_EQ(score(job, settings(), 0, 0).raw[SPUR_FACTOR_PARTITION], 0.25);
    EXPECT_DOUBLE_EQ(score(job, settings(), 0, 1).raw[SPUR_FACTOR_PARTITION], 1.0);
    f.jobs[job].qos = 1;
    EXPECT_EQ(score(job, settings()).weighted[SPUR_FACTOR_QOS], 2000);
    f.jobs[job].qos = 0;
    EXPECT_EQ(score(job, settings()).weighted[SPUR_FACTOR_QOS], 0);
}

TEST_F(T24Factors, TresCountAsFractionsOfThePartition) {
    const auto job = f.add_job();
    const spur_gres_request two{0, 0, SPUR_GRES_PER_NODE, 0, 2};
    f.jobs[job].cpus_per_task = 4;
    f.jobs[job].mem_per_node_mib = 500;
    f.jobs[job].gres = plugin::span_of(&two, 1);
    auto with = settings();
    for (const auto* text : {"CPU=300", "Mem=100", "GRES/gpu=600"}) with.tres.push_back(parse_tres_weight(text));
    const auto in_main = score(job, with, 0, 0);
    EXPECT_DOUBLE_EQ(in_main.weighted.at("tres/CPU"), 300 * 0.25);
    EXPECT_DOUBLE_EQ(in_main.weighted.at("tres/Mem"), 100 * 0.25);
    EXPECT_DOUBLE_EQ(in_main.raw.at("tres/GRES/gpu"), 0.25);
    EXPECT_DOUBLE_EQ(score(job, with, 0, 1).weighted.at("tres/GRES/gpu"), 600 * 0.5);
    EXPECT_EQ(score(job, with, 0, SPUR_NONE).weighted.at("tres/CPU"), 0) << "nothing to be a part of";
}

TEST_F(T24Factors, AWrongTresWeightIsExplained) {
    for (const auto* text : {"cpu", "cpu=", "cpu=x", "cpu=-1", "gres/=3", "bananas=3", "=3", "cpu=nan", "cpu=1e99"})
        EXPECT_THROW(parse_tres_weight(text), std::invalid_argument) << text;
    EXPECT_EQ(parse_tres_weight("Gres/GPU=2.5").name, "gres/gpu");
}

TEST_F(T24Factors, FairShareAndAssociationComeFromTheTree) {
    const auto chem = f.add_association("chem", "", 0, 1, 100);
    const auto alice = f.add_association("chem", "alice", chem, 1, 100, 5);
    const auto bob = f.add_association("chem", "bob", chem, 1, 0, 10);
    f.associations[0].usage = 100;
    const auto job = f.add_job();
    f.jobs[job].association = alice;
    EXPECT_DOUBLE_EQ(score(job, settings()).raw[SPUR_FACTOR_FAIRSHARE], 0.5);
    EXPECT_DOUBLE_EQ(score(job, settings()).raw[SPUR_FACTOR_ASSOCIATION], 0.5);
    f.jobs[job].association = bob;
    EXPECT_DOUBLE_EQ(score(job, settings()).raw[SPUR_FACTOR_FAIRSHARE], 1.0);
    EXPECT_DOUBLE_EQ(score(job, settings()).weighted[SPUR_FACTOR_ASSOCIATION], 50);
}

TEST_F(T24Factors, WithoutAnAssociationJobsDifferByAgeAlone) {
    const auto older = f.add_job(), newer = f.add_job();
    f.jobs[older].eligible -= 7'000;
    EXPECT_GT(score(older, settings()).total, score(newer, settings()).total);
    f.jobs[older].eligible += 7'000;
    EXPECT_EQ(score(older, settings()).total, score(newer, settings()).total) << "and then submission decides";
}

TEST_F(T24Factors, TheTotalIsTheSumLessNiceAndAtLeastOne) {
    const auto job = f.add_job();
    f.jobs[job].cpus_per_task = 4;
    const auto plain = score(job, settings());
    EXPECT_EQ(plain.total, 212U);  // 187.5 + 25, as Slurm cuts it
    EXPECT_EQ(score(job, settings(), 12).total, 200U);
    EXPECT_EQ(score(job, settings(), -12).total, 224U);
    EXPECT_EQ(score(job, settings(), 1'000'000).total, 1U);
    EXPECT_EQ(score(job, settings(), 0, 0, 1).total, 213U);
    EXPECT_EQ(score(job, settings(), 0, 0, -1000).total, 1U);
    Settings nothing;
    EXPECT_EQ(score(job, nothing).total, 1U);
}

TEST_F(T24Factors, UsageHalvesEveryHalfLife) {
    Settings with;
    with.half_life_s = 100;
    const Scorer scorer{with};
    EXPECT_EQ(scorer.decay(7, 7), 1);
    EXPECT_DOUBLE_EQ(scorer.decay(7, 107), 0.5);
    EXPECT_DOUBLE_EQ(scorer.decay(0, 300), 0.125);
    EXPECT_EQ(scorer.decay(300, 0), 1) << "a clock that was set back";
    with.half_life_s = 0;
    EXPECT_EQ(Scorer{with}.decay(0, 1'000'000'000'000), 1) << "0: never";
}

TEST_F(T24Factors, FadingTwiceIsFadingOverTheWholeTime) {
    EXPECT_TRUE(rc::check([] {
        Settings with;
        with.half_life_s = *rc::gen::inRange(1, 1'000'000);
        const Scorer scorer{with};
        const std::int64_t a = *rc::gen::inRange(0, 10'000'000), b = *rc::gen::inRange(0, 10'000'000);
        RC_ASSERT(std::abs(scorer.decay(0, a) * scorer.decay(a, a + b) - scorer.decay(0, a + b)) < 1e-12);
    }));
}

TEST_F(T24Factors, TheTreeIsWorkedOutAgainWhenItChanged) {
    const auto alice = f.add_association("a", "alice", 0, 1, 0);
    const auto bob = f.add_association("a", "bob", 0, 1, 0);
    const auto job = f.add_job();
    f.jobs[job].association = alice;
    Scorer scorer{settings()};
    scorer.set_view(f.view());
    EXPECT_EQ(named(scorer, {job, 0, 0, 0}).raw[SPUR_FACTOR_FAIRSHARE], 1.0);
    f.associations[alice].usage = f.associations[0].usage = 10;
    scorer.set_view(f.view());
    EXPECT_EQ(named(scorer, {job, 0, 0, 0}).raw[SPUR_FACTOR_FAIRSHARE], 0.5);
    EXPECT_EQ(scorer.shares()[bob].factor, 1.0);
}

}  // namespace
}  // namespace spur::fairshare
