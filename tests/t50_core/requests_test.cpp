// What a user may ask for, and that changing a request asks for no more than submitting it: sizes, counts, places.
#include <gtest/gtest.h>

#include "core/machine/request_limits.hpp"
#include "core/machine/step_layout.hpp"
#include "core/machine/validate.hpp"
#include "core/store/codec.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

const Actor alice{1000, AdminLevel::none, "alice"};

class T50Requests : public ::testing::Test {
protected:
    T50Requests() {
        b.nodes("n[1-4]", cpus(8), memory_mib(4000));
        b.partition("main", "ALL");
        b.partition("staff", "n1", [](Partition& part) { part.root_only = true; });
        b.partition("chemists", "n1", [](Partition& part) { part.allow_groups = {"chem", "wheel"}; });
        b.partition("physics", "n1", [](Partition& part) { part.allow_accounts = {"phys"}; });
        b.partition("nochem", "n1", [](Partition& part) { part.deny_accounts = {"chem"}; });
        b.partition("urgent", "n1", [](Partition& part) { part.allow_qos = {"urgent"}; });
        b.partition("booked", "n1", [](Partition& part) { part.require_reservation = true; });
        b.partition("closed", "n1", [](Partition& part) { part.state = PartitionState::inactive; });
        b.pending("a", user("alice", 1000));
    }

    // scontrol update job: "accepted", or the refusal.
    std::string update(const std::function<void(JobChanges&)>& change, Actor actor = alice, OwnerGroups groups = {}) {
        UpdateJob command{.job = {}, .changes = {}, .actor = std::move(actor), .recheck = true};
        command.job.job = b.id("a").value;
        command.owner_groups = std::move(groups);
        change(command.changes);
        const auto done = b.apply(command);
        return done ? "accepted" : done.error().text;
    }
    std::string submit(const std::function<void(JobSpec&)>& change, const OwnerGroups& groups = {}) {
        JobSpec job;
        job.script = "#!/bin/sh\n";
        job.uid = 1000;
        job.user_name = "alice";
        change(job);
        const auto done = validate(b.cluster(), job, alice, b.now(), groups);
        return done ? "accepted" : done.error().text;
    }
    // Both ways into a partition must say the same.
    void expect_both(std::string_view partition, const std::string& verdict, const OwnerGroups& groups = {}) {
        ASSERT_EQ(update([](JobChanges& job) { job.partitions = {{"main"}}; }, Actor::root()), "accepted");
        EXPECT_EQ(submit([&](JobSpec& job) { job.partitions = {Text{partition}}; }, groups), verdict) << partition;
        EXPECT_EQ(update([&](JobChanges& job) { job.partitions = {{Text{partition}}}; }, alice, groups), verdict)
            << partition;
    }

    ClusterBuilder b;
};

// ---- the same rules for both ways in -------------------------------------------------------------------------------

TEST_F(T50Requests, NobodyGetsIntoAPartitionByAnUpdateThatHeCouldNotSubmitTo) {
    expect_both("staff", "Access/permission denied");
    expect_both("chemists", "User's group not permitted to use this partition");
    expect_both("physics", "Invalid account or account/partition combination specified");
    expect_both("urgent", "Invalid qos specification");
    expect_both("booked", "Requested reservation is invalid");
    expect_both("closed", "Required partition not available (inactive or drain)");
    EXPECT_EQ(b.job("a").spec->partitions, std::vector<Text>{"main"}) << "a refusal changes nothing";
    EXPECT_EQ(update([](JobChanges& job) { job.partitions = {{"main", "staff"}}; }), "Access/permission denied");
    EXPECT_EQ(update([](JobChanges& job) { job.partitions = {{"nochem"}}; }), "accepted");
    EXPECT_EQ(update([](JobChanges& job) { job.account = "chem"; }),
              "Invalid account or account/partition combination specified");
}

TEST_F(T50Requests, GroupsOpenAPartitionAndRootNeedsNone) {
    expect_both("chemists", "accepted", {{"users", "chem"}, false});
    expect_both("chemists", "User's group not permitted to use this partition", {{"users", "physics"}, false});
    expect_both("chemists", "accepted", {{}, true});
    EXPECT_EQ(submit([](JobSpec& job) {
                  job.uid = 0;
                  job.user_name = "root";
                  job.partitions = {"chemists"};
              }),
              "Access/permission denied")
        << "alice does not become root";
    JobSpec job;
    job.script = "#!/bin/sh\n";
    job.partitions = {"chemists"};
    EXPECT_TRUE(validate(b.cluster(), job, Actor::root(), b.now()));
}

