// Opening pipes, terminals and files for the streams of a task.
#include "daemons/spurstepd/stdio.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace spur::step {

namespace {

constexpr gid_t tty_group = 5;

Result<void> open_pipe(Descriptor& reading, Descriptor& writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorCode::unavailable, "pipe: {}", std::strerror(errno));
    reading = Descriptor{ends[0]};
    writing = Descriptor{ends[1]};
    return {};
}

void do_not_block(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

Result<void> open_terminal(const LaunchSpec& spec, Descriptor& ours, Descriptor& theirs) {
    ours = Descriptor{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
    char name[64];
    if (!ours || grantpt(ours.get()) != 0 || unlockpt(ours.get()) != 0 || ptsname_r(ours.get(), name, sizeof name) != 0)
        return fail(ErrorCode::unavailable, "no terminal to be had: {}", std::strerror(errno));
    theirs = Descriptor{open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)};
    if (!theirs) return fail(ErrorCode::unavailable, "{}: {}", name, std::strerror(errno));
    if (geteuid() == 0 && (fchown(theirs.get(), spec.uid, tty_group) != 0 || fchmod(theirs.get(), 0620) != 0))
        return fail(ErrorCode::unavailable, "{}: {}", name, std::strerror(errno));
    set_window(theirs.get(), spec.rows, spec.columns);
    return {};
}

// A terminal only so that the program's C library does not hold its output back: bytes pass unchanged.
void make_raw(int terminal) {
    termios settings{};
    if (tcgetattr(terminal, &settings) != 0) return;
    cfmakeraw(&settings);
    tcsetattr(terminal, TCSANOW, &settings);
}

Result<void> open_out(const LaunchSpec& spec, const TaskSpec& task, const UserFiles& files, TaskStreams& streams) {
    if (!task.std_out.empty()) {
        streams.out_fd = files.output(task.std_out);
        if (spec.label_width == 0) return {};
        streams.out_file = streams.out_fd;
    }
    if (spec.unbuffered) {
        SPUR_CHECK(open_terminal(spec, streams.from_out, streams.task_out));
        make_raw(streams.task_out.get());
    } else {
        SPUR_CHECK(open_pipe(streams.from_out, streams.task_out));
    }
    streams.out_fd = streams.task_out.get();
    return {};
}

Result<void> open_err(const LaunchSpec& spec, const TaskSpec& task, const UserFiles& files, TaskStreams& streams) {
    if (!task.std_err.empty()) {
        streams.err_fd = files.output(task.std_err);
        if (spec.label_width == 0) return {};
        streams.err_file = streams.err_fd;
    }
    SPUR_CHECK(open_pipe(streams.from_err, streams.task_err));
    streams.err_fd = streams.task_err.get();
    return {};
}

Result<TaskStreams> open_on_terminal(const LaunchSpec& spec) {
    TaskStreams streams;
    SPUR_CHECK(open_terminal(spec, streams.from_out, streams.task_in));
    streams.in_fd = streams.out_fd = streams.err_fd = streams.task_in.get();
    streams.to_task = Descriptor{fcntl(streams.from_out.get(), F_DUPFD_CLOEXEC, 3)};
    streams.terminal = true;
    do_not_block(streams.from_out.get());
    return streams;
}

}  // namespace

void TaskStreams::close_task_ends() {
    task_in.reset();
    task_out.reset();
    task_err.reset();
    in_fd = out_fd = err_fd = -1;
}

Result<TaskStreams> open_streams(const LaunchSpec& spec, std::size_t place, UserFiles& files) {
    const auto& task = spec.tasks[place];
    if (spec.pty && task.id == 0) return open_on_terminal(spec);
    TaskStreams streams;
    if (task.std_in.empty()) {
        SPUR_CHECK(open_pipe(streams.task_in, streams.to_task));
        do_not_block(streams.to_task.get());
    } else {
        streams.task_in = files.take_input(place);
    }
    streams.in_fd = streams.task_in.get();
    SPUR_CHECK(open_out(spec, task, files, streams));
    SPUR_CHECK(open_err(spec, task, files, streams));
    if (streams.from_out) do_not_block(streams.from_out.get());
    if (streams.from_err) do_not_block(streams.from_err.get());
    return streams;
}

void set_window(int terminal, std::uint32_t rows, std::uint32_t columns) {
    if (rows == 0 || columns == 0) return;
    winsize size{};
    size.ws_row = static_cast<unsigned short>(rows);
    size.ws_col = static_cast<unsigned short>(columns);
    ioctl(terminal, TIOCSWINSZ, &size);
}

}  // namespace spur::step
