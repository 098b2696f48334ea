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

constexpr spur_stop never{sizeof(spur_stop), -1, INT64_MAX, nullptr,
                          [](const spur_stop*) -> std::uint32_t { return 0; }};

// A member with one endpoint, of names that live as long as it.
struct Member {
    Member(std::string_view name, std::string_view at, std::uint64_t number, std::string_view token = "")
        : endpoint(str(at)) {
        record = {.size = sizeof(spur_net_member),
                  .flags = 0,
                  .number = number,
                  .name = str(name),
                  .token = str(token),
                  .endpoints = plugin::span_of(&endpoint, 1),
                  .routes = {nullptr, 0, sizeof(spur_str)}};
    }
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    spur_str endpoint;
    spur_net_member record;
};

struct Ears {
    spur_net_listener table{
        .size = sizeof(spur_net_listener), .reserved = 0, .context = this, .token = &hear, .peer = [](auto...) {}};
    std::string token;
    unsigned heard = 0;
    Ears() = default;
    Ears(const Ears&) = delete;
    Ears& operator=(const Ears&) = delete;
    static void hear(const spur_net_listener* listener, spur_str token) {
        auto& ears = *static_cast<Ears*>(listener->context);
        ears.token = plugin::view(token);
        ++ears.heard;
    }
};

void join(Instance& instance, const spur_net_member& me, Ears& ears) {
    ErrorBox err;
    doing("in join()");
    expect_ok("join()", ops_of(instance).join(instance.self(), &me, str(""), &ears.table, &never, err.get()), err);
    require(ears.heard > 0, "join() told no token");
}
std::string address(Instance& instance, std::string_view of) {
    StringSink text;
    ErrorBox err;
    doing("in addresses()");
    expect_ok("addresses()", ops_of(instance).addresses(instance.self(), str(of), text.get(), err.get()), err);
    require(!text.text.empty(), "addresses() answered SPUR_OK and wrote nothing");
    return text.text;
}
void leave(Instance& instance) {
    ErrorBox err;
    doing("in leave()");
    expect_ok("leave()", ops_of(instance).leave(instance.self(), &never, err.get()), err);
}
void change(Instance& instance, std::uint64_t generation, bool complete, const std::vector<spur_net_member>& changed,
            const std::vector<spur_str>& gone = {}) {
    Memory memory;
    ErrorBox err;
    doing("in change()");
    expect_ok("change()",
              ops_of(instance).change(instance.self(), generation, complete ? 1 : 0, memory.span(changed),
                                      plugin::span_of(gone), &never, err.get()),
              err);
}
void require_unknown(Instance& instance, std::string_view name) {
    StringSink text;
    ErrorBox err;
    doing("in addresses()");
    require(ops_of(instance).addresses(instance.self(), str(name), text.get(), err.get()) == SPUR_E_NOT_FOUND,
            "addresses() of {}, who is not there, is not SPUR_E_NOT_FOUND", name);
}

void exercise(const Subject&, Instance& instance, const Shape& shape) {
    leave_real_network();
    Memory memory(shape);
    const Member me("check1", "127.0.0.1", 1);
    Ears ears;
    join(instance, *memory.one(me.record), ears);
    address(instance, "");
    leave(instance);
}

std::string joins(const Subject& subject) {
    leave_real_network();
    Bench bench(subject);
    const Member me("check1", "127.0.0.1", 1);
    Ears ears;
    join(bench.instance(), me.record, ears);
    const auto token = ears.token;
    const auto mine = address(bench.instance(), "");
    join(bench.instance(), me.record, ears);
    require(ears.token == token, "joining twice gives another token");
    require(address(bench.instance(), "") == mine, "joining twice changes one's own address");
    leave(bench.instance());
    join(bench.instance(), me.record, ears);
    leave(bench.instance());
    bench.finish();
    return "";
}

std::string adopts(const Subject& subject) {
    leave_real_network();
    const Member me("check1", "127.0.0.1", 1);
    Ears ears;
    std::string mine;
    {
        Bench first(subject);
        join(first.instance(), me.record, ears);
        mine = address(first.instance(), "");
        first.finish();  // destroyed without leave(): what is set up stays
    }
    Bench second(subject);
    ErrorBox err;
    doing("in adopt()");
    expect_ok("adopt()",
              ops_of(second.instance()).adopt(second.self(), &me.record, &ears.table, &never, err.get()), err);
    require(address(second.instance(), "") == mine, "after adopt() one's own address is another");
    leave(second.instance());
    second.finish();
    return "";
}

std::string addresses(const Subject& subject) {
    leave_real_network();
    Bench bench(subject);
    const Member me("check1", "127.0.0.1", 1);
    Ears ears;
    join(bench.instance(), me.record, ears);
    const Member two("check2", "192.0.2.2", 2, ears.token), three("check3", "[2001:db8::3]:6818", 3, ears.token);
    change(bench.instance(), 1, true, {two.record, three.record});
    const auto second = address(bench.instance(), "check2"), third = address(bench.instance(), "check3");
    require(second != third, "two members have the same address {}", second);
    change(bench.instance(), 2, false, {two.record});
    require(address(bench.instance(), "check2") == second, "a member that stayed has another address");
    require(address(bench.instance(), "check3") == third, "a change that did not name a member changed it");
    change(bench.instance(), 3, false, {}, {str("check3")});
    require_unknown(bench.instance(), "check3");
    require(address(bench.instance(), "check2") == second,
            "a member that stayed has another address after another left");
    change(bench.instance(), 2, false, {three.record});
    require_unknown(bench.instance(), "check3");  // a generation that was seen
    change(bench.instance(), 9, true, {});
    require_unknown(bench.instance(), "check2");
    leave(bench.instance());
    bench.finish();
    return "";
}

constexpr RequiredOp required[] = {{"join", offsetof(spur_net_ops, join)},
                                   {"adopt", offsetof(spur_net_ops, adopt)},
                                   {"leave", offsetof(spur_net_ops, leave)},
                                   {"change", offsetof(spur_net_ops, change)},
                                   {"addresses", offsetof(spur_net_ops, addresses)}};
constexpr Case laws[] = {
    {"join", "joining twice changes nothing, leave() undoes join()", &joins},
    {"adopt", "a later instance takes over what an earlier one set up", &adopts},
    {"addresses", "addresses are stable while a member stays, each member has its own, old changes are ignored",
     &addresses},
};

}  // namespace

extern const Axis net_axis;
const Axis net_axis{"net", "spurctld", SPUR_NET_IFACE, first_size<spur_net_ops>, required, laws, &exercise};

}  // namespace spur::check
