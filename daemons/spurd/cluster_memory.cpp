// Loading and storing the agent's identity, its progress and the trusted keys.
#include "daemons/spurd/cluster_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "daemons/common/log/log.hpp"

namespace spur::agent {

ClusterMemory::ClusterMemory(const std::string& state_dir)
    : file_{state_dir + "/cluster"},
      seen_file_{::open((file_ + ".seen").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)} {
    std::ifstream file{file_, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    if (!kept_.ParseFromString(bytes)) {
        log::warning("{} cannot be read; this agent begins as a new one", file_);
        kept_.Clear();
    }
    if (kept_.agent_id().empty()) {
        std::random_device dice;
        kept_.set_agent_id(fmt::format("{:08x}{:08x}", dice(), dice()));
        store();
    } else {
        load_seen();
    }
}

void ClusterMemory::join(const v1::SeenHistory& now, const v1::StepKeys& keys) {
    if (now.history().empty()) return trust(keys);  // a state without a history yet
    const bool is_same = now.history() == kept_.seen().history();
    const auto job = is_same ? kept_.seen().job_id() : 0;
    *kept_.mutable_seen() = now;
    kept_.mutable_seen()->set_job_id(job);
    trust(keys);
}

void ClusterMemory::trust(const v1::StepKeys& keys) {
    *kept_.mutable_keys() = keys;
    store();
}

bool ClusterMemory::see(std::uint64_t version, std::uint32_t job) {
    auto& seen = *kept_.mutable_seen();
    if (version <= seen.version() && job <= seen.job_id()) return false;
    seen.set_version(std::max(version, seen.version()));
    seen.set_job_id(std::max(job, seen.job_id()));
    return true;
}

// Its length and the message, in one write: a process that is killed leaves the old or the new one.
void ClusterMemory::store_seen() const {
    const auto bytes = kept_.seen().SerializeAsString();
    const auto length = static_cast<std::uint32_t>(bytes.size());
    std::string record(sizeof length, '\0');
    std::memcpy(record.data(), &length, sizeof length);
    record += bytes;
    if (::pwrite(seen_file_.get(), record.data(), record.size(), 0) != static_cast<ssize_t>(record.size()))
        log::warning("cannot write {}.seen: {}", file_, std::strerror(errno));
}

void ClusterMemory::load_seen() {
    std::string record(4096, '\0');
    const auto got = ::pread(seen_file_.get(), record.data(), record.size(), 0);
    std::uint32_t length{};
    if (got < static_cast<ssize_t>(sizeof length)) return;
    std::memcpy(&length, record.data(), sizeof length);
    v1::SeenHistory seen;
    if (length > static_cast<std::size_t>(got) - sizeof length ||
        !seen.ParseFromString(record.substr(sizeof length, length)))
        return;
    auto& mine = *kept_.mutable_seen();
    if (seen.history() != mine.history() || seen.era() != mine.era() || seen.mark() != mine.mark()) return;
    mine.set_version(std::max(mine.version(), seen.version()));
    mine.set_job_id(std::max(mine.job_id(), seen.job_id()));
}

// If this process dies, the old file is there or the new one. Not synced, like everything that spurd keeps.
void ClusterMemory::store() const {
    const auto beside = file_ + ".new";
    const auto bytes = kept_.SerializeAsString();
    const int fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool written = fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    const int error = errno;
    if (fd >= 0) ::close(fd);
    if (!written || std::rename(beside.c_str(), file_.c_str()) != 0)
        log::warning("cannot write {}: {}", file_, std::strerror(written ? errno : error));
}

}  // namespace spur::agent
