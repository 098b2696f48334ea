// Which jobs an id or a filter means, asked of a read model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemons/spurctld/service/job_query.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur::ctld {
namespace {

using namespace spur::testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class JobQuery : public ::testing::Test {
protected:
    JobQuery() {
        b.nodes("n[1-4]", cpus(4)).partition("main", "n[1-4]").partition("debug", "n[1-2]");
        b.pending("hers", user("alice", 1000), partition("main"));
        b.pending("his", user("bob", 1001), partition("debug"), spec([](JobSpec& job) { job.account = "chem"; }));
        b.pending("tasks", user("alice", 1000), array("0-9"), partition("main"));
        tasks = b.id("tasks");
        JobSpec part;
        part.script = "#!/bin/sh\n";
        part.uid = 1002;
        part.user_name = "carol";
        const auto queued = b.must(SubmitJob{{part, part}, Actor::root(), {}});
        leader = std::get<JobQueued>(queued.front()).job;
    }
    std::shared_ptr<const planning::ReadModel> model() {
        planning::Changes all;
        all.everything = true;
        return planning::ReadModelBuilder{}.publish(b.cluster(), all);
    }
    template <class Request>
    std::vector<std::string> select(const Request& request) {
        const auto found = select_jobs(*model(), request);
        if (!found) return {found.error().text};
        std::vector<std::string> ids;
        for (const auto& job : *found) ids.push_back(job->display_id());
        return ids;
    }
    std::vector<std::string> listed(const std::vector<std::string>& ids, const std::string& state = "all") {
        v1::ListJobsRequest request;
        for (const auto& id : ids) request.add_ids(id);
        request.add_states(state);
        return select(request);
    }

    ClusterBuilder b;
    JobId tasks, leader;
};

TEST_F(JobQuery, AnArraysIdMeansItsRecordAndEveryTaskWithOneOfItsOwn) {
    ASSERT_TRUE(b.start_on(tasks, "n1", 1, 3));
    EXPECT_THAT(listed({"3"}), UnorderedElementsAre("3_[0-2,4-9]", "3_3"));
    EXPECT_THAT(listed({"3_*"}), UnorderedElementsAre("3_[0-2,4-9]", "3_3"));
    EXPECT_THAT(listed({"3_3"}), ElementsAre("3_3"));
    EXPECT_THAT(listed({"3_[5-6]"}), ElementsAre("3_[0-2,4-9]"));
    EXPECT_THAT(listed({"3_77"}), ElementsAre("Invalid job id specified"));
    EXPECT_THAT(listed({"1_0"}), ElementsAre("Invalid job id specified")) << "it is no array";
}

TEST_F(JobQuery, AnArrayIsStillFoundByItsIdWhenItsOwnRecordIsForgotten) {
    for (std::uint32_t task = 0; task < 10; ++task)
        ASSERT_TRUE(b.start_on(tasks, fmt::format("n{}", 1 + task / 4), 1, task));
    b.finish(tasks);  // the last task has the array's own id
    planning::ReadModelBuilder models;
    planning::Changes changes;
    changes.everything = true;
    models.publish(b.cluster(), changes);
    changes.clear();
    planning::note_changes(b.at(100).must(PruneJobs{b.now()}), changes);
    const auto kept = models.publish(b.cluster(), changes);
    EXPECT_FALSE(kept->find_job(tasks));
    EXPECT_EQ(find_jobs(*kept, {.job = tasks.value}).size(), 9U);
    EXPECT_FALSE(kept->find_task(tasks, 9));
    EXPECT_EQ(kept->find_task(tasks, 8)->array_task, 8U);
}

TEST_F(JobQuery, ComponentsAreFoundTogetherByTheLeadersIdAndEachByItsNumber) {
    const auto id = std::to_string(leader.value);
    EXPECT_THAT(listed({id}), ElementsAre(id + "+0", id + "+1"));
    EXPECT_THAT(listed({id + "+1"}), ElementsAre(id + "+1"));
    EXPECT_THAT(listed({id + "+2"}), ElementsAre("Invalid job id specified"));
}

TEST_F(JobQuery, ARecordThatSeveralIdsNameIsListedOnce) {
    EXPECT_THAT(listed({"3_1", "3_[0-9]", "1", "3_2", "1"}), ElementsAre("1", "3_[0-9]"));
    EXPECT_THAT(listed({"900", "901"}), IsEmpty()) << "several unknown ids are an empty answer";
    EXPECT_THAT(listed({"1", "x"}), ElementsAre(::testing::HasSubstr("Invalid job id")));
}

TEST_F(JobQuery, StatesAreNamedInFullOrShortAndNoneMeansThoseThatAreNotDone) {
    b.finish((b.run("done", {user("alice", 1000), on("n1"), cpus_each(1)}), b.id("done")));
    const auto done = std::to_string(b.id("done").value);
    EXPECT_THAT(listed({done}, "cd"), ElementsAre(done));
    EXPECT_THAT(listed({done}, "PENDING"), IsEmpty());
    v1::ListJobsRequest request;
    request.add_users("alice");
    EXPECT_THAT(select(request), ElementsAre("1", "3_[0-9]"));
    request.add_states("COMPLETED");
    EXPECT_THAT(select(request), ElementsAre(done));
    request.add_states("foo");
    EXPECT_THAT(select(request), ElementsAre(::testing::HasSubstr("Invalid job state specified: foo")));
}

TEST_F(JobQuery, UsersAreNamedOrNumberedAndPartitionsAreThoseAskedForOrRunIn) {
    v1::ListJobsRequest request;
    request.add_users("1001");
    EXPECT_THAT(select(request), ElementsAre("2"));
    request.add_users("alice");
    request.add_partitions("main");
    EXPECT_THAT(select(request), ElementsAre("1", "3_[0-9]"));
}

TEST_F(JobQuery, ABulkActionMeansWhatAllItsFiltersNameAndNothingThatIsOver) {
    b.running("runs", user("alice", 1000), on("n2"), cpus_each(1));
    b.finish((b.run("done", {user("alice", 1000), on("n1"), cpus_each(1)}), b.id("done")));
    v1::SignalJobsRequest request;
    request.add_users("alice");
    EXPECT_THAT(select(request), ElementsAre("1", "3_[0-9]", std::to_string(b.id("runs").value)));
    request.set_node_list("n[1-2]");
    EXPECT_THAT(select(request), ElementsAre(std::to_string(b.id("runs").value)));
    request.add_names("other");
    EXPECT_THAT(select(request), IsEmpty());
    v1::SignalJobsRequest by_account;
    by_account.add_accounts("chem");
    EXPECT_THAT(select(by_account), ElementsAre("2"));
}

}  // namespace
}  // namespace spur::ctld
