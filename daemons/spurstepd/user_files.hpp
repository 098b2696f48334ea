// The files that a step's tasks read and write, opened with the user's rights.
//
// A path of the user's may lead to a pipe that nobody reads or to a file server that does not answer, and then opening
// it or writing to it takes for ever. So both happen on threads: whoever calls this never waits, and goes on obeying
// orders and enforcing limits. A thread that hangs ends with the process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/spurstepd/descriptor.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::step {

class UserFiles {
public:
    explicit UserFiles(const LaunchSpec& spec);
    ~UserFiles();
    UserFiles(const UserFiles&) = delete;
    UserFiles& operator=(const UserFiles&) = delete;

    // Readable once there is news: files are open, or something was written.
    [[nodiscard]] int news_fd() const { return news_.get(); }
    void take_news();

    // Begins to open all that the spec names, in its order.
    Result<void> begin();
    [[nodiscard]] bool is_opening() const { return opening_ != nullptr; }
    // Once it is no longer opening: the first error names the file and the stream, in Slurm's words.
    [[nodiscard]] const Result<void>& opened() const { return opened_; }

    // Output named by several tasks, or as stdout and stderr alike, is one open file: its writers share one offset.
    [[nodiscard]] int output(const std::string& path) const;
    Descriptor take_input(std::size_t task);

    // After all that was to be written there before. Lost where it cannot be written at all.
    void write(int file, std::string text);
    [[nodiscard]] std::size_t unwritten(int file) const;
    [[nodiscard]] std::size_t unwritten() const;

private:
    struct Opening;
    class Writer;
    void finish_opening();

    const LaunchSpec& spec_;
    Descriptor news_;
    std::shared_ptr<Opening> opening_;
    Result<void> opened_{};
    std::map<std::string, Descriptor> outputs_;
    std::map<std::size_t, Descriptor> inputs_;  // by the task's place in the spec
    std::map<int, std::unique_ptr<Writer>> writers_;
};

}  // namespace spur::step
