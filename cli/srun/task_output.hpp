// Where srun puts what tasks write: its own stdout and stderr, or files; whole lines, with labels if asked for.
#pragma once

#include "cli/srun/step_request.hpp"
#include "core/base/result.hpp"
#include "core/text/pattern.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace spur::cli::srun {

class TaskOutput {
public:
    struct Settings {
        StreamPlan out, err;
        bool label = false;
        bool unbuffered = false;
        bool append = false;
        std::uint32_t tasks = 1;
    };
    // Opens the files that are srun's to open.
    static Result<TaskOutput> open(Settings settings, const PatternValues& values, const std::string& work_dir);

    TaskOutput(TaskOutput&& other) noexcept;
    TaskOutput& operator=(TaskOutput&&) = delete;
    ~TaskOutput();

    void write(std::uint32_t task, bool error_stream, std::string_view data, bool eof);
    void flush();  // lines that were never ended

private:
    explicit TaskOutput(Settings settings) : settings_(std::move(settings)) {}
    void put(std::uint32_t task, bool error_stream, std::string_view line) const;

    Settings settings_;
    int out_fd_ = 1, err_fd_ = 2;
    bool owns_out_ = false, owns_err_ = false;
    std::map<std::pair<std::uint32_t, bool>, std::string> partial_;
};

void write_all(int fd, std::string_view data);

}  // namespace spur::cli::srun
