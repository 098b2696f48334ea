// sstat: what it is asked for, and what it prints, against texts observed of Slurm 22.05 for a step of three tasks.
#include <gtest/gtest.h>

#include "cli/sstat/fields.hpp"
#include "core/base/ids.hpp"
#include "core/text/lexical.hpp"

namespace spur::cli::sstat {
namespace {

void add_task(v1::MeasureStepReply& reply, std::uint32_t task, const std::vector<std::uint64_t>& values) {
    auto& out = *reply.add_tasks();
    out.set_task(task);
    out.mutable_values()->Add(values.begin(), values.end());
}

StepReading three_tasks() {
    StepReading reading{.job = 1, .step = {}, .nodes = {}};
    reading.step.set_step_id(1);
    reading.step.set_tasks(3);
    auto& first = reading.nodes.emplace_back("n1", v1::MeasureStepReply{}).second;
    add_task(first, 0, {550'000, 55'754'752, 58'912'768, 0, 1'694'369, 3'147'430});
    add_task(first, 1, {1'000'000, 97'763'328, 100'855'808, 0, 1'694'369, 3'147'430});
    first.add_pids(14198);
    first.add_pids(14199);
    auto& second = reading.nodes.emplace_back("n2", v1::MeasureStepReply{}).second;
    add_task(second, 2, {1'600'000, 139'702'272, 142'798'848, 0, 1'694'369, 3'147'430});
    second.add_pids(14208);
    return reading;
}

std::string listing(const StepReading& reading, Options options) {
    const auto columns = columns_of(options);
    if (!columns) return columns.error().text;
    return listing_header(options, *columns) + listing_rows(reading, options, *columns);
}

TEST(T12Sstat, AStepOfThreeTasksOnTwoNodesPrintsAsSlurmHasIt) {
    Options options{.style = TableStyle::bars_between, .header = false};
    EXPECT_EQ(
        listing(three_tasks(), options),
        "1.1|139452K|n2|2|98492K|136428K|n2|2|97740117|0|n1|0|0|00:00:00|n1|0|00:00:01|3|0|Unknown|Unknown|Unknown|0|"
        "1694369|n1|0|1694369|3147430|n1|0|3147430|"
        "cpu=00:00:01,energy=0,fs/disk=1694369,mem=97740117,pages=0,vmem=98492K|"
        "cpu=00:00:01,energy=0,fs/disk=1694369,mem=136428K,pages=0,vmem=139452K|"
        "cpu=n2,energy=n1,fs/disk=n1,mem=n2,pages=n1,vmem=n2|cpu=00:00:00,fs/disk=0,mem=2,pages=0,vmem=2|"
        "cpu=00:00:00,energy=0,fs/disk=1694369,mem=54448K,pages=0,vmem=57532K|"
        "cpu=n1,energy=n1,fs/disk=n1,mem=n1,pages=n1,vmem=n1|cpu=00:00:00,fs/disk=0,mem=0,pages=0,vmem=0|"
        "cpu=00:00:03,energy=0,fs/disk=5083107,mem=286348K,pages=0,vmem=295476K|"
        "energy=0,fs/disk=3147430|energy=0,fs/disk=3147430|energy=n1,fs/disk=n1|fs/disk=0|energy=0,fs/disk=3147430|"
        "energy=n1,fs/disk=n1|fs/disk=0|energy=0,fs/disk=9442290\n");
    options.convert = false;
    options.format = "maxvmsize,averss,tresusageinmin";
    EXPECT_EQ(listing(three_tasks(), options),
              "142798848|97740117|cpu=00:00:00,energy=0,fs/disk=1694369,mem=55754752,pages=0,vmem=58912768\n");
}

TEST(T12Sstat, ColumnsAreAsWideAsSlurms) {
    Options options;
    const auto text = listing(three_tasks(), options);
    const auto lines = split(text, '\n');
    EXPECT_TRUE(lines[0].starts_with(
        "JobID         MaxVMSize  MaxVMSizeNode  MaxVMSizeTask  AveVMSize     MaxRSS MaxRSSNode MaxRSSTask     AveRSS "
        "MaxPages MaxPagesNode   MaxPagesTask   AvePages     MinCPU MinCPUNode MinCPUTask     AveCPU   NTasks "
        "AveCPUFreq ReqCPUFreqMin ReqCPUFreqMax ReqCPUFreqGov ConsumedEnergy  MaxDiskRead MaxDiskReadNode "))
        << lines[0];
    EXPECT_TRUE(lines[2].starts_with("1.1             139452K             n2              2     98492K    136428K         "
                                     "n2          2   97740117        0           n1              0          0   00:00:00"))
        << lines[2];
    options.format = "JobID,MaxRSS%20,AveCPU%-15";
    EXPECT_EQ(listing(three_tasks(), options),
              "JobID                      MaxRSS AveCPU          \n"
              "------------ -------------------- --------------- \n"
              "1.1                       136428K 00:00:01        \n");
}

TEST(T12Sstat, ProcessesAreListedNodeByNodeOrTogether) {
    Options options{.pids = true};
    EXPECT_EQ(listing(three_tasks(), options),
              "JobID                    Nodelist                 Pids \n"
              "------------ -------------------- -------------------- \n"
              "1.1                            n1          14198,14199 \n"
              "1.1                            n2                14208 \n");
    options = {.format = "jobid,nodelist,pids,reqcpufreq,consumedenergyraw", .style = TableStyle::bars};
    EXPECT_EQ(listing(three_tasks(), options),
              "JobID|Nodelist|Pids|ReqCPUFreq|ConsumedEnergyRaw|\n1.1|n[1-2]|14198,14199,14208|Unknown|0|\n");
}

TEST(T12Sstat, AFieldNeedsAsManyLettersAsTellItApartAndMustExist) {
    EXPECT_STREQ(find_field("max")->name, "MaxDiskRead");
    EXPECT_STREQ(find_field("NTASKS")->name, "NTasks");
    EXPECT_EQ(listing(three_tasks(), {.format = "nonsense"}), "Invalid field requested: \"nonsense\"");
    for (const auto& field : fields())
        EXPECT_TRUE(field.text != nullptr || records::find_usage_field(field.name)) << field.name;
    EXPECT_TRUE(help_format().ends_with("TRESUsageOutMinNode TRESUsageOutMinTask TRESUsageOutTot    \n"));
}

TEST(T12Sstat, StepsAreNamedByJobAndStep) {
    EXPECT_EQ(*wanted_steps({"1,2.0", "3.batch"}),
              (std::vector<Wanted>{{"1", std::nullopt}, {"2", 0}, {"3", step_batch}}));
    EXPECT_EQ(*wanted_steps({"4_2.1"}), (std::vector<Wanted>{{"4_2", 1}}));
    EXPECT_EQ(wanted_steps({}).error().text, "You didn't give me any jobs to stat.");
    EXPECT_EQ(wanted_steps({","}).error().code, ErrorCode::not_found);
    EXPECT_EQ(wanted_steps({"abc"}).error().text, "Bad job/step specified: abc");
    EXPECT_EQ(wanted_steps({"11.xyz"}).error().text, "Bad step specified: 11");
}

TEST(T12Sstat, SacctHasTheSameInItsOwnUnits) {
    const auto usage = usage_of(three_tasks());
    const auto cell = [&](std::string_view name, std::optional<char> units = std::nullopt) {
        return records::usage_text(*records::find_usage_field(name), usage, {records::UsageStyle::Of::sacct, units});
    };
    EXPECT_EQ(cell("MaxDiskRead"), "1.62M");
    EXPECT_EQ(cell("AveDiskWrite"), "3.00M");
    EXPECT_EQ(cell("MaxRSS"), "136428K");
    EXPECT_EQ(cell("MaxRSS", 'M'), "133.23M");
    EXPECT_EQ(cell("maxrss", '\0'), "139702272");
    EXPECT_EQ(cell("TRESUsageInMaxTask"), "cpu=2,fs/disk=0,mem=2,pages=0,vmem=2");
    EXPECT_EQ(cell("TRESUsageOutMax", 'M'), "energy=0,fs/disk=3.00M");
}

TEST(T12Sstat, WhatWasNotMeasuredIsEmptyButForEnergy) {
    const auto cell = [](std::string_view name) {
        return records::usage_text(*records::find_usage_field(name), {}, {});
    };
    EXPECT_EQ(cell("MaxRSS"), "");
    EXPECT_EQ(cell("MinCPUTask"), "");
    EXPECT_EQ(cell("TRESUsageInAve"), "energy=0");
    EXPECT_EQ(cell("TRESUsageInMax"), "");
    EXPECT_EQ(cell("TRESUsageInTot"), "energy=0");
    EXPECT_FALSE(records::find_usage_field("JobID"));
}

}  // namespace
}  // namespace spur::cli::sstat