TEST_F(T50Requests, GroupsAreAskedForWhereThePartitionChanges) {
    Reservation lab;
    lab.name = "lab";
    lab.start_time = b.now() + 100;
    lab.end_time = b.now() + 1000;
    lab.nodes = {b.node("n1")};
    lab.users = {"alice"};
    b.must(EditReservation{Edit::create, lab, Actor::root()});
    ASSERT_EQ(update([](JobChanges& job) { job.partitions = {{"chemists"}}; }, alice, {{"chem"}, false}), "accepted");
    EXPECT_EQ(update([](JobChanges& job) { job.reservation = "lab"; }), "accepted")
        << "no directory service is asked about her groups for that";
}

TEST_F(T50Requests, OperatorsPutJobsWhereTheyLike) {
    EXPECT_EQ(update([](JobChanges& job) { job.partitions = {{"staff"}}; }, Actor{2000, AdminLevel::operator_, "olga"}),
              "accepted");
}

TEST_F(T50Requests, WhatAnUpdateLeavesAloneIsNotJudgedAnew) {
    auto closed = *b.cluster().find_partition("main");
    closed.state = PartitionState::inactive;
    b.must(EditPartition{Edit::update, closed});
    EXPECT_EQ(update([](JobChanges& job) { job.comment = "later"; }), "accepted");
    EXPECT_EQ(update([](JobChanges& job) { job.tasks = 2; }), "accepted");
    EXPECT_EQ(update([](JobChanges& job) { job.node_list = "n9"; }), "Invalid node name specified");
}

TEST_F(T50Requests, ATaskOfAnArrayIsHeldToTheSameRules) {
    b.pending("many", user("alice", 1000), array("0-9"));
    UpdateJob command{.job = {}, .changes = {}, .actor = alice, .recheck = true};
    command.job.job = b.id("many").value;
    command.job.tasks = TaskSet::range(3, 3);
    command.changes.partitions = {{"staff"}};
    const auto done = b.apply(command);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().text, "Access/permission denied");
    EXPECT_EQ(b.cluster().pending_jobs().size(), 2U) << "nothing was split";
}

TEST_F(T50Requests, AnAccountNeedsItsAssociationAndAQosItsPermission) {
    b.policies([](Policies& policies) { policies.enforce = enforce_flag::associations | enforce_flag::qos; });
    b.must(EditAccount{Edit::create, {"phys", {}, {}, {}}});
    b.must(EditAccount{Edit::create, {"other", {}, {}, {}}});
    Association mine;
    mine.account = "phys";
    mine.user = "alice";
    mine.qos = {"normal"};
    Association of_account;
    of_account.account = "phys";
    b.must(EditAssociation{Edit::create, of_account, "root"});
    of_account.account = "other";
    b.must(EditAssociation{Edit::create, of_account, "root"});
    User her;
    her.name = "alice";
    her.default_account = "phys";
    b.must(EditUser{Edit::create, her});
    b.must(EditAssociation{Edit::create, mine, {}});
    Qos urgent;
    urgent.name = "urgent";
    b.must(EditQos{Edit::create, urgent});
    EXPECT_EQ(update([](JobChanges& job) { job.account = "phys"; }), "accepted");
    EXPECT_EQ(update([](JobChanges& job) { job.account = "other"; }),
              "Invalid account or account/partition combination specified");
    EXPECT_EQ(update([](JobChanges& job) { job.qos = "urgent"; }), "Invalid qos specification");
}

TEST_F(T50Requests, AnUpdateOfAnOlderLogIsAppliedAsItWas) {
    UpdateJob command{.job = {}, .changes = {}, .actor = alice};
    command.job.job = b.id("a").value;
    command.changes.partitions = {{"staff"}};
    const auto read = decode_command(encode({b.now(), command}));
    ASSERT_TRUE(read);
    EXPECT_TRUE(b.apply(read->what));
    EXPECT_EQ(b.job("a").spec->partitions, std::vector<Text>{"staff"});
    std::string bytes;
    EXPECT_TRUE(encode({b.now(), command}, bytes, first_state_version));
    command.recheck = true;
    EXPECT_FALSE(encode({b.now(), command}, bytes, first_state_version))
        << "a controller that would not check it must not be given it";
}

// ---- counts --------------------------------------------------------------------------------------------------------

