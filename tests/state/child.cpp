// Starting and ending programs.
#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

extern char** environ;

namespace spur::test {

Child::Child(const std::vector<std::string>& command) {
    int out[2];
    int in[2];  // a socket, so that writing to a dead child is an error and no signal
    if (pipe2(out, O_CLOEXEC) != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0)
        throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const int error = posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(in[1]);
    output_ = out[0];
    input_ = in[0];
    if (error != 0) throw std::runtime_error("cannot start " + command[0]);
}

Child::~Child() {
    kill();
    close(output_);
    close(input_);
}

std::optional<std::string> Child::read_line(std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;;) {
        if (const auto end = buffer_.find('\n'); end != std::string::npos) {
            auto line = buffer_.substr(0, end);
            buffer_.erase(0, end + 1);
            return line;
        }
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        pollfd ready{output_, POLLIN, 0};
        if (left.count() < 0 || poll(&ready, 1, static_cast<int>(left.count())) != 1) return std::nullopt;
        char chunk[4096];
        const auto length = read(output_, chunk, sizeof chunk);
        if (length <= 0) return std::nullopt;
        buffer_.append(chunk, static_cast<std::size_t>(length));
    }
}

void Child::write_line(const std::string& line) {
    const auto text = line + "\n";
    if (send(input_, text.data(), text.size(), MSG_NOSIGNAL) < 0) return;  // it is dead; its silence will tell
}

void Child::signal(int number) {
    if (pid_ > 0) ::kill(pid_, number);
}

void Child::kill() {
    if (pid_ < 0) return;
    signal(SIGKILL);
    wait();
}

int Child::wait() {
    int status = -1;
    if (pid_ > 0) waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace spur::test
