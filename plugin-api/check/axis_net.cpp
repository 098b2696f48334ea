// The laws of spur.net/1, tried in a network namespace of the case's own.
#include "case.hpp"
#include "instance.hpp"

#include <spur/plugin/draft/net.h>

#include <sched.h>
#include <unistd.h>

#include <fstream>

namespace spur::check {
namespace {

using plugin::str;
using plugin::StringSink;

const spur_net_ops& ops_of(Instance& instance) { return instance.ops<spur_net_ops>(SPUR_NET_IFACE); }

// A net plugin may make interfaces and routes: not in the network of whoever runs the checker.
void leave_real_network() {
    const auto uid = getuid(), gid = getgid();
    if (unshare(CLONE_NEWNET) == 0) return;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) skip("a network namespace to try it in cannot be made here");
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
}

spur_net_member member(std::string_view name, std::string_view endpoint, std::uint64_t number,
                       std::string_view token = "") {
    return {sizeof(spur_net_member), 0, str(name), str(endpoint), str(token), number};
}

std::string join(Instance& instance, const spur_net_member& me) {
    StringSink token;
    ErrorBox err;
    doing("in join()");
    expect_ok("join()", ops_of(instance).join(instance.self(), &me, token.get(), err.get()), err);
    return token.text;
}
std::string address(Instance& instance, const spur_net_member* of) {
    StringSink text;
    ErrorBox err;
    doing("in address()");
    expect_ok("address()", ops_of(instance).address(instance.self(), of, text.get(), err.get()), err);
    require(!text.text.empty(), "address() answered SPUR_OK and wrote nothing");
    return text.text;
}
void leave(Instance& instance) {
    ErrorBox err;
    doing("in leave()");
    expect_ok("leave()", ops_of(instance).leave(instance.self(), err.get()), err);
}
void set_peers(Instance& instance, const std::vector<spur_net_member>& peers, Shape shape = {}) {
    Memory memory(shape);
    ErrorBox err;
    doing("in peers()");
    expect_ok("peers()", ops_of(instance).peers(instance.self(), memory.span(peers), err.get()), err);
}

void exercise(const Subject&, Instance& instance, const Shape& shape) {
    leave_real_network();
    Memory memory(shape);
    const auto* me = memory.one(member("check1", "127.0.0.1", 1));
    join(instance, *me);
    address(instance, nullptr);
    leave(instance);
}

std::string joins(const Subject& subject) {
    leave_real_network();
    Bench bench(subject);
    const auto me = member("check1", "127.0.0.1", 1);
    const auto token = join(bench.instance(), me);
    const auto mine = address(bench.instance(), nullptr);
    require(join(bench.instance(), me) == token, "joining twice gives another token");
    require(address(bench.instance(), nullptr) == mine, "joining twice changes one's own address");
    leave(bench.instance());
    join(bench.instance(), me);
    leave(bench.instance());
    bench.finish();
    return "";
}

std::string addresses(const Subject& subject) {
    leave_real_network();
    Bench bench(subject), elsewhere(subject);
    const auto me = member("check1", "127.0.0.1", 1);
    const auto token = join(bench.instance(), me);
    std::vector<spur_net_member> peers = {member("check2", "192.0.2.2", 2, token),
                                          member("check3", "192.0.2.3", 3, token)};
    set_peers(bench.instance(), peers);
    const auto second = address(bench.instance(), &peers[0]), third = address(bench.instance(), &peers[1]);
    require(second != third, "two members have the same address {}", second);
    set_peers(bench.instance(), peers);
    require(address(bench.instance(), &peers[0]) == second, "a member that stayed has another address");
    set_peers(bench.instance(), {peers[0]});
    require(address(bench.instance(), &peers[0]) == second,
            "a member that stayed has another address after another left");
    set_peers(bench.instance(), {});
    leave(bench.instance());
    bench.finish();
    return "";
}

constexpr RequiredOp required[] = {{"join", offsetof(spur_net_ops, join)},
                                   {"leave", offsetof(spur_net_ops, leave)},
                                   {"peers", offsetof(spur_net_ops, peers)},
                                   {"address", offsetof(spur_net_ops, address)}};
constexpr Case laws[] = {
    {"join", "joining twice changes nothing, leave() undoes join()", &joins},
    {"addresses", "an address is stable while a member stays, and each member has its own", &addresses},
};

}  // namespace

extern const Axis net_axis;
const Axis net_axis{"net", "spurctld", SPUR_NET_IFACE, first_size<spur_net_ops>, required, laws, &exercise};

}  // namespace spur::check
