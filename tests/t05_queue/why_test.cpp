// What `spur why` says about a job.
#include "cli/why/sentences.hpp"
#include "tests/support/queue_fixture.hpp"

#include <gtest/gtest.h>

namespace spur::cli::why {
namespace {

using test::listing_time;
using test::pending_job;
using test::running_job;

v1::ExplainReply waiting(const std::string& reason) {
    v1::ExplainReply facts;
    *facts.mutable_job() = pending_job(12);
    facts.mutable_job()->set_reason(reason);
    facts.set_now(listing_time);
    auto& room = *facts.add_rooms();
    room.set_name("main");
    room.set_state("UP");
    room.set_nodes(4);
    room.set_usable(3);
    room.set_idle(1);
    room.set_cpus(24);
    room.set_free_cpus(8);
    room.set_memory_mib(4096);
    room.set_free_memory_mib(1024);
    return facts;
}

bool says(const v1::ExplainReply& facts, std::string_view part) {
    const auto text = explain(facts);
    if (text.find(part) != std::string::npos) return true;
    ADD_FAILURE() << "not said: " << part << "\n" << text;
    return false;
}

TEST(T05Why, AWaitingJobIsToldWithItsRequestAndWhatIsFree) {
    auto facts = waiting("Resources");
    facts.mutable_job()->mutable_spec()->set_gres_per_node("gpu:2");
    auto& gres = *facts.mutable_rooms(0)->add_gres();
    gres.set_name("gpu");
    gres.set_total(8);
    gres.set_free(1);
    EXPECT_TRUE(says(facts, "Job 12 (wrap, root) has been waiting for 0:06: Resources.\n"));
    EXPECT_TRUE(says(facts, "It asks for 1 node, 1 CPU, gpu:2 on each node, for up to 1:00:00, in partition main.\n"));
    EXPECT_TRUE(
        says(facts,
             "Free now for it in partition main: 1 of 3 nodes idle, 8 of 24 CPUs, 1G of 4G of memory, 1 of 8 gpu.\n"));
}

TEST(T05Why, ThePriorityIsToldFactorByFactorInThePluginsWords) {
    auto facts = waiting("Priority");
    const auto add = [&](const char* name, double weighted) {
        auto& factor = *facts.mutable_job()->add_factors();
        factor.set_name(name);
        factor.set_weighted(weighted);
    };
    add("age", 99.6);
    add("qos", 0);
    add("carbon", -40);
    EXPECT_TRUE(says(facts, "\nIts priority is made of age 100, carbon -40.\n"));
    facts.mutable_job()->mutable_spec()->set_nice(5);
    EXPECT_TRUE(says(facts, "\nIts priority is made of age 100, carbon -40, nice -5.\n"));
}

TEST(T05Why, ARequiredNodeThatLeftTheConfigurationIsNamed) {
    auto facts = waiting("Priority");
    facts.set_reason("BadConstraints");
    facts.set_reason_text("BadConstraints, MissingNodes:n4");
    EXPECT_TRUE(says(facts, "It requires n4, which the configuration no longer has; it waits until that is back"));
}

TEST(T05Why, WhatHoldsTheResourcesIsNamedWithItsEnd) {
    auto facts = waiting("Resources");
    *facts.add_holders() = running_job(7, "n[1-2]");
    facts.set_holder_count(3);
    EXPECT_TRUE(says(facts, "What it needs is held by 3 jobs: 7 on n[1-2] until "));
    EXPECT_TRUE(says(facts, " at the latest, ....\n"));
}

TEST(T05Why, JobsInFrontAreCounted) {
    auto facts = waiting("Priority");
    *facts.add_first_ahead() = pending_job(9);
    facts.set_ahead(1);
    EXPECT_TRUE(says(facts, "1 job is in front of it"));
    EXPECT_TRUE(says(facts, "9 (root, priority 4294901751)"));
}

TEST(T05Why, AHeldJobSaysHowToLetItGoAndWhetherThatWouldHelp) {
    auto facts = waiting("JobHeldUser");
    facts.set_planned(true);
    facts.set_starts_now(true);
    facts.set_expected_nodes("n1");
    facts.set_reason("Priority");
    EXPECT_TRUE(says(facts, "has been waiting for 0:06: JobHeldUser.\n"));
    EXPECT_TRUE(says(facts, "It is held; `scontrol release 12` lets it go.\n"));
    EXPECT_TRUE(says(facts, "But for that it would start now on n1.\n"));
}

TEST(T05Why, DependenciesAreToldWithTheStateOfTheOtherJobs) {
    auto facts = waiting("Dependency");
    facts.mutable_job()->set_dependency("afterok:7(unfulfilled)");
    *facts.add_dependencies() = running_job(7, "n1");
    EXPECT_TRUE(says(facts, "It waits for afterok:7(unfulfilled).\n  Job 7 is RUNNING, until "));
    facts.mutable_job()->set_reason("DependencyNeverSatisfied");
    EXPECT_TRUE(says(facts, "It waits for something that can never come: afterok:7(unfulfilled)"));
}

TEST(T05Why, AFreshPlanKnowsBetterThanTheRecord) {
    auto facts = waiting("Resources");
    facts.set_planned(true);
    facts.set_reason("ReqNodeNotAvail");
    facts.set_reason_text("ReqNodeNotAvail, UnavailableNodes:n3");
    facts.set_expected_start(listing_time + 600);
    facts.set_expected_nodes("n[1-2]");
    EXPECT_TRUE(says(facts, "waiting for 0:06: ReqNodeNotAvail, UnavailableNodes:n3.\n"));
    EXPECT_TRUE(says(facts, ", in 10:00 on n[1-2].\n"));
}

TEST(T05Why, LimitsAreExplainedByTheirNames) {
    auto facts = waiting("QOSMaxJobsPerUserLimit");
    facts.mutable_job()->set_qos("short");
    EXPECT_TRUE(says(facts,
                     "The limit QOSMaxJobsPerUserLimit keeps it back: its QOS (short) allows each user only so many "
                     "running jobs.\n"));
    facts.mutable_job()->set_reason("AssocGrpCpuLimit");
    facts.mutable_job()->set_account("physics");
    EXPECT_TRUE(says(facts, "its account (physics) allows all its jobs together only so many CPUs.\n"));
}

TEST(T05Why, SmallerRequestsThatWouldStartNowAreListed) {
    auto facts = waiting("Resources");
    auto& other = *facts.add_alternatives();
    other.set_option("--nodes=2");
    other.set_text("2 nodes instead of 4");
    other.set_nodes("n[1-2]");
    EXPECT_TRUE(says(
        facts,
        "It would start now with one of these changes:\n  --nodes=2                2 nodes instead of 4, on n[1-2]\n"));
}

TEST(T05Why, JobsThatRunOrHaveEndedAreToldToo) {
    v1::ExplainReply facts;
    *facts.mutable_job() = running_job(7, "n1");
    facts.set_now(listing_time);
    EXPECT_TRUE(says(facts, "Job 7 (wrap, root) is running on n1 since "));
    facts.mutable_job()->set_state_bits(5);
    facts.mutable_job()->set_exit_status(3 << 8);
    facts.mutable_job()->set_reason("NonZeroExitCode");
    EXPECT_TRUE(says(facts, "as FAILED, exit code 3:0 (NonZeroExitCode).\n"));
}

}  // namespace
}  // namespace spur::cli::why
