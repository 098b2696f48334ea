// state_member DIRECTORY LISTEN HOSTS KEY: one controller's log as a process, to be killed and stopped by a test.
//
// It prints "leader" and "follower" as its role changes. Each line it reads is an entry to propose, answered by "ok
// ENTRY" once it is acknowledged and "no ENTRY" when it was refused or its fate is unknown; "?" is answered by every
// entry it has, "= ENTRY", and "." at the end.
#include <spur/plugin/state.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/test_host.hpp"

namespace {

struct State {
    std::mutex mutex;
    std::vector<std::string> entries;
    std::map<std::uint64_t, std::string> proposed;
};

void say(const std::string& line) {
    const auto text = line + "\n";
    if (write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(0);
}

State& state_of(const spur_state_listener* listener) { return *static_cast<State*>(listener->context); }

spur_status restore(const spur_state_listener* self, std::uint64_t, const spur_source* source, spur_error*) {
    std::string text;
    std::vector<char> buffer(65536);
    for (;;) {
        std::uint64_t length = 0;
        if (const auto status = source->read(source, buffer.data(), buffer.size(), &length); status != SPUR_OK)
            return status;
        if (length == 0) break;
        text.append(buffer.data(), length);
    }
    const std::lock_guard lock(state_of(self).mutex);
    state_of(self).entries.clear();
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text.find('\n', at);
        state_of(self).entries.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return SPUR_OK;
}

spur_state_listener listener_for(State& state) {
    spur_state_listener listener{};
    listener.size = sizeof listener;
    listener.context = &state;
    listener.committed = [](const spur_state_listener* self, const spur_state_entry* entries, std::uint32_t count) {
        const std::lock_guard lock(state_of(self).mutex);
        for (std::uint32_t i = 0; i < count; ++i)
            state_of(self).entries.emplace_back(static_cast<const char*>(entries[i].body.data), entries[i].body.length);
    };
    listener.outcome = [](const spur_state_listener* self, std::uint64_t ticket, spur_status status,
                          const spur_error*) {
        std::string entry;
        {
            const std::lock_guard lock(state_of(self).mutex);
            entry = state_of(self).proposed[ticket];
        }
        say((status == SPUR_OK ? "ok " : "no ") + entry);
    };
    listener.restore = restore;
    listener.role = [](const spur_state_listener*, std::uint32_t role, std::uint64_t, spur_str) {
        say(role == SPUR_STATE_LEADER ? "leader" : "follower");
    };
    listener.snapshot_wanted = [](const spur_state_listener*) {};
    listener.failed = [](const spur_state_listener*, const spur_error* err) {
        std::fprintf(stderr, "failed: %s\n", err->text);
        _exit(1);
    };
    return listener;
}

void show_entries(State& state) {
    const std::lock_guard lock(state.mutex);
    for (const auto& entry : state.entries) say("= " + entry);
    say(".");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 2;
    spur::test::TestHost host;
    host.set_fact("state_dir", argv[1]);
    host.set_fact("listen_addr", argv[2]);
    host.set_fact("controller.hosts", argv[3]);
    auto instance = spur::test::TestPlugin::load(spur::test::spur_plugin_path("state_raft"))
                        .create(host, {{"key_file", argv[4]}, {"election_timeout_ms", "500"}, {"heartbeat_ms", "60"}});
    if (!instance) return std::fprintf(stderr, "%s\n", instance.error().text.c_str()), 1;
    const auto* ops = instance.query<spur_state_ops>(SPUR_STATE_IFACE);
    State state;
    const auto listener = listener_for(state);
    spur_error error{sizeof error, SPUR_OK, ""};
    if (ops->open(instance.get(), &listener, spur::test::never_stopped(), &error) != SPUR_OK)
        return std::fprintf(stderr, "%s\n", error.text), 1;

    std::uint64_t ticket = 0;
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "?") {
            show_entries(state);
            continue;
        }
        {
            const std::lock_guard lock(state.mutex);
            state.proposed[++ticket] = line;
        }
        const spur_state_entry entry{{line.data(), line.size()}, 0, 0};
        if (ops->propose(instance.get(), &entry, 1, ticket, &error) != SPUR_OK) say("no " + line);
    }
}
