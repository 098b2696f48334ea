// sprio's and sshare's listings, held against those of Slurm 22.05.
#include <gtest/gtest.h>

#include <cmath>

#include "cli/sprio/listing.hpp"
#include "cli/sshare/listing.hpp"

namespace spur::cli {
namespace {

v1::ListPrioritiesReply priorities() {
    v1::ListPrioritiesReply reply;
    for (const double weight : {1000., 10000., 500., 100., 2000., 400., 50., 1.}) reply.add_weights(weight);
    reply.set_tres_weights("CPU=300,Mem=100");
    const auto add = [&](std::uint32_t id, const char* user, std::uint32_t uid, double size, double cpu) {
        auto& job = *reply.add_jobs();
        job.set_id(id);
        job.set_user(user);
        job.set_uid(uid);
        job.set_partition("main");
        for (const double raw : {0., 0., size, 1., 0., 0.3125, 0., 0.}) job.add_raw(raw);
        for (const double weighted : {0., 0., 500 * size, 100., 0., 300 * cpu + 50, 0., 0.}) job.add_weighted(weighted);
        job.set_total(static_cast<std::uint64_t>(500 * size + 100 + 300 * cpu + 50));
        for (const auto& [name, value] : {std::pair{"cpu", cpu}, std::pair{"mem", 0.5}}) {
            auto& raw = *job.add_tres_raw();
            raw.set_name(name);
            raw.set_seconds(value);
            auto& weighted = *job.add_tres_weighted();
            weighted.set_name(name);
            weighted.set_seconds(value * (std::string_view{name} == "cpu" ? 300 : 100));
        }
    };
    add(5, "sha", 1001, 0.5, 0.5);
    add(2, "shb", 1002, 0.375, 0.25);
    return reply;
}

TEST(T55Priorities, TheColumnsAreSlurms) {
    const auto printed = sprio::print_listing({}, priorities());
    EXPECT_EQ(
        printed.text,
        "          JOBID PARTITION   PRIORITY       SITE        AGE      ASSOC  FAIRSHARE    JOBSIZE  PARTITION   "
        "     QOS                 TRES\n"
        "              2 main             412          0          0          0          0        188        100   "
        "       0        cpu=75,mem=50\n"
        "              5 main             550          0          0          0          0        250        100   "
        "       0       cpu=150,mem=50\n");
}

TEST(T55Priorities, TheLongListingHasUserAndNice) {
    sprio::Options options;
    options.long_listing = true;
    options.users = {1002};
    EXPECT_EQ(
        sprio::print_listing(options, priorities()).text,
        "          JOBID PARTITION     USER   PRIORITY       SITE        AGE      ASSOC  FAIRSHARE    JOBSIZE  "
        "PARTITION        QOS        NICE                 TRES\n"
        "              2 main           shb        412          0          0          0          0        188        "
        "100          0           0        cpu=75,mem=50\n");
}

TEST(T55Priorities, NormalisedFactorsAreFractions) {
    sprio::Options options;
    options.normalised = true;
    options.header = false;
    options.sort = "-y";
    EXPECT_EQ(sprio::print_listing(options, priorities()).text,
              "              5 main      0.00000012 0.0000000  0.0000000  0.0000000  0.5000000  1.0000000  0.0000000  "
              "cpu=0.50,mem=0.50   \n"
              "              2 main      0.00000009 0.0000000  0.0000000  0.0000000  0.3750000  1.0000000  0.0000000  "
              "cpu=0.25,mem=0.50   \n");
}

TEST(T55Priorities, WeightsAreALineOfTheirOwn) {
    sprio::Options options;
    options.weights = true;
    options.header = false;
    EXPECT_EQ(
        sprio::print_listing(options, priorities()).text,
        "        Weights                               1       1000         50      10000        500        100     "
        "  2000      CPU=300,Mem=100\n");
}

TEST(T55Priorities, ColumnsWithoutWeightAreLeftOut) {
    auto reply = priorities();
    for (const int factor : {0, 1, 2, 3, 4, 5, 6}) reply.set_weights(factor, factor == 1 ? 100 : 0);
    const auto printed = sprio::print_listing({}, reply);
    EXPECT_EQ(printed.text.substr(0, printed.text.find('\n')),
              "          JOBID PARTITION   PRIORITY       SITE  FAIRSHARE");
}

TEST(T55Priorities, WrongLettersAreNamed) {
    sprio::Options options;
    options.format = "%i %z";
    options.sort = "z";
    EXPECT_EQ(sprio::print_listing(options, priorities()).complaints,
              (std::vector<std::string>{"Invalid job format specification: z", "Invalid sort specification: z"}));
}

TEST(T55Priorities, NoSuchJobIsSaidOnStandardOutput) {
    sprio::Options options;
    options.jobs = {999};
    EXPECT_EQ(sprio::print_listing(options, v1::ListPrioritiesReply{}).text,
              "Unable to find jobs matching user/id(s) specified\n");
}

// ---- sshare --------------------------------------------------------------------------------------------------------

v1::ListSharesReply shares() {
    v1::ListSharesReply reply;
    reply.set_fair_tree(true);
    reply.set_cluster("bench");
    for (const auto* name : {"cpu", "mem"}) reply.add_tres(name);
    const auto add = [&](std::uint32_t id, std::uint32_t parent, const char* account, const char* user,
                         std::uint32_t raw_shares, double norm, double usage, double effective, double factor) {
        auto& share = *reply.add_shares();
        auto& entry = *share.mutable_association();
        entry.set_id(id);
        entry.set_parent(parent);
        entry.set_account(account);
        entry.set_user(user);
        entry.set_shares(raw_shares);
        entry.mutable_usage()->set_raw(usage);
        share.set_normalised_shares(norm);
        share.set_effective_usage(effective);
        share.set_level(effective > 0 ? norm / effective : INFINITY);
        share.set_factor(factor);
        return &share;
    };
    add(1, 0, "root", "", 1, 0, 9053, 1, 0);
    add(5, 1, "phys", "", 30, 0.714286, 4458, 0.492413, 0);
    add(3, 1, "chem", "", 10, 0.238095, 4595, 0.507587, 0);
    add(4, 3, "chem", "shb", 7, 0.7, 4195, 0.913033, 0.285714);
    add(6, 5, "lasers", "", 10, 1, 4458, 1, 0)->mutable_association()->set_shares_parent(true);
    add(2, 1, "root", "root", 1, 0.02381, 0, 0, 1);
    return reply;
}

TEST(T55Shares, TheTreeIsIndentedUsersBeforeAccounts) {
    sshare::Options options;
    options.all = true;
    EXPECT_EQ(*sshare::print_listing(options, shares(), "root"),
              "Account                    User  RawShares  NormShares    RawUsage  EffectvUsage  FairShare \n"
              "-------------------- ---------- ---------- ----------- ----------- ------------- ---------- \n"
              "root                                          0.000000        9053      1.000000            \n"
              " root                      root          1    0.023810           0      0.000000   1.000000 \n"
              " chem                                   10    0.238095        4595      0.507587            \n"
              "  chem                      shb          7    0.700000        4195      0.913033   0.285714 \n"
              " phys                                   30    0.714286        4458      0.492413            \n"
              "  lasers                            parent    1.000000        4458      1.000000            \n");
}

TEST(T55Shares, OneSeesOneselfUnlessOthersAreAskedFor) {
    const auto text = *sshare::print_listing({}, shares(), "shb");
    EXPECT_NE(text.find(" shb "), std::string::npos);
    EXPECT_EQ(text.find("root          1"), std::string::npos);
    sshare::Options users_only;
    users_only.only_users = users_only.all = true;
    users_only.header = false;
    users_only.style = TableStyle::bars_between;
    EXPECT_EQ(*sshare::print_listing(users_only, shares(), "x"),
              "root|root|1|0.023810|0|0.000000|1.000000\nchem|shb|7|0.700000|4195|0.913033|0.285714\n");
}

TEST(T55Shares, TheLongListingHasLevelsAndMinutes) {
    sshare::Options options;
    options.long_listing = options.all = true;
    options.accounts = {"chem"};
    options.style = TableStyle::bars;
    EXPECT_EQ(
        *sshare::print_listing(options, shares(), "x"),
        "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS|GrpTRESMins|TRESRunMins|\n"
        "chem||10|0.238095|4595|0.000000|0.507587||0.469072||cpu=0,mem=0|\n"
        " chem|shb|7|0.700000|4195|0.000000|0.913033|0.285714|0.766675||cpu=0,mem=0|\n");
}

TEST(T55Shares, FieldsCanBeChosenByTheirBeginningWithAWidth) {
    sshare::Options options;
    options.format = "Account%-8,NormSh%9";
    options.header = false;
    options.accounts = {"chem"};
    EXPECT_EQ(*sshare::print_listing(options, shares(), "x"), "chem      0.238095 \n");
    options.format = "bogus";
    EXPECT_EQ(sshare::print_listing(options, shares(), "x").error().text, "Invalid field requested: \"bogus\"");
}

}  // namespace
}  // namespace spur::cli
