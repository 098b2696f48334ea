// Where srun puts what tasks write.
#include "cli/srun/task_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace spur::cli::srun {
namespace {

constexpr std::size_t longest_line = 64 * 1024;  // longer ones are passed on in pieces

Result<int> open_file(const StreamPlan& plan, const char* what, bool append, const PatternValues& values,
                      const std::string& work_dir) {
    const auto path = expand_path(plan.pattern, values, work_dir);
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666);
    if (fd < 0) return fail(ErrorCode::invalid, "Could not open {} file: {}", what, std::strerror(errno));
    return fd;
}

}  // namespace

void write_all(int fd, std::string_view data) {
    while (!data.empty()) {
        const auto count = ::write(fd, data.data(), data.size());
        if (count >= 0) {
            data.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {
            pollfd wait{fd, POLLOUT, 0};
            ::poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            return;  // the reader has gone; the tasks go on
        }
    }
}

Result<TaskOutput> TaskOutput::open(Settings settings, const PatternValues& values, const std::string& work_dir) {
    using Kind = StreamPlan::Kind;
    TaskOutput output(std::move(settings));
    const auto& plans = output.settings_;
    if (plans.out.kind == Kind::local_file) {
        SPUR_TRY(output.out_fd_, open_file(plans.out, "stdout", plans.append, values, work_dir));
        output.owns_out_ = true;
    }
    // Without -e, errors go where the output goes.
    if (plans.err.kind == Kind::streamed && plans.out.kind == Kind::local_file) {
        output.err_fd_ = output.out_fd_;
    } else if (plans.err.kind == Kind::local_file) {
        if (plans.out.kind == Kind::local_file && plans.out.pattern == plans.err.pattern) {
            output.err_fd_ = output.out_fd_;
        } else {
            SPUR_TRY(output.err_fd_, open_file(plans.err, "stderr", plans.append, values, work_dir));
            output.owns_err_ = true;
        }
    }
    return output;
}

TaskOutput::TaskOutput(TaskOutput&& other) noexcept
    : settings_(std::move(other.settings_)),
      out_fd_(other.out_fd_),
      err_fd_(other.err_fd_),
      owns_out_(std::exchange(other.owns_out_, false)),
      owns_err_(std::exchange(other.owns_err_, false)),
      partial_(std::move(other.partial_)) {}

TaskOutput::~TaskOutput() {
    if (owns_out_) ::close(out_fd_);
    if (owns_err_) ::close(err_fd_);
}

void TaskOutput::put(std::uint32_t task, bool error_stream, std::string_view line) const {
    const auto& plan = error_stream ? settings_.err : settings_.out;
    if (plan.kind == StreamPlan::Kind::none) return;
    if (plan.kind == StreamPlan::Kind::one_task && plan.task != task) return;
    const int fd = error_stream ? err_fd_ : out_fd_;
    if (!settings_.label) return write_all(fd, line);
    std::size_t width = 1;
    for (auto most = settings_.tasks - 1; most >= 10; most /= 10) ++width;
    auto labelled = fmt::format("{:>{}}: {}", task, width, line);
    if (!labelled.ends_with('\n')) labelled += '\n';
    write_all(fd, labelled);
}

void TaskOutput::write(std::uint32_t task, bool error_stream, std::string_view data, bool eof) {
    if (settings_.unbuffered && !settings_.label) return put(task, error_stream, data);
    auto& held = partial_[{task, error_stream}];
    held += data;
    if (!settings_.label) {
        // All whole lines at once.
        const auto end = held.rfind('\n');
        const auto whole = eof || held.size() > longest_line ? held.size() : end == std::string::npos ? 0 : end + 1;
        if (whole != 0) put(task, error_stream, std::string_view(held).substr(0, whole));
        held.erase(0, whole);
        return;
    }
    std::size_t start = 0;
    for (auto end = held.find('\n'); end != std::string::npos; end = held.find('\n', start)) {
        put(task, error_stream, std::string_view(held).substr(start, end + 1 - start));
        start = end + 1;
    }
    held.erase(0, start);
    if (!held.empty() && (eof || held.size() > longest_line)) {
        put(task, error_stream, held);
        held.clear();
    }
}

void TaskOutput::flush() {
    for (auto& [key, held] : partial_) {
        if (!held.empty()) put(key.first, key.second, held);
        held.clear();
    }
}

}  // namespace spur::cli::srun
