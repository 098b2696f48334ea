// Threads that wait for somebody outside this process (a directory service, a credential daemon), so that nobody else
// has to. Such a question may hang and cannot be called back, so each has a deadline: when it has passed the
// asker hears so, and an answer that comes later is dropped.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/result.hpp"

namespace spur::work {

class WorkerPool {
public:
    using Clock = std::chrono::steady_clock;
    struct Options {
        unsigned threads{4};
        std::size_t longest_queue{10'000};
    };

    WorkerPool() : WorkerPool(Options{}) {}
    explicit WorkerPool(Options options);
    ~WorkerPool() { stop(); }
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    // [any thread] Asks `question` on a worker. `answer` is called once: with what it returned, on that worker, or with
    // ErrorCode::unavailable when `patience` is over, on the pool's clock. `whom` is named in the error: "munged".
    template <class T>
    void ask(std::string whom, Clock::duration patience, std::function<Result<T>()> question,
             std::function<void(Result<T>)> answer) {
        auto result = std::make_shared<Result<T>>(std::unexpect);
        auto asker = std::make_shared<std::function<void(Result<T>)>>(std::move(answer));
        run({.whom = std::move(whom),
             .deadline = Clock::now() + patience,
             .patience = patience,
             .question = [result, question = std::move(question)] { *result = question(); },
             .deliver = [result, asker] { (*asker)(std::move(*result)); },
             .give_up = [asker](const Error& why) { (*asker)(std::unexpected(why)); }});
    }

    // Nobody is answered any more once this returns. A thread that hangs is left behind.
    void stop();

private:
    struct Task {
        std::string whom;
        Clock::time_point deadline;
        Clock::duration patience;
        std::function<void()> question;  // may hang
        std::function<void()> deliver;   // what it found
        std::function<void(const Error&)> give_up;
    };
    struct State;
    void run(Task task);

    std::shared_ptr<State> state_;  // the threads' too: one that hangs may outlive the pool
};

}  // namespace spur::work
