// Running the login shell and reading its environment from a pipe.
#include "daemons/spurstepd/login_shell.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "daemons/spurstepd/program.hpp"

namespace spur::step {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 120s;
constexpr std::size_t most_bytes = 4U << 20;                      // twice what the kernel lets a program start with
constexpr std::string_view mark{"spur-environment-follows", 25};  // with the zero at its end

}  // namespace

Result<LoginShell> LoginShell::start(const LaunchSpec& spec, const Containment& containment) {
    Program shell;
    shell.login = true;
    shell.argv = {"-l", "-c", "printf 'spur-environment-follows\\0'; exec env -0"};
    int ends[2];
    const Descriptor null{open("/dev/null", O_RDWR | O_CLOEXEC)};
    if (!null || pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorCode::unavailable, "pipe: {}", std::strerror(errno));
    LoginShell login;
    login.output_ = Descriptor{ends[0]};
    const Descriptor theirs{ends[1]};
    fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
    shell.in = shell.err = null.get();
    shell.out = theirs.get();
    SPUR_CHECK(step::start(shell, spec, containment));
    login.deadline_ = Clock::now() + patience;
    return login;
}

void LoginShell::pump() {
    char buffer[16 * 1024];
    const auto count = read(output_.get(), buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) text_.append(buffer, static_cast<std::size_t>(count));
    if (count <= 0 || text_.size() > most_bytes) output_.reset();
}

bool LoginShell::is_over() const { return !output_ || Clock::now() >= deadline_; }

Result<std::vector<std::string>> LoginShell::environment() const {
    if (text_.size() > most_bytes)
        return fail(ErrorCode::limit, "the login shell printed more than {} MiB", most_bytes >> 20);
    const auto begin = text_.find(mark);
    if (begin == std::string::npos || output_)
        return fail(ErrorCode::unavailable, "the login shell did not get as far as printing its environment");
    std::vector<std::string> variables;
    for (auto at = begin + mark.size(); at < text_.size();) {
        const auto end = std::min(text_.find('\0', at), text_.size());
        variables.push_back(text_.substr(at, end - at));
        at = end + 1;
    }
    return variables;
}

}  // namespace spur::step
