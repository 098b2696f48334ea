#include "daemons/spurd/strays.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "daemons/spurstepd/spec.hpp"

namespace spur::agent {

namespace {

// `environ` is KEY=VALUE\0KEY=VALUE\0...
bool has(const std::string& environ, const std::string& variable) {
    const auto whole = variable + '\0';
    for (auto at = environ.find(whole); at != std::string::npos; at = environ.find(whole, at + 1))
        if (at == 0 || environ[at - 1] == '\0') return true;
    return false;
}

}  // namespace

std::size_t kill_by_environment(std::uint32_t job, std::uint32_t step, const std::string& node) {
    std::size_t killed = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{"/proc", error}) {
        const auto name = entry.path().filename().string();
        pid_t pid{};
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
        std::ifstream file{entry.path() / "environ", std::ios::binary};
        const std::string environ{std::istreambuf_iterator<char>{file}, {}};
        if (environ.empty() || pid == getpid()) continue;
        if (!has(environ, fmt::format("SLURM_JOB_ID={}", job)) || !has(environ, "SLURMD_NODENAME=" + node)) continue;
        const bool of_a_step = environ.find("SLURM_STEP_ID=") != std::string::npos;
        const bool wanted = step == step::batch_step ? !of_a_step : has(environ, fmt::format("SLURM_STEP_ID={}", step));
        if (wanted && kill(pid, SIGKILL) == 0) ++killed;
    }
    return killed;
}

}  // namespace spur::agent
