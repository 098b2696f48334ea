// --dependency: what it takes and how squeue's %E shows it.
#include "core/model/dependency.hpp"

#include <gtest/gtest.h>

namespace spur {
namespace {

std::string shown(std::string_view text) {
    const auto list = DependencyList::parse(text);
    return list ? list->with_state() : list.error().text;
}

TEST(T50Dependency, EveryTypeIsRead) {
    for (const auto* type : {"after", "afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer"})
        EXPECT_EQ(shown(std::string{type} + ":12"), std::string{type} + ":12(unfulfilled)");
    EXPECT_EQ(shown("AfterOk:12"), "afterok:12(unfulfilled)");
    EXPECT_EQ(shown("SINGLETON"), "singleton(unfulfilled)");
    EXPECT_EQ(shown("12"), "afterany:12(unfulfilled)");
    EXPECT_EQ(shown(""), "");
}

TEST(T50Dependency, AClauseMayNameSeveralJobsAndTasks) {
    EXPECT_EQ(shown("afterok:12:13_4"), "afterok:12(unfulfilled),afterok:13_4(unfulfilled)");
    EXPECT_EQ(shown("afterok:13_[1-2]"), "afterok:13_1(unfulfilled),afterok:13_2(unfulfilled)");
    EXPECT_EQ(shown("aftercorr:13_*"), "aftercorr:13_*(unfulfilled)");
    EXPECT_EQ(shown("after:5+10:6"), "after:5+10(unfulfilled),after:6(unfulfilled)");
    EXPECT_EQ(shown("afterok:12:12,afterok:12"), "afterok:12(unfulfilled)");
}

TEST(T50Dependency, ACommaWantsAllAndAQuestionMarkAny) {
    EXPECT_EQ(shown("afterok:1,singleton"), "afterok:1(unfulfilled),singleton(unfulfilled)");
    EXPECT_EQ(shown("afterok:1?afterany:2"), "afterok:1(unfulfilled)?afterany:2(unfulfilled)");
    EXPECT_TRUE(DependencyList::parse("afterok:1,afterany:2?afternotok:3")->any);
    EXPECT_FALSE(DependencyList::parse("afterok:1,afterany:2")->any);
}

TEST(T50Dependency, WhatIsPrintedReadsBackTheSame) {
    for (const auto* text : {"afterok:12,afterok:13_4,singleton", "after:5+10?aftercorr:7_*"})
        EXPECT_EQ(DependencyList::parse(text)->str(), text);
}

TEST(T50Dependency, StatesAreShown) {
    auto list = DependencyList::parse("afterok:1,afterok:2").value();
    list.entries[0].state = DependencyState::failed;
    EXPECT_EQ(list.with_state(), "afterok:1(failed),afterok:2(unfulfilled)");
}

TEST(T50Dependency, WhatIsNoDependencyIsRefusedWithTheReason) {
    EXPECT_EQ(shown("foo:1"),
              "Job dependency problem: \"foo\" is not one of after, afterany, afterok, afternotok, aftercorr, "
              "afterburstbuffer, singleton");
    EXPECT_EQ(shown("afterok"), "Job dependency problem: afterok needs a job id, as in afterok:123");
    EXPECT_EQ(shown("afterok:x"), "Job dependency problem: \"x\" is not a job id");
    EXPECT_EQ(shown("after:1+0"), "Job dependency problem: after the + in \"1+0\" goes a number of minutes above 0");
    EXPECT_EQ(shown("singleton:5"), "Job dependency problem: singleton takes no job id");
    for (const auto* text :
         {"afterok:", "afterok:0", "afterok:1:", ":1", "afterok:1,", ",afterok:1", "afterok:1 afterany:2", "none",
          "afterok:1.0", "?afterok:1", "afterok:1?", "after:1+", "after:1+x", "afterok:1_[0-99999]"})
        EXPECT_TRUE(shown(text).starts_with("Job dependency problem: ")) << text;
}

}  // namespace
}  // namespace spur
