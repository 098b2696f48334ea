// state_hammer DIRECTORY FIRST [--tiny-disk]: proposes "entry N" from FIRST on, without end, and prints each N once it
// is acknowledged. A test kills it. With --tiny-disk the directory is first covered by a small file system and the
// entries are large; the program prints what the plugin says when the disk is full, makes room, and prints "again" when
// an entry is acknowledged after that.
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "tests/support/test_host.hpp"

#include <spur/plugin/state.h>

namespace {

constexpr std::uint64_t most_in_flight = 64;

struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t outcomes = 0;
    std::uint64_t lost = 0;  // outcomes other than SPUR_OK
    std::string failure;
};

void print_line(const std::string& line) {
    const auto text = line + "\n";
    if (write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(0);
}

spur_state_listener listener_for(State& state) {
    spur_state_listener listener{};
    listener.size = sizeof listener;
    listener.context = &state;
    listener.committed = [](const spur_state_listener*, const spur_state_entry*, std::uint32_t) {};
    listener.outcome = [](const spur_state_listener* self, std::uint64_t ticket, spur_status status,
                          const spur_error*) {
        if (status == SPUR_OK) print_line(std::to_string(ticket));
        auto& mine = *static_cast<State*>(self->context);
        const std::lock_guard lock(mine.mutex);
        ++mine.outcomes;
        if (status != SPUR_OK) ++mine.lost;
        mine.changed.notify_all();
    };
    listener.restore = [](const spur_state_listener*, std::uint64_t, const spur_source*, spur_error*) {
        return SPUR_OK;
    };
    listener.role = [](const spur_state_listener*, std::uint32_t, std::uint64_t, spur_str) {};
    listener.snapshot_wanted = [](const spur_state_listener*) {};
    listener.failed = [](const spur_state_listener* self, const spur_error* err) {
        auto& mine = *static_cast<State*>(self->context);
        const std::lock_guard lock(mine.mutex);
        mine.failure = err->text;
        mine.changed.notify_all();
    };
    return listener;
}

// A file system of our own, seen by nobody else: as root at once, otherwise in a user namespace where that is allowed.
bool cover_with_tiny_disk(const char* directory) {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    return mount("tiny", directory, "tmpfs", 0, "size=80m") == 0;
}
bool make_room(const char* directory) { return mount("tiny", directory, "tmpfs", MS_REMOUNT, "size=200m") == 0; }

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const bool tiny = argc > 3 && std::strcmp(argv[3], "--tiny-disk") == 0;
    if (tiny && !cover_with_tiny_disk(argv[1])) return 77;
    spur::test::TestHost host;
    host.set_fact("state_dir", argv[1]);
    auto instance = spur::test::TestPlugin::load(spur::test::spur_plugin_path("state_raft")).create(host);
    if (!instance) return 1;
    const auto* ops = instance.query<spur_state_ops>(SPUR_STATE_IFACE);
    State state;
    const auto listener = listener_for(state);
    spur_error error{sizeof error, SPUR_OK, ""};
    if (ops->open(instance.get(), &listener, spur::test::never_stopped(), &error) != SPUR_OK) {
        std::fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    std::uint64_t proposed = 0;
    bool refused = false;
    for (std::uint64_t i = std::strtoull(argv[2], nullptr, 10);; ++i) {
        auto body = "entry " + std::to_string(i);
        if (tiny) body.resize(100'000, 'x');
        const spur_state_entry entry{{body.data(), body.size()}, 0, 0};
        const auto status = ops->propose(instance.get(), &entry, 1, i, &error);
        std::unique_lock lock(state.mutex);
        if (status == SPUR_OK) ++proposed;
        state.changed.wait(lock, [&] { return !state.failure.empty() || proposed - state.outcomes < most_in_flight; });
        if (!state.failure.empty()) {
            state.changed.wait(lock, [&] { return state.outcomes == proposed; });
            print_line("failed: " + state.failure);
            return 0;
        }
        if (status == SPUR_OK && !refused) continue;
        state.changed.wait(lock, [&] { return state.outcomes == proposed || !state.failure.empty(); });
        if (status == SPUR_OK) {
            print_line("again");
            return 0;
        }
        if (!refused) {
            refused = true;
            print_line("refused: " + std::string(error.text));
            if (!make_room(argv[1])) return 1;
        }
        lock.unlock();
        usleep(20'000);  // until it has looked again
    }
}
