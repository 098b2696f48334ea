// What the administrator and the daemon told us, checked and with every default filled in.
#pragma once

#include <spur/plugin/module.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "address.hpp"
#include "fault.hpp"

namespace spur::raftlog {

struct Settings {
    std::string cluster_name;
    std::string data_dir;
    std::string key_file;
    std::vector<Address> hosts;  // every configured controller, this one among them; one in the embedded default
    Address self;
    bool listens = false;  // with one host nobody needs to reach us, and no port is opened
    std::string listen_host;
    std::uint16_t listen_port = 0;
    unsigned election_timeout_ms = 600;
    unsigned heartbeat_ms = 60;
    std::uint64_t snapshot_threshold = 20000;  // entries
    std::uint64_t snapshot_trailing = 1024;    // log records kept behind a snapshot for followers that lag
};

// The options declared to the host; load_settings() reads them back.
extern const std::array<spur_option, 9> options;

Outcome<Settings> load_settings(const spur_host* host, const spur_config* config);

// This machine as far as finding oneself among the hosts goes.
struct Machine {
    std::vector<std::string> names;                            // lower case: "ctrl1", "ctrl1.example.org"
    std::function<bool(const std::string& host)> has_address;  // does this host name or address lead to us?
    static Machine local();
};

// Which of `hosts` is this controller, listening for clients on `listen`?
Outcome<Address> find_self(const std::vector<Address>& hosts, const Address& listen, const Machine& machine);

}  // namespace spur::raftlog