TEST_F(T50Requests, TaskCountsAreHeldToWhatTheNodesMayRun) {
    b.running("r", on("n[1-2]"), user("alice", 1000));
    const auto lay_out = [&](StepSpec wanted) {
        const auto step = lay_out_step(b.cluster(), b.id("r"), wanted, alice);
        return step ? "laid out" : step.error().text;
    };
    EXPECT_EQ(lay_out({.tasks = UINT32_MAX, .overcommit = true}), "Task count specification invalid");
    EXPECT_EQ(lay_out({.tasks = 1025, .overcommit = true}), "Task count specification invalid");
    EXPECT_EQ(lay_out({.tasks = 1024, .overcommit = true}), "laid out");
    EXPECT_EQ(lay_out({.min_nodes = 2, .tasks_per_node = 1U << 31, .overcommit = true}),
              "Task count specification invalid");
    EXPECT_EQ(lay_out({.tasks = 1, .cpus_per_task = UINT32_MAX}), "More processors requested than permitted");
    EXPECT_EQ(lay_out({.tasks = 2, .gres_per_task = "gpu:18446744073709551615"}),
              "Insufficient GRES available in allocation");
    EXPECT_EQ(submit([](JobSpec& job) { job.tasks_per_node = 513; }), "Task count specification invalid");
    EXPECT_EQ(submit([](JobSpec& job) { job.tasks = 4 * 512 + 1; }), "Task count specification invalid");
    EXPECT_EQ(submit([](JobSpec& job) {
                  job.tasks_per_node = 512;
                  job.cpus_per_task = 1U << 23;
              }),
              "CPU count per node can not be satisfied\nRequested node configuration is not available")
        << "no product wraps round";
    EXPECT_EQ(update([](JobChanges& job) { job.tasks = 4 * 512 + 1; }), "Task count specification invalid");
}

