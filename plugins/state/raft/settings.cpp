// From options and the daemon's facts to Settings.
#include "settings.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>

namespace spur::raftlog {

const std::array<spur_option, 9> options{{
    {.key = "data_dir",
     .kind = SPUR_OPTION_PATH,
     .fallback = nullptr,
     .help = "Where the log and snapshots live; default <state_dir>/raft"},
    {.key = "key_file",
     .kind = SPUR_OPTION_PATH,
     .fallback = nullptr,
     .help = "The secret the controllers share, mode 0600; default <state_dir>/raft.key"},
    {.key = "peers",
     .kind = SPUR_OPTION_LIST,
     .fallback = nullptr,
     .help = "Every controller as host:port, or host:port/raft_port; default [controller] hosts"},
    {.key = "self",
     .kind = SPUR_OPTION_STRING,
     .fallback = nullptr,
     .help = "Which of the peers this controller is; default: found out"},
    {.key = "listen",
     .kind = SPUR_OPTION_STRING,
     .fallback = nullptr,
     .help = "Address and port for Raft; default: as for clients, a hundred ports above"},
    {.key = "snapshot_threshold",
     .kind = SPUR_OPTION_INT,
     .fallback = "20000",
     .help = "Entries after which a snapshot is asked for",
     .minimum = 10,
     .maximum = 1'000'000'000},
    {.key = "snapshot_trailing",
     .kind = SPUR_OPTION_INT,
     .fallback = "1024",
     .help = "Log records kept behind a snapshot, so that a follower that was away briefly needs none",
     .minimum = 1,
     .maximum = 1'000'000},
    {.key = "election_timeout_ms",
     .kind = SPUR_OPTION_INT,
     .fallback = "600",
     .help = "Silence of the leader after which a follower stands for election (randomised up to twice that)",
     .minimum = 50,
     .maximum = 60'000},
    {.key = "heartbeat_ms",
     .kind = SPUR_OPTION_INT,
     .fallback = "60",
     .help = "How often an idle leader shows that it is alive; at most a third of election_timeout_ms",
     .minimum = 10,
     .maximum = 20'000},
}};

namespace {

using plugin::host_fact;
using plugin::option;

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto comma = std::min(text.find(','), text.size());
        auto word = text.substr(0, comma);
        while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
        while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
        if (!word.empty()) words.emplace_back(word);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

Outcome<std::vector<Address>> parse_hosts(const std::vector<std::string>& words) {
    std::vector<Address> hosts;
    std::set<std::uint64_t> seen;
    for (const auto& word : words) {
        SPUR_TRY(auto address, Address::parse(word));
        if (!seen.insert(address.id()).second)
            return fault(SPUR_E_INVALID, "[controller] hosts names {} twice", address.client());
        hosts.push_back(std::move(address));
    }
    if (hosts.size() == 2 || hosts.size() == 4 || hosts.size() > 5)
        return fault(
            SPUR_E_INVALID,
            "[controller] hosts names {} controllers: it takes 1, 3 or 5, since an even number survives no more "
            "failures than one fewer",
            hosts.size());
    return hosts;
}

Outcome<std::vector<Address>> configured_hosts(const spur_host* host, const spur_config* config) {
    const auto& peers = option(config, "peers");
    if (peers.list_count > 0) return parse_hosts({peers.list, peers.list + peers.list_count});
    return parse_hosts(split(host_fact(host, "controller.hosts")));
}

Outcome<void> read_listen(const spur_config* config, const Address& client_listen, Settings& settings) {
    const std::string listen = option(config, "listen").text;
    settings.listens = settings.hosts.size() > 1 || !listen.empty();
    settings.listen_host = client_listen.host;
    settings.listen_port = settings.self.raft_port;
    if (listen.empty()) return {};
    SPUR_TRY(const auto address, Address::parse(listen));
    settings.listen_host = address.host;
    settings.listen_port = address.port;
    if (settings.listen_port != settings.self.raft_port && settings.hosts.size() > 1)
        return fault(
            SPUR_E_INVALID,
            "listen = \"{}\" is port {}, but peers expect this controller at Raft port {}: name it as {}/{} in "
            "`peers` on every controller",
            listen, settings.listen_port, settings.self.raft_port, settings.self.client(), settings.listen_port);
    settings.self.raft_port = settings.listen_port;
    return {};
}

Outcome<void> read_self(const spur_config* config, const Address& listen, Settings& settings) {
    const std::string wanted = option(config, "self").text;
    const auto machine = Machine::local();
    if (settings.hosts.empty()) {
        settings.self = listen;
        if (!wanted.empty()) {
            SPUR_TRY(settings.self, Address::parse(wanted));
        } else if (listen.is_wildcard()) {
            settings.self.host = machine.names.empty() ? "localhost" : machine.names.front();
        }
        settings.hosts = {settings.self};
        return {};
    }
    if (wanted.empty()) {
        SPUR_TRY(settings.self, find_self(settings.hosts, listen, machine));
        return {};
    }
    SPUR_TRY(const auto address, Address::parse(wanted));
    const auto found = std::ranges::find(settings.hosts, address.client(), &Address::client);
    if (found == settings.hosts.end())
        return fault(SPUR_E_INVALID, "self = \"{}\" is not among [controller] hosts: add it there or correct it",
                     wanted);
    settings.self = *found;
    return {};
}

Outcome<void> read_places(const spur_host* host, const spur_config* config, Settings& settings) {
    const auto state_dir = host_fact(host, "state_dir");
    settings.data_dir = option(config, "data_dir").text;
    settings.key_file = option(config, "key_file").text;
    if (settings.data_dir.empty() && state_dir.empty())
        return fault(SPUR_E_INVALID,
                     "there is no directory for the log: set [controller] state_dir, or data_dir of state/raft");
    if (settings.data_dir.empty()) settings.data_dir = state_dir + "/raft";
    if (settings.key_file.empty())
        settings.key_file = state_dir.empty() ? settings.data_dir + ".key" : state_dir + "/raft.key";
    return {};
}

}  // namespace

Outcome<Settings> load_settings(const spur_host* host, const spur_config* config) {
    Settings settings;
    settings.cluster_name = host_fact(host, "cluster_name", "spur");
    SPUR_CHECK(read_places(host, config, settings));
    SPUR_TRY(settings.hosts, configured_hosts(host, config));
    auto listen_addr = host_fact(host, "listen_addr");
    if (listen_addr.empty()) listen_addr = "127.0.0.1:6817";
    SPUR_TRY(const auto listen, Address::parse(listen_addr, Address::Use::listen));
    SPUR_CHECK(read_self(config, listen, settings));
    SPUR_CHECK(read_listen(config, listen, settings));

    settings.snapshot_threshold = static_cast<std::uint64_t>(option(config, "snapshot_threshold").integer);
    settings.snapshot_trailing = static_cast<std::uint64_t>(option(config, "snapshot_trailing").integer);
    settings.election_timeout_ms = static_cast<unsigned>(option(config, "election_timeout_ms").integer);
    settings.heartbeat_ms = static_cast<unsigned>(option(config, "heartbeat_ms").integer);
    if (settings.heartbeat_ms * 3 > settings.election_timeout_ms)
        return fault(
            SPUR_E_INVALID,
            "heartbeat_ms = {} leaves no room for a lost message within election_timeout_ms = {}: make it at most {}",
            settings.heartbeat_ms, settings.election_timeout_ms, settings.election_timeout_ms / 3);
    return settings;
}

namespace {

bool same_ip(const sockaddr* a, const sockaddr* b) {
    if (a == nullptr || b == nullptr || a->sa_family != b->sa_family) return false;
    if (a->sa_family == AF_INET)
        return reinterpret_cast<const sockaddr_in*>(a)->sin_addr.s_addr ==
               reinterpret_cast<const sockaddr_in*>(b)->sin_addr.s_addr;
    if (a->sa_family == AF_INET6)
        return std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                           &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, sizeof(in6_addr)) == 0;
    return false;
}

bool leads_here(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return false;
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return false;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> interfaces(list, freeifaddrs);
    for (const auto* address = addresses.get(); address != nullptr; address = address->ai_next)
        for (const auto* interface = interfaces.get(); interface != nullptr; interface = interface->ifa_next)
            if (same_ip(address->ai_addr, interface->ifa_addr)) return true;
    return false;
}

}  // namespace

Machine Machine::local() {
    Machine machine;
    char name[256] = {};
    if (gethostname(name, sizeof name - 1) == 0 && name[0] != '\0') {
        machine.names.push_back(lower(name));
        if (const auto dot = machine.names[0].find('.'); dot != std::string::npos)
            machine.names.push_back(machine.names[0].substr(0, dot));
    }
    machine.has_address = leads_here;
    return machine;
}

Outcome<Address> find_self(const std::vector<Address>& hosts, const Address& listen, const Machine& machine) {
    std::vector<Address> mine;
    for (const auto& host : hosts)
        if (host.host == listen.host && host.port == listen.port) return host;
    for (const auto& host : hosts)
        if (host.port == listen.port &&
            (std::ranges::count(machine.names, host.host) > 0 || machine.has_address(host.host)))
            mine.push_back(host);
    if (mine.size() == 1) return mine.front();
    const auto name = machine.names.empty() ? std::string("this machine") : machine.names.front();
    if (mine.empty())
        return fault(
            SPUR_E_INVALID,
            "none of [controller] hosts is this controller ({}, clients on port {}): add it there, or say which with "
            "self in [plugin.\"state/raft\"]",
            name, listen.port);
    return fault(
        SPUR_E_INVALID,
        "[controller] hosts {} and {} both lead to {}: say which one this is with self in [plugin.\"state/raft\"]",
        mine[0].client(), mine[1].client(), name);
}

}  // namespace spur::raftlog
