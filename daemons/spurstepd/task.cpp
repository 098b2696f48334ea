// Moving bytes between a task's streams and spurd, with bounded buffers.
#include "daemons/spurstepd/task.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace spur::step {

namespace {

constexpr std::size_t longest_line = 64 * 1024;
constexpr char end_of_input = 4;  // what ^D sends on a terminal

}  // namespace

void OutputStream::pump(const Forward& forward) {
    char buffer[32 * 1024];
    const auto count = read(fd_.get(), buffer, sizeof buffer);
    if (count > 0) return pass({buffer, static_cast<std::size_t>(count)}, forward);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    finish(forward);  // the end, or EIO: the last holder of the terminal has gone
}

void OutputStream::finish(const Forward& forward) {
    if (!fd_) return;
    fd_.reset();
    forward(std::exchange(line_, {}), true);
}

void OutputStream::pass(std::string_view bytes, const Forward& forward) {
    if (!whole_lines_) return forward(bytes, false);
    const auto last_end = bytes.rfind('\n');
    if (last_end == std::string_view::npos) {
        line_.append(bytes);
        if (line_.size() > longest_line) forward(std::exchange(line_, {}), false);
        return;
    }
    line_.append(bytes.substr(0, last_end + 1));
    forward(line_, false);
    line_.assign(bytes.substr(last_end + 1));
}

std::uint64_t InputStream::add(std::string_view data, bool eof) {
    if (!fd_) return data.size();  // it reads no more
    waiting_.append(data);
    if (eof && terminal_ && !eof_) waiting_.push_back(end_of_input);
    eof_ = eof_ || eof;
    return pump();
}

std::uint64_t InputStream::pump() {
    const auto before = at_;
    while (fd_ && at_ < waiting_.size()) {
        const auto count = write(fd_.get(), waiting_.data() + at_, waiting_.size() - at_);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return at_ - before;
        if (count < 0) {
            const auto dropped = waiting_.size() - before;
            close();
            return dropped;
        }
        at_ += static_cast<std::size_t>(count);
    }
    const auto moved = at_ - before;
    waiting_.clear();
    at_ = 0;
    if (eof_ && !terminal_) close();
    eof_ = eof_ && !terminal_;
    return moved;
}

void InputStream::close() {
    fd_.reset();
    waiting_.clear();
    at_ = 0;
}

}  // namespace spur::step
