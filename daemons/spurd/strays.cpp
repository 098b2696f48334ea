// Finding marked processes in /proc and killing them.
#include "daemons/spurd/strays.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "daemons/spurstepd/descriptor.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::agent {

namespace {

constexpr std::size_t cookie_length = 32;

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// `environ` is KEY=VALUE\0KEY=VALUE\0...
bool has(const std::string& environ, const std::string& variable) {
    const auto whole = variable + '\0';
    for (auto at = environ.find(whole); at != std::string::npos; at = environ.find(whole, at + 1))
        if (at == 0 || environ[at - 1] == '\0') return true;
    return false;
}

// The descriptor is of the process that the number meant before its environment was read: should that have died since,
// and another have got its number, nothing is sent.
bool kill_if_marked(pid_t pid, const std::string& mark) {
    const step::Descriptor process{static_cast<int>(syscall(SYS_pidfd_open, pid, 0))};
    const bool has_descriptors = process || errno == ENOSYS;  // before Linux 5.3
    if (!has_descriptors || !has(read_file(fmt::format("/proc/{}/environ", pid)), mark)) return false;
    if (!process) return kill(pid, SIGKILL) == 0;
    return syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) == 0;
}

}  // namespace

Result<std::string> load_cookie(const std::string& state_dir) {
    const auto path = state_dir + "/cookie";
    const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (auto kept = read_file(path); kept.size() == cookie_length && std::ranges::all_of(kept, is_hex)) return kept;
    std::array<unsigned char, cookie_length / 2> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        return fail(ErrorCode::unavailable, "getrandom: {}", std::strerror(errno));
    std::string cookie;
    for (const auto byte : bytes) cookie += fmt::format("{:02x}", byte);
    const step::Descriptor file{open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
    if (!file || write(file.get(), cookie.data(), cookie.size()) != static_cast<ssize_t>(cookie.size()))
        return fail(ErrorCode::unavailable, "{}: {}", path, std::strerror(errno));
    return cookie;
}

std::string step_mark(const std::string& cookie, std::uint32_t job, std::uint32_t attempt, std::uint32_t step) {
    return fmt::format("SPUR_STEP_MARK={}.{}.{}.{}", cookie, job, attempt, step::step_name(step));
}

std::size_t kill_marked(const std::string& mark) {
    std::size_t killed = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc", error}) {
        const auto name = entry.path().filename().string();
        pid_t pid{};
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
        if (pid != getpid() && kill_if_marked(pid, mark)) ++killed;
    }
    return killed;
}

}  // namespace spur::agent
