// Finding forgotten step daemons and cgroup scopes, and killing them.
#include "daemons/spurd/leftovers.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>

#include "daemons/common/log/log.hpp"
#include "daemons/spurstepd/deadline_stop.hpp"
#include "daemons/spurstepd/process_tree.hpp"
#include "daemons/spurstepd/spec.hpp"

namespace spur::agent {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto patience = 5s;  // for killed processes to go
constexpr std::string_view deleted = " (deleted)";

std::string name_of(const spur_cgroup_scope& scope) {
    return fmt::format("{}.{} (attempt {})", scope.job, step::step_name(scope.step), scope.attempt);
}

// "job00012.1"
std::optional<std::pair<std::uint32_t, std::uint32_t>> find_job(std::string_view text) {
    std::uint32_t job{}, attempt{};
    if (!text.starts_with("job")) return std::nullopt;
    const auto* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data() + 3, end, job);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, attempt);
    if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
    return std::pair{job, attempt};
}

struct StepDaemon {
    pid_t pid{};
    std::string directory;  // its working directory, below that of the jobs
    bool is_deleted{false};
};

std::optional<StepDaemon> find_step_daemon(const fs::path& process, const std::string& jobs_dir) {
    const auto name = process.filename().string();
    StepDaemon found;
    if (std::from_chars(name.data(), name.data() + name.size(), found.pid).ptr != name.data() + name.size())
        return std::nullopt;
    struct stat info {};
    if (stat(process.c_str(), &info) != 0 || info.st_uid != geteuid()) return std::nullopt;
    std::error_code error;
    auto program = fs::read_symlink(process / "exe", error).filename().string();
    if (program.ends_with(deleted)) program.resize(program.size() - deleted.size());  // Spur was upgraded meanwhile
    if (error || program != "spurstepd") return std::nullopt;
    auto place = fs::read_symlink(process / "cwd", error).string();
    if (error || !place.starts_with(jobs_dir + "/")) return std::nullopt;
    found.is_deleted = place.ends_with(deleted);
    if (found.is_deleted) place.resize(place.size() - deleted.size());
    found.directory = place.substr(jobs_dir.size() + 1);
    return found;
}

bool lives(pid_t pid) { return kill(pid, 0) == 0; }

// The daemon last: while it lives, whatever its tasks started stays below it.
bool kill_tree(pid_t daemon) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    const auto in_time = [&] { return std::chrono::steady_clock::now() < deadline; };
    while (step::signal_descendants(daemon, SIGKILL) > 0 && in_time()) std::this_thread::sleep_for(2ms);
    kill(daemon, SIGKILL);
    while (lives(daemon) && in_time()) std::this_thread::sleep_for(2ms);
    return !lives(daemon);
}

void add(std::string& list, const std::string& word) { list.append(list.empty() ? "" : ", ").append(word); }

}  // namespace

Cleared clear_scopes(const host::Bound<host::CgroupAxis>& cgroup, const Known& known) {
    Cleared cleared;
    std::vector<spur_cgroup_scope> scopes;
    const auto keep = [](void* context, const spur_cgroup_scope* scope) {
        spur_cgroup_scope copy{};
        std::memcpy(&copy, scope, std::min<std::size_t>(scope->size, sizeof copy));
        copy.size = sizeof copy;
        static_cast<std::vector<spur_cgroup_scope>*>(context)->push_back(copy);
    };
    const auto pin = cgroup.pin();
    if (!pin || !pin.can(&spur_cgroup_ops::scopes)) return cleared;
    if (const auto listed = pin.call(&spur_cgroup_ops::scopes, static_cast<void*>(&scopes), keep); !listed) {
        log::warning("{}", listed.error().text);
        return cleared;
    }
    for (const auto& scope : scopes) {
        if (scope.step == SPUR_NONE) {  // the job's own: it goes once the last of its steps has
            static_cast<void>(pin.call(&spur_cgroup_ops::remove, &scope));
            continue;
        }
        if (known.step(scope.job, scope.attempt, scope.step)) continue;
        spur_cgroup_usage usage{};
        usage.size = sizeof usage;
        const bool counted = pin.call(&spur_cgroup_ops::usage, &scope, &usage).has_value();
        if (counted && usage.processes > 0)
            log::warning("killing {} processes of step {} that an earlier spurd left here", usage.processes,
                         name_of(scope));
        cleared.forgotten = cleared.forgotten || !known.job(scope.job, scope.attempt);
        const auto stop = step::stop_after(kill_patience);
        const auto killed = pin.call(&spur_cgroup_ops::signal, &scope, SIGKILL, &stop);
        if (!killed || !pin.call(&spur_cgroup_ops::remove, &scope)) add(cleared.unkillable, name_of(scope));
    }
    return cleared;
}

Cleared clear_step_daemons(const std::string& jobs_dir, const Known& known) {
    Cleared cleared;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator{"/proc", error}) {
        const auto found = find_step_daemon(entry.path(), jobs_dir);
        if (!found) continue;
        const auto job = find_job(found->directory);
        if (!found->is_deleted && job && known.job(job->first, job->second)) continue;
        log::warning("killing spurstepd {} and all below it: its directory {} is {}", found->pid, found->directory,
                     found->is_deleted ? "gone" : "not a job's that is known here");
        cleared.forgotten = true;
        if (!kill_tree(found->pid)) add(cleared.unkillable, fmt::format("spurstepd {}", found->pid));
    }
    return cleared;
}

}  // namespace spur::agent
