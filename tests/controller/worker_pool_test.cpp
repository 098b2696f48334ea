// Threads that wait for others: answers, deadlines, and what happens to those who hang.
#include "daemons/common/work/worker_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>

namespace spur::work {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::milliseconds long_enough = 60s, a_moment = 20ms;

// Asks, and waits for the answer however it comes.
template <class T>
Result<T> ask(WorkerPool& pool, std::chrono::milliseconds patience, std::function<Result<T>()> question) {
    const auto promise = std::make_shared<std::promise<Result<T>>>();
    auto answer = promise->get_future();
    pool.ask<T>("the oracle", patience, std::move(question), [promise](Result<T> said) { promise->set_value(said); });
    return answer.get();
}

TEST(WorkerPool, AQuestionIsAnsweredOnAnotherThread) {
    WorkerPool pool;
    const auto thread = ask<std::thread::id>(pool, long_enough, [] { return std::this_thread::get_id(); });
    ASSERT_TRUE(thread);
    EXPECT_TRUE(*thread != std::this_thread::get_id());
}

TEST(WorkerPool, WhoHangsIsGivenUpAndNamed) {
    std::latch released{1};
    WorkerPool pool;
    const auto said = ask<int>(pool, a_moment, [&]() -> Result<int> {
        released.wait();
        return 1;
    });
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().code, ErrorCode::unavailable);
    EXPECT_NE(said.error().text.find("the oracle has not answered within 0.02 s"), std::string::npos);
    released.count_down();
}

TEST(WorkerPool, WhenAllWorkersHangTheOthersAreToldInTime) {
    std::latch released{1};
    WorkerPool pool{{.threads = 2}};
    const auto hang = [&]() -> Result<int> {
        released.wait();
        return 1;
    };
    std::atomic<int> late{0};
    for (int i = 0; i < 2; ++i) pool.ask<int>("it", long_enough, hang, [&](const Result<int>&) { ++late; });
    EXPECT_FALSE(ask<int>(pool, a_moment, [] { return 2; }));
    EXPECT_EQ(late, 0);
    released.count_down();
    EXPECT_EQ(ask<int>(pool, long_enough, [] { return 3; }), 3);  // and the workers are there again
}

TEST(WorkerPool, AnExceptionBecomesAnError) {
    WorkerPool pool;
    const auto said = ask<int>(pool, long_enough, []() -> Result<int> { throw std::runtime_error{"out of luck"}; });
    ASSERT_FALSE(said);
    EXPECT_EQ(said.error().code, ErrorCode::internal);
    EXPECT_NE(said.error().text.find("out of luck"), std::string::npos);
}

TEST(WorkerPool, AFullQueueRefuses) {
    std::latch released{1}, begun{1};
    WorkerPool pool{{.threads = 1, .longest_queue = 1}};
    const auto ignore = [](const Result<int>&) {};
    pool.ask<int>(
        "it", long_enough,
        [&]() -> Result<int> {
            begun.count_down();
            released.wait();
            return 1;
        },
        ignore);
    begun.wait();
    pool.ask<int>(
        "it", long_enough, [] { return 2; }, ignore);
    const auto said = ask<int>(pool, long_enough, [] { return 3; });
    released.count_down();
    ASSERT_FALSE(said);
    EXPECT_NE(said.error().text.find("too many questions"), std::string::npos);
}

TEST(WorkerPool, NobodyIsAnsweredAfterTheStop) {
    const auto released = std::make_shared<std::latch>(1);
    const auto told = std::make_shared<std::atomic<int>>(0);
    std::promise<void> begun;
    {
        WorkerPool pool;
        pool.ask<int>(
            "it", long_enough,
            [released, &begun]() -> Result<int> {
                begun.set_value();
                released->wait();
                return 1;
            },
            [told](const Result<int>&) { ++*told; });
        begun.get_future().wait();
    }  // one thread is left behind
    released->count_down();
    EXPECT_EQ(*told, 0);
}

}  // namespace
}  // namespace spur::work
