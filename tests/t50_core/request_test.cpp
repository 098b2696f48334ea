// A request is read once, and everybody who asks sees the same.
#include <gtest/gtest.h>

#include "core/machine/step_layout.hpp"
#include "core/model/request.hpp"
#include "core/model/tres.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace testing;

TEST(T50Request, EveryTextIsReadByItsOwnGrammar) {
    JobSpec spec;
    spec.gres_per_node = "gpu:a100:2";
    spec.gres_per_task = "gpu:1";
    spec.licenses = "fluent:1k,ansys";
    spec.distribution = "Cyclic:Block,Pack";
    spec.features = "fast&big";
    spec.node_list = "n[1-3]";
    spec.exclude_nodes = "n9";
    const auto request = Request::of(spec);
    EXPECT_EQ(request.gres_per_node, (GresList{{"gpu", "a100", 2}}));
    EXPECT_EQ(request.gres_per_task, (GresList{{"gpu", "", 1}}));
    ASSERT_EQ(request.licenses.size(), 2U);
    EXPECT_GE(request.licenses[0].count, 1000U) << "k counts in thousands for everyone";
    EXPECT_EQ(request.distribution.nodes, Spread::cyclic);
    EXPECT_EQ(request.distribution.sockets, Spread::block);
    EXPECT_EQ(request.distribution.pack, true);
    EXPECT_EQ(request.features.str(), "fast&big");
    EXPECT_EQ(request.demand.min_nodes, 3U);
    EXPECT_TRUE(request.excluded_nodes.contains("n9"));
}

TEST(T50Request, WhatCannotBeReadCountsAsNotSaid) {
    JobSpec spec;
    spec.gres_per_node = "gpu:::";
    spec.distribution = "sideways";
    spec.licenses = "a:x";
    EXPECT_EQ(Request::of(spec), Request::of(JobSpec{}));
}

TEST(T50Request, ADistributionIsReadInAnyCaseAndRefusedWithASentence) {
    EXPECT_EQ(Distribution::parse("PLANE=4")->plane_size, 4U);
    EXPECT_EQ(Distribution::parse("*:fcyclic")->sockets, Spread::full_cyclic);
    EXPECT_EQ(Distribution::parse("")->nodes, Spread::standard);
    for (const auto* wrong : {"plane=0", "plane=x", "plane4", "cyclic,maybe", "block:block:block:block", "fcyclic"})
        EXPECT_FALSE(Distribution::parse(wrong)) << wrong;
}

TEST(T50Request, ADistributionIsShownInSlurmsWords) {  // as 22.05 shows Dist= of a step
    const auto shown = [](const char* typed) { return to_string(*Distribution::parse(typed)); };
    EXPECT_EQ(shown("block"), "Block");
    EXPECT_EQ(shown("cyclic,pack"), "Cyclic,Pack");
    EXPECT_EQ(shown("block,nopack"), "Block,NoPack");
    EXPECT_EQ(shown("plane=2"), "Plane");
    EXPECT_EQ(shown("arbitrary"), "arbitrary task distribution");
    EXPECT_EQ(shown("block:cyclic"), "BCyclic");
    EXPECT_EQ(shown("block:*:cyclic"), "BCyclicCyclic");
    EXPECT_EQ(shown("cyclic:fcyclic:block"), "CFCyclicBlock");
}

TEST(T50Request, AJobHasTheRequestOfItsSpecAfterSubmissionUpdateAndLoad) {
    ClusterBuilder b;
    b.nodes("n[1-4]", cpus(8)).pending("job", node_count(2));
    const auto& before = b.job("job");
    ASSERT_TRUE(before.request);
    EXPECT_EQ(before.request->demand.min_nodes, 2U);
    UpdateJob update;
    update.job.job = b.id("job").value;
    update.actor = Actor::root();
    update.changes.min_nodes = 3;
    update.changes.max_nodes = 3;
    b.must(update);
    EXPECT_EQ(b.job("job").request->demand.min_nodes, 3U);

    std::string bytes;
    ASSERT_TRUE(b.cluster().save([&](std::string_view piece) { bytes += piece; }));
    const auto loaded = Cluster::load(bytes);
    ASSERT_TRUE(loaded) << loaded.error().text;
    EXPECT_EQ(*loaded->find_job(b.id("job"))->request, *b.job("job").request);
}

}  // namespace
}  // namespace spur
