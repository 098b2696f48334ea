// Questions to plugins that do not come back.
#include "daemons/spurctld/planning/what_if.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace spur::ctld {
namespace {

using namespace std::chrono_literals;

WhatIf::OpenPlugins none() {
    return []() -> Result<planning::PolicyPlugins> { return fail(ErrorCode::unavailable, "there are none here"); };
}

TEST(WhatIf, AQuestionThatHangsIsAnsweredWithoutThePluginsAndSoAreThoseBehindIt) {
    std::promise<void> release;
    auto released = release.get_future().share();
    WhatIf what_if{none(), 50ms};
    std::promise<std::string> first, second;
    what_if.ask([released] { released.wait(); }, [&](const std::string& why) { first.set_value(why); });
    EXPECT_EQ(first.get_future().get(),
              "the policy plugins have not answered within 0.05 s; `spur plugin stats` shows what they do");
    std::atomic<bool> is_asked{false};
    what_if.ask([&] { is_asked = true; }, [&](const std::string& why) { second.set_value(why); });
    EXPECT_FALSE(second.get_future().get().empty());
    release.set_value();
    // They have come back: the next question is asked again.
    struct Once {  // of two answers the first counts; whoever gives one may outlive the round
        std::promise<bool> answer;
        std::atomic<bool> is_given{false};
        void give(bool value) {
            if (!is_given.exchange(true)) answer.set_value(value);
        }
    };
    for (bool is_answered = false; !is_answered;) {
        const auto once = std::make_shared<Once>();
        what_if.ask([once] { once->give(true); }, [once](const std::string&) { once->give(false); });
        is_answered = once->answer.get_future().get();
    }
    what_if.stop();
    EXPECT_FALSE(is_asked);
}

TEST(WhatIf, AQuestionThatIsAnsweredInTimeIsNotLate) {
    WhatIf what_if{none(), 20s};
    std::promise<void> asked;
    std::atomic<bool> is_late{false};
    what_if.ask([&] { asked.set_value(); }, [&](const std::string&) { is_late = true; });
    asked.get_future().get();
    what_if.stop();
    EXPECT_FALSE(is_late);
}

}  // namespace
}  // namespace spur::ctld
