// Forking the child, reading the snapshot from its pipe, and collecting the child.
#include "daemons/spurctld/engine/snapshot_child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace spur::ctld {

namespace {

constexpr std::size_t chunk_size = 1U << 20;
constexpr int patience_ms = 60'000;  // without a single byte

// Only what a process with one thread and glibc's malloc may do after fork(): no locks of the daemon, no logging.
[[noreturn]] void serve(const Cluster& cluster, int out) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The daemon's sockets and locks are not ours: one that is killed and started again must find its port free.
    if (out > 3) close_range(3, static_cast<unsigned>(out) - 1, 0);
    close_range(static_cast<unsigned>(out) + 1, ~0U, 0);
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPIPE}) signal(number, SIG_DFL);
    setpriority(PRIO_PROCESS, 0, 5);  // the daemon and its jobs come first
    const auto saved = cluster.save([out](std::string_view piece) {
        while (!piece.empty()) {
            const auto written = write(out, piece.data(), piece.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) _exit(1);
            piece.remove_prefix(static_cast<std::size_t>(written));
        }
    });
    if (!saved) dprintf(STDERR_FILENO, "spurctld: error: %s\n", saved.error().text.c_str());
    _exit(saved ? 0 : 1);
}

}  // namespace

Result<SnapshotChild> SnapshotChild::start(const Cluster& cluster) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(ErrorCode::limit, "no pipe for the snapshot: {}", std::strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) serve(cluster, ends[1]);
    const int problem = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return fail(ErrorCode::limit, "no process for the snapshot: {}", std::strerror(problem));
    }
    return SnapshotChild{pid, ends[0]};
}

SnapshotChild::SnapshotChild(SnapshotChild&& other) noexcept
    : pid_{std::exchange(other.pid_, -1)}, pipe_{std::exchange(other.pipe_, -1)} {}

SnapshotChild::~SnapshotChild() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    reap();
    if (pipe_ >= 0) close(pipe_);
}

// True: it ended as it should.
bool SnapshotChild::reap() {
    if (pid_ <= 0) return false;
    int status = -1;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status == 0;
}

Result<std::vector<std::string>> SnapshotChild::collect() {
    std::vector<std::string> chunks;
    for (;;) {
        pollfd entry{pipe_, POLLIN, 0};
        const int ready = poll(&entry, 1, patience_ms);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0)
            return fail(ErrorCode::internal, "the process that writes the snapshot says nothing; it was ended");
        if (chunks.empty() || chunks.back().size() == chunk_size) chunks.emplace_back().reserve(chunk_size);
        auto& chunk = chunks.back();
        const auto filled = chunk.size();
        chunk.resize(chunk_size);
        const auto got = read(pipe_, chunk.data() + filled, chunk_size - filled);
        chunk.resize(filled + static_cast<std::size_t>(got > 0 ? got : 0));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(ErrorCode::internal, "reading the snapshot: {}", std::strerror(errno));
        if (got == 0) break;
    }
    if (!reap()) return fail(ErrorCode::internal, "the process that wrote the snapshot ended badly");
    return chunks;
}

}  // namespace spur::ctld
