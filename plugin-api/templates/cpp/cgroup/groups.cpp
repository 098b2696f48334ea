// Files of the cgroup2 file system.
#include "groups.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace {

[[noreturn]] void fail_io(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

char* append(char* at, const char* text) noexcept {
    while (*text != '\0') *at++ = *text++;
    return at;
}
char* append(char* at, std::uint32_t number) noexcept {
    char digits[10];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0) *at++ = digits[--count];
    return at;
}

int write_file(const char* path, const char* text) noexcept {
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    const auto written = write(file, text, std::strlen(text));
    const int error = written < 0 ? errno : 0;
    close(file);
    return error;
}

void write_or_throw(const char* path, const char* text) {
    if (const int error = write_file(path, text); error != 0)
        throw std::system_error(error, std::generic_category(), path);
}

}  // namespace

Groups::Groups(std::string root) : root_(std::move(root)) {
    if (root_.size() > 300) throw std::system_error(ENAMETOOLONG, std::generic_category(), "root");
    const bool made = mkdir(root_.c_str(), 0755) == 0;
    if (!made && errno != EEXIST) fail_io(("cannot make the control group " + root_).c_str());
    if (access((root_ + "/cgroup.procs").c_str(), W_OK) == 0) return;
    if (made) rmdir(root_.c_str());
    throw std::system_error(EINVAL, std::generic_category(), root_ + " is not a writable control group of version 2");
}

Groups::Path Groups::path_of(const spur_cgroup_scope& scope, const char* file) const noexcept {
    Path path;
    char* at = append(path.text, root_.c_str());
    if (scope.job != SPUR_NONE)  // otherwise it is the node's own
        at = append(append(append(append(at, "/job_"), scope.job), "."), scope.attempt);
    if (scope.step != SPUR_NONE) at = append(append(at, "/step_"), scope.step);
    if (scope.task != SPUR_NONE) at = append(append(at, "/task_"), scope.task);
    if (file != nullptr) at = append(append(at, "/"), file);
    *at = '\0';
    return path;
}

void Groups::make(const spur_cgroup_scope& scope) const {
    const auto path = path_of(scope);
    std::error_code error;
    // Not there: the end of another step took the job's empty group away meanwhile. Once more, then.
    for (int tries = 0; tries < 100; ++tries)
        if (std::filesystem::create_directories(path.text, error); error != std::errc::no_such_file_or_directory) break;
    if (error) throw std::filesystem::filesystem_error("cannot make a control group", path.text, error);
}

int Groups::attach(const spur_cgroup_scope& scope, std::int32_t pid) const noexcept {
    char number[12];
    *append(number, static_cast<std::uint32_t>(pid)) = '\0';
    return write_file(path_of(scope, "cgroup.procs").text, number);
}

int Groups::open_for_clone(const spur_cgroup_scope& scope) const {
    const int fd = open(path_of(scope).text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) fail_io(path_of(scope).text);
    return fd;
}

void Groups::freeze(const spur_cgroup_scope& scope, bool frozen, const spur::plugin::Stop& stop) const {
    write_or_throw(path_of(scope, "cgroup.freeze").text, frozen ? "1" : "0");
    const std::string wanted = frozen ? "frozen 1" : "frozen 0";
    for (int tries = 0; tries < 5000; ++tries) {  // the kernel takes a moment
        std::ifstream events(path_of(scope, "cgroup.events").text);
        for (std::string line; std::getline(events, line);)
            if (line == wanted) return;
        stop.sleep(1);
    }
    throw std::system_error(ETIMEDOUT, std::generic_category(), "the kernel did not confirm a freeze");
}

// After SIGKILL all are gone: some may have been born while the others were killed.
void Groups::signal(const spur_cgroup_scope& scope, int number, const spur::plugin::Stop& stop) const {
    for (int tries = 0; tries < 5000; ++tries) {
        const auto living = processes(scope);
        for (const auto pid : living) kill(pid, number);
        if (number != SIGKILL || living.empty()) return;
        stop.sleep(1);
    }
    throw std::system_error(EBUSY, std::generic_category(), "processes that do not die");
}

std::vector<std::int32_t> Groups::processes(const spur_cgroup_scope& scope) const {
    std::vector<std::int32_t> found;
    const auto read = [&](const std::filesystem::path& directory) {
        std::ifstream in(directory / "cgroup.procs");
        for (std::int32_t pid; in >> pid;) found.push_back(pid);
    };
    const std::filesystem::path top = path_of(scope).text;
    if (!std::filesystem::exists(top)) return found;
    read(top);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top))
        if (entry.is_directory()) read(entry.path());
    return found;
}

bool Groups::remove(const spur_cgroup_scope& scope) const {
    const std::filesystem::path top = path_of(scope).text;
    if (!std::filesystem::exists(top)) return true;
    std::vector<std::filesystem::path> below{top};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top))
        if (entry.is_directory()) below.push_back(entry.path());
    for (auto next = below.rbegin(); next != below.rend(); ++next)
        if (rmdir(next->c_str()) != 0 && errno != ENOENT) {
            if (errno == EBUSY) return false;
            fail_io(next->c_str());
        }
    if (scope.step != SPUR_NONE) rmdir(top.parent_path().c_str());  // the job's, if this was the last of its steps
    return true;
}
