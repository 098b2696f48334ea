// Reading and writing the spool: directories, scripts, results.
#include "daemons/spurd/job_store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/model/array_spec.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::agent {

namespace {

namespace fs = std::filesystem;

constexpr const char* launch_name = "launch";
constexpr const char* epilog_name = "epilog_done";
constexpr const char* boot_name = "boot_id";
constexpr const char* id_name = "spool_id";  // and which directory it is the name of
constexpr std::size_t id_length = 32;

Result<void> write_file(const std::string& path, std::string_view bytes, mode_t mode) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
    if (fd < 0) return fail(ErrorCode::unavailable, "{}: {}", path, std::strerror(errno));
    while (!bytes.empty()) {
        const auto count = write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            const int error = errno;
            close(fd);
            return fail(ErrorCode::unavailable, "{}: {}", path, std::strerror(error));
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    close(fd);
    return {};
}

std::string read_file(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

Result<void> make_directory(const std::string& path, mode_t mode) {
    if (mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
    return fail(ErrorCode::unavailable, "cannot make {}: {}", path, std::strerror(errno));
}

// Tells a directory from another that has taken its place.
std::string birth_of(const std::string& directory) {
    struct statx info {};
    if (statx(AT_FDCWD, directory.c_str(), 0, STATX_INO | STATX_BTIME, &info) != 0) return {};
    return fmt::format(" {} {}.{:09}\n", info.stx_ino, info.stx_btime.tv_sec, info.stx_btime.tv_nsec);
}

// A step is known by its socket, its result, or both.
void add_step(StoredJob& job, const fs::path& file) {
    const auto extension = file.extension();
    const auto number = find_step_id(file.stem().string());
    if (!number || (extension != ".sock" && extension != ".result")) return;
    auto found = std::ranges::find(job.steps, *number, &StoredStep::step);
    if (found == job.steps.end()) found = job.steps.insert(job.steps.end(), StoredStep{*number, false, std::nullopt});
    if (extension == ".sock")
        found->has_socket = true;
    else
        found->result = step::decode_result(read_file(file));
}

}  // namespace

Result<JobStore> JobStore::open(const std::string& state_dir) {
    std::error_code error;
    fs::create_directories(state_dir, error);
    if (error)
        return fail(ErrorCode::unavailable, "cannot make the state directory {}: {}", state_dir, error.message());
    const auto jobs = fs::absolute(state_dir).string() + "/jobs";
    SPUR_CHECK(make_directory(jobs, 0755));
    JobStore store{jobs, fs::absolute(state_dir).string()};
    const auto known = read_file(store.state_dir_ + "/" + id_name);
    store.id_ = known.substr(0, id_length);
    if (known != store.id_ + birth_of(jobs) || store.id_.size() != id_length) SPUR_CHECK(store.renew_id());
    return store;
}

Result<void> JobStore::renew_id() {
    std::array<unsigned char, id_length / 2> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        return fail(ErrorCode::unavailable, "getrandom: {}", std::strerror(errno));
    id_.clear();
    for (const auto byte : bytes) id_ += fmt::format("{:02x}", byte);
    return write_file(state_dir_ + "/" + id_name, id_ + birth_of(jobs_dir_), 0600);
}

std::string JobStore::directory(std::uint32_t job, std::uint32_t attempt) const {
    return fmt::format("{}/job{:05}.{}", jobs_dir_, job, attempt);
}

Result<void> JobStore::add(const v1::JobLaunch& launch) const {
    const auto path = directory(launch.job_id(), launch.attempt());
    SPUR_CHECK(make_directory(path, 0750));
    if (geteuid() == 0 && launch.gid() != 0 && chown(path.c_str(), 0, launch.gid()) != 0)
        return fail(ErrorCode::unavailable, "{}: chown: {}", path, std::strerror(errno));
    return write_file(path + "/" + launch_name, launch.SerializeAsString(), 0600);
}

// It belongs to the user, because bash and others open it again while it runs.
Result<void> JobStore::add_script(const v1::JobLaunch& launch, const std::string& script) const {
    const auto path = directory(launch.job_id(), launch.attempt()) + "/" + std::string{step::script_name};
    SPUR_CHECK(write_file(path, script, 0700));
    if (geteuid() == 0 && launch.uid() != 0 && chown(path.c_str(), launch.uid(), launch.gid()) != 0)
        return fail(ErrorCode::unavailable, "{}: chown: {}", path, std::strerror(errno));
    return {};
}

void JobStore::note_epilog_done(const std::string& directory) const {
    if (const auto written = write_file(directory + "/" + epilog_name, "", 0600); !written)
        log::warning("{}; the epilog may run a second time after a restart", written.error().text);
}

void JobStore::remove_result(const std::string& directory, std::uint32_t step) const {
    unlink((directory + "/" + step::result_name(step)).c_str());
}

// The usual files first: listing the directory is rarely needed.
void JobStore::remove(const std::string& directory) const {
    for (const auto* name : {launch_name, "slurm_script", "batch.result"}) unlink((directory + "/" + name).c_str());
    if (rmdir(directory.c_str()) == 0) return;
    std::error_code ignored;
    fs::remove_all(directory, ignored);
}

std::vector<StoredJob> JobStore::load() {
    std::vector<StoredJob> jobs;
    std::error_code error;
    bool is_whole = true;
    for (const auto& entry : fs::directory_iterator{jobs_dir_, error}) {
        StoredJob job;
        job.directory = entry.path().string();
        if (!job.launch.ParseFromString(read_file(entry.path() / launch_name)) || job.launch.job_id() == 0) {
            log::warning("{} is not a job's directory; removing it", job.directory);
            remove(job.directory);
            is_whole = false;
            continue;
        }
        for (const auto& file : fs::directory_iterator{entry.path(), error}) add_step(job, file.path());
        job.epilog_done = fs::exists(entry.path() / epilog_name, error);
        jobs.push_back(std::move(job));
    }
    if (!is_whole)
        if (const auto renewed = renew_id(); !renewed) log::warning("{}", renewed.error().text);
    return jobs;
}

// By way of the directory's descriptor: a socket's address has room for 107 characters only.
std::optional<step::FrameSocket> JobStore::connect(const std::string& directory, std::uint32_t step) {
    const int place = ::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return std::nullopt;
    const auto path = fmt::format("/proc/self/fd/{}/{}", place, step::socket_name(step));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    step::FrameSocket socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    socket.watch_sender();  // before it can say anything
    const bool connected =
        socket.is_open() && ::connect(socket.fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    close(place);
    if (!connected) return std::nullopt;
    return socket;
}

std::optional<step::StepResult> JobStore::find_result(const std::string& directory, std::uint32_t step) const {
    return step::decode_result(read_file(directory + "/" + step::result_name(step)));
}

bool JobStore::is_new_boot(const std::string& boot_id) const {
    return read_file(state_dir_ + "/" + boot_name) != boot_id;
}

void JobStore::note_boot(const std::string& boot_id) const {
    if (const auto written = write_file(state_dir_ + "/" + boot_name, boot_id, 0644); !written)
        log::warning("{}", written.error().text);
}

}  // namespace spur::agent
