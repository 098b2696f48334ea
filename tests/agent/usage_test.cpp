// What real steps use: measured while they run and when they end, asked for by sstat, and too much of it.
#include <unistd.h>

#include <ctime>
#include <fstream>

#include "core/model/step_usage.hpp"
#include "tests/agent/node.hpp"

namespace spur::test {
namespace {

constexpr std::uint64_t mib = 1U << 20;
constexpr const char* hungry =  // holds 60 MiB and says so, then burns CPU until it is let go
    "import sys, os\n"
    "held = bytearray(60 << 20)\n"
    "open('held.tmp', 'w').write('x' * 4096); os.rename('held.tmp', sys.argv[1])\n"
    "while not os.path.exists('go'): sum(range(1000))\n";

class AgentUsage : public Node {
protected:
    void begin() {
        start_spurd();
        ASSERT_TRUE(joined());
        std::ofstream{work / "hungry.py"} << hungry;
    }
    static std::uint64_t value(const v1::TaskUsage& task, Measured what) {
        return task.values_size() > static_cast<int>(what) ? task.values(static_cast<int>(what)) : 0;
    }
    std::string permit(std::uint32_t job, std::uint32_t uid, std::int64_t lifetime_s = 60) const {
        v1::MeasurePermit body;
        body.set_job_id(job);
        body.set_attempt(1);
        body.set_uid(uid);
        body.set_issued(std::time(nullptr) - 100);
        body.set_expires(std::time(nullptr) + lifetime_s);
        return sign(body, controller.key);
    }
    std::expected<v1::MeasureStepReply, wire::RpcError> measure(const std::string& permit, std::uint32_t step) const {
        v1::MeasureStepRequest request;
        request.set_permit(permit);
        request.set_step_id(step);
        auto channel = channel_to_spurd();
        return wire::call<v1::MeasureStepReply>(channel, "/spur.v1.Agent/MeasureStep", request,
                                                {.timeout = 10s, .idempotent = true, .metadata = {}});
    }
};

TEST_F(AgentUsage, AStepThatIsOverHasWhatItsTasksUsed) {
    begin();
    std::ofstream{work / "go"} << "x";
    const auto report = run(batch(1, "python3 hungry.py held; python3 -c 'for i in range(3000000): pass'"));
    ASSERT_TRUE(report);
    ASSERT_EQ(report->tasks_size(), 1);
    const auto& task = report->tasks(0);
    EXPECT_GE(value(task, Measured::rss_bytes), 60 * mib);
    EXPECT_LT(value(task, Measured::rss_bytes), 600 * mib);
    EXPECT_GE(value(task, Measured::vm_bytes), value(task, Measured::rss_bytes));
    EXPECT_GT(value(task, Measured::cpu_us), 20'000U);
    EXPECT_GT(value(task, Measured::read_bytes), 10'000U) << "python reads its own files";
    EXPECT_GE(value(task, Measured::write_bytes), 4096U);
    EXPECT_GE(report->usage().max_rss_kib(), 60 * mib / 1024);
}

TEST_F(AgentUsage, ARunningStepSaysWhatItUsesToWhoeverHasLeave) {
    begin();
    launch(batch(1, "python3 hungry.py held"));
    ASSERT_TRUE(wait_file("held", "x"));
    const auto reply = measure(permit(1, geteuid()), step_batch);
    ASSERT_TRUE(reply) << reply.error().text;
    ASSERT_EQ(reply->tasks_size(), 1);
    EXPECT_GE(value(reply->tasks(0), Measured::rss_bytes), 60 * mib);
    EXPECT_GE(reply->pids_size(), 2) << "the shell and its child";

    EXPECT_FALSE(measure(permit(1, geteuid() + 1), step_batch)) << "leave given to somebody else";
    EXPECT_FALSE(measure(permit(1, geteuid(), -1), step_batch)) << "too old";
    EXPECT_FALSE(measure(permit(2, geteuid()), step_batch)) << "of another job";
    EXPECT_FALSE(measure("junk", step_batch));
    EXPECT_FALSE(measure(sign(credential(1, 0, 1), controller.key), step_batch))
        << "a credential to start steps is no leave to look";
    const auto other = measure(permit(1, geteuid()), 5);
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().text, "step 1.5 does not run on node n1");
    std::ofstream{work / "go"} << "x";
    EXPECT_TRUE(controller.wait_report(1, v1::StepReport::FINISHED, step_batch));
}

TEST_F(AgentUsage, AStepWithMoreMemoryThanItAskedForIsKilledWhereThatIsMeasured) {
    controller.policy.set_sample_s(1);
    controller.policy.set_over_memory_kill(true);
    begin();
    auto order = batch(1, "echo up; exec python3 hungry.py held");
    order.mutable_job()->mutable_share()->set_memory_mib(32);
    const auto report = run(order);
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->oom());
    EXPECT_EQ(report->exit_status(), 125U);
    EXPECT_NE(file("out.1").find("StepId=1.batch exceeded memory limit ("), std::string::npos) << file("out.1");
}

}  // namespace
}  // namespace spur::test