TEST_F(T50Requests, TheLargestStepThatIsPossibleIsLaidOutEvenly) {
    ClusterBuilder big;
    big.nodes("m[1-2000]", cpus(2)).running("r", on("m[1-2000]"));
    const auto step = lay_out_step(big.cluster(), big.id("r"),
                                   {.tasks = 2000 * 512, .distribution = "cyclic", .overcommit = true}, Actor::root());
    ASSERT_TRUE(step) << step.error().text;
    for (const auto& tasks : step->task_ids) ASSERT_EQ(tasks.size(), 512U);
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

TEST_F(T50Requests, EveryTextHasItsLimit) {
    const auto verdict = [](const JobSpec& job) {
        const auto checked = check_size(job);
        return checked ? "fine" : checked.error().text;
    };
    for (const auto& row : job_text_limits()) {
        JobSpec job;
        job.*row.text = std::string(row.bytes, 'x');
        EXPECT_EQ(verdict(job), "fine") << row.field;
        job.*row.text = std::string(row.bytes + 1, 'x');
        EXPECT_EQ(verdict(job), fmt::format("Pathname of a file, directory or other parameter too long: {} has {} "
                                            "bytes, at most {} are taken",
                                            row.field, row.bytes + 1, row.bytes));
    }
    for (const auto& row : step_text_limits()) {
        StepSpec step;
        step.*row.text = std::string(row.bytes + 1, 'x');
        EXPECT_FALSE(check_size(step)) << row.field;
    }
    JobSpec job;
    job.environment = "A=" + std::string(request_limit::one_argument_bytes, 'x') + '\0';
    EXPECT_NE(verdict(job).find("an environment variable has"), std::string::npos);
    job.environment = std::string(request_limit::environment_bytes + 1, 'x');
    EXPECT_NE(verdict(job).find("the environment has"), std::string::npos);
    job = {};
    job.argv.assign(request_limit::list_items + 1, "x");
    EXPECT_NE(verdict(job).find("argv has 65537 entries"), std::string::npos);
    job.argv.assign(20, std::string(request_limit::one_argument_bytes, 'x'));
    EXPECT_NE(verdict(job).find("argv has"), std::string::npos);
    job = {};
    job.tasks = UINT32_MAX;
    EXPECT_EQ(verdict(job), "tasks = 4294967295 is too large: at most 16777216 is taken");
    const std::vector<JobSpec> many(request_limit::components + 1);
    EXPECT_FALSE(check_size(many));
    std::vector<JobSpec> fat(5);
    for (auto& one : fat) one.script = std::string(request_limit::script_bytes, 'x');
    EXPECT_FALSE(check_size(fat)) << "each is fine, all together are not";
}

TEST_F(T50Requests, NoBindingNamesWhatNoNodeHas) {
    const auto takes = [](std::string_view text) {
        JobSpec job;
        job.cpu_bind = text;
        StepSpec step;
        step.cpu_bind = text;
        EXPECT_EQ(check_size(job).has_value(), check_size(step).has_value()) << text;
        return check_size(job).has_value();
    };
    for (const auto* text : {"cores", "rank,verbose", "map_cpu:0,1,65533", "map_cpu:0x0,0xffff", "mask_cpu:0xff,0xff00",
                             "verbose,mask_cpu:0x0f*4,0xf0*4", "map_ldom:0,1"})
        EXPECT_TRUE(takes(text)) << text;
    for (const auto* text : {"map_cpu:4294967295", "map_cpu:0,65534", "map_cpu:0xfffff", "map_cpu:0*4294967295",
                             "verbose,mask_cpu:0x1*4294967296", "map_cpu:99999999999999999999999"})
        EXPECT_FALSE(takes(text)) << text;
    EXPECT_FALSE(takes("mask_cpu:0x" + std::string(20'000, 'f')));
    EXPECT_EQ(submit([](JobSpec& job) { job.gres_per_task = "gpu:4294967295"; }),
              "Invalid generic resource (gres) specification");
    ClusterBuilder gpu;
    gpu.nodes("g1", cpus(8), gpus(4));
    JobSpec job;
    job.script = "#!/bin/sh\n";
    job.gres_per_task = "gpu:4";
    EXPECT_TRUE(validate(gpu.cluster(), job, Actor::root(), gpu.now()));
    job.gres_per_task = "gpu:4294967295";
    EXPECT_FALSE(validate(gpu.cluster(), job, Actor::root(), gpu.now()));
}

TEST_F(T50Requests, AnUpdateMayNotMakeATextLongerThanASubmission) {
    EXPECT_NE(update([](JobChanges& job) { job.comment = std::string(65'537, 'x'); }), "accepted");
    EXPECT_NE(update([](JobChanges& job) { job.comment = std::string(65'537, 'x'); }, Actor::root()), "accepted");
    EXPECT_EQ(update([](JobChanges& job) { job.comment = std::string(65'536, 'x'); }), "accepted");
}

class T50KeptForOne : public ::testing::Test {
protected:
    T50KeptForOne() {
        b.nodes("n1", cpus(8));
        b.policies([](Policies& policies) { policies.max_stored_per_user_mib = 2; });
        b.must(SetStateVersion{newest_state_version});
    }
    std::string submit(std::string_view script, Actor actor = alice, Uid uid = 1000) {
        JobSpec job;
        job.script = script;
        job.uid = uid;
        job.user_name = "alice";
        job.partitions = {b.cluster().default_partition()->name};
        const auto done = b.apply(SubmitJob{{job}, std::move(actor), {}});
        if (!done) return done.error().text;
        for (const auto& event : *done)
            if (const auto* queued = std::get_if<JobQueued>(&event)) last = queued->job;
        return "queued";
    }
    ClusterBuilder b;
    JobId last;
};

TEST_F(T50KeptForOne, OneUserKeepsOnlySoMuchInTheState) {
    const std::string first(900U << 10, 'a'), second(900U << 10, 'b'), third(900U << 10, 'c');
    EXPECT_EQ(submit(first), "queued");
    EXPECT_EQ(submit(second), "queued");
    const auto refused = submit(third);
    EXPECT_NE(refused.find("would take 3 MiB, at most 2 are kept for one user"), std::string::npos) << refused;
    EXPECT_EQ(submit(first), "queued") << "the same script once more takes no room";
    EXPECT_EQ(b.cluster().stored_bytes(1000), 2U * (900U << 10));
    EXPECT_EQ(submit(third, Actor{1001, AdminLevel::none, "bob"}, 1001), "queued") << "others have their own";
    EXPECT_EQ(submit(third, Actor{1000, AdminLevel::operator_, "alice"}), "queued");
    EXPECT_EQ(b.cluster().stored_bytes(1000), 3U * (900U << 10));
}

TEST_F(T50KeptForOne, WhatIsForgottenAndWhatIsRestoredIsCountedAlike) {
    const std::string script(1900U << 10, 'a');
    EXPECT_EQ(submit(script), "queued");
    const auto copy = Cluster::load(snapshot_of(b.cluster()));
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->stored_bytes(1000), script.size());
    JobRef ref;
    ref.job = last.value;
    b.must(CancelJob{ref, alice});
    EXPECT_EQ(b.cluster().stored_bytes(1000), script.size()) << "it is still in the state";
    b.at(1000);
    b.must(Tick{});
    EXPECT_EQ(b.cluster().stored_bytes(1000), 0U);
    EXPECT_EQ(submit(std::string(1900U << 10, 'b')), "queued");
}

TEST_F(T50KeptForOne, LongTextsCountAndOrdinaryOnesDoNot) {
    EXPECT_EQ(submit("#!/bin/sh\n"), "queued");
    const auto before = b.cluster().stored_bytes(1000);
    UpdateJob command{.job = {}, .changes = {}, .actor = alice, .recheck = true};
    command.job.job = last.value;
    command.changes.comment = std::string(1000, 'x');
    b.must(command);
    EXPECT_EQ(b.cluster().stored_bytes(1000), before);
    command.changes.comment = std::string(60'000, 'x');
    b.must(command);
    EXPECT_GT(b.cluster().stored_bytes(1000), before + 50'000);
    command.changes.comment = Text{};
    b.must(command);
    EXPECT_EQ(b.cluster().stored_bytes(1000), before);
}

}  // namespace
}  // namespace spur
