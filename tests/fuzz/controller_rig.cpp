#include "tests/fuzz/controller_rig.hpp"

#include <google/protobuf/stubs/logging.h>
#include <poll.h>

#include <future>

#include "core/store/codec.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/support/cluster_builder.hpp"
#include "tests/support/fake_directory.hpp"

namespace spur::wire {

// The server's place is taken by a table of its methods: no connection, no thread.
class RpcServer::Impl {};
namespace {
std::map<std::string, Service::Method> registered;
}

RpcServer::RpcServer(ServerOptions) : impl_{std::make_unique<Impl>()} { google::protobuf::SetLogHandler(nullptr); }
RpcServer::~RpcServer() = default;
void RpcServer::unary(std::string_view method, UnaryHandler handler, Access) {
    registered[std::string{method}] = {std::move(handler), nullptr};
}
void RpcServer::stream(std::string_view method, StreamHandler handler, Access) {
    registered[std::string{method}] = {nullptr, std::move(handler)};
}

}  // namespace spur::wire

namespace spur::fuzz {

namespace {

using namespace ctld;
using namespace planning;
using testing::ClusterBuilder;

constexpr std::uint32_t user_uid = 1000;
constexpr UnixSeconds present = ClusterBuilder::start + 100;

void add_accounts(ClusterBuilder& builder) {
    builder.must(
        EditAccount{Edit::create, {.name = "physics", .description = "p", .organization = "o", .coordinators = {}}});
    builder.must(EditAssociation{Edit::create, {.account = "physics", .limits = {}}, {}});
    builder.must(EditUser{Edit::create, {.name = "alice", .default_account = "physics"}});
    builder.must(EditAssociation{Edit::create, {.account = "physics", .user = "alice", .limits = {}}, {}});
    builder.must(EditQos{Edit::create, {.name = "high", .priority = 10, .limits = {}}});
}

// A little of everything that messages can be about.
std::string first_state() {
    using namespace testing;
    ClusterBuilder builder;
    builder.nodes("n[1-4]", topology(2, 4, 2), gpus(4, "a100"), feature("fast")).nodes("m1", cpus(4));
    builder.partition("main", "n[1-4]").partition("other", "m1,n4", [](Partition& other) { other.max_time_min = 60; });
    builder.license("matlab", 5);
    builder.cluster();
    add_accounts(builder);
    builder.running("one", on("n[1-2]"), cpus_each(4), until(4000)).running("two", on("n3"), until(5000));
    builder.pending("three", node_count(4)).pending("four", array("0-99%5")).pending("five", dependency("afterok:1"));
    builder.must(StartJob{{builder.place(builder.id("four"), "n4", 1)}});
    EditReservation reservation{.edit = Edit::create, .reservation = {}, .actor = Actor::root()};
    reservation.reservation.name = "maint";
    reservation.reservation.start_time = ClusterBuilder::start + 100'000;
    reservation.reservation.end_time = ClusterBuilder::start + 110'000;
    reservation.reservation.nodes = {builder.node("m1")};
    reservation.reservation.users = {"alice"};
    builder.must(reservation);
    return snapshot_of(builder.cluster());
}

ServiceHooks hooks(PriorityReport& priorities) {
    ServiceHooks hooks;
    hooks.reconfigure = [](const std::string&) { return v1::ReconfigureReply{}; };
    hooks.shut_down = [] {};
    hooks.stop_scheduling = [] {};
    hooks.plugin_stats = [] { return v1::PluginStatsReply{}; };
    hooks.config_items = [] { return std::vector<std::pair<std::string, std::string>>{{"key", "value"}}; };
    hooks.diagnostics = [](v1::DiagnosticsReply&, bool) {};
    hooks.log = [](const std::string&) {};
    hooks.audit = [](const std::string&) {};
    hooks.priorities = [&priorities]() -> const PriorityReport& { return priorities; };
    hooks.priority_option = [](std::string_view) { return std::string{}; };
    hooks.issue_token = [](Uid, const std::string&, std::chrono::seconds, const std::string&) -> Result<std::string> {
        return "token";
    };
    hooks.sign_step = [](std::string body) -> Result<std::string> { return body; };
    hooks.hostname = "here";
    hooks.listen_host = "127.0.0.1";
    hooks.listen_port = 6817;
    return hooks;
}

std::shared_ptr<UserDirectory> directory() {
    auto users = std::make_shared<testing::FakeDirectory>();
    users->add(0, "root", {0});
    users->add(user_uid, "alice", {user_uid, 100});
    return users;
}

// These answer when the job has changed or the time they were given is over.
bool may_wait(std::string_view method) {
    return method.ends_with("/AwaitAllocation") || method.ends_with("/CreateStep");
}

}  // namespace

// ---- the log -------------------------------------------------------------------------------------------------------

Result<void> KeptLog::open(LogListener& listener) {
    listener_ = &listener;
    SPUR_CHECK(listener.on_restore(++index_, beginning_));
    listener.on_role(LogRole::leader, 1, "127.0.0.1:6817");
    return {};
}

Result<void> KeptLog::propose(const std::vector<std::string>& entries, std::uint64_t ticket) {
    for (const auto& entry : entries) {
        entries_.push_back(entry);
        listener_->on_committed(++index_, entry);
    }
    listener_->on_outcome(ticket, LogListener::Fate::committed, {});
    return {};
}

Result<void> KeptLog::barrier(std::uint64_t ticket) {
    listener_->on_outcome(ticket, LogListener::Fate::committed, {});
    return {};
}
Result<std::vector<LogMember>> KeptLog::members() {
    return std::vector<LogMember>{{.id = 1, .address = "127.0.0.1:6817", .role = LogRole::leader}};
}
Result<void> KeptLog::add_member(std::string_view, std::uint64_t ticket) {
    listener_->on_outcome(ticket, LogListener::Fate::committed, {});
    return {};
}
Result<void> KeptLog::remove_member(std::string_view, std::uint64_t ticket) {
    listener_->on_outcome(ticket, LogListener::Fate::failed, "not here");
    return {};
}
Result<void> KeptLog::transfer(std::string_view address, std::uint64_t) {
    return fail(ErrorCode::not_found, "{} is no member", address);
}

void KeptLog::begin_again() {
    entries_.clear();
    must(listener_->on_restore(++index_, beginning_).has_value());
}

std::string KeptLog::replayed() const {
    constexpr std::size_t head = 16;  // the engine's mark before each command
    auto replica = Cluster::load(beginning_);
    must(replica.has_value());
    for (const auto& entry : entries_) {
        const auto command = decode_command(std::string_view{entry}.substr(head));
        must(command.has_value());
        static_cast<void>(replica->apply(*command).has_value());
    }
    return testing::snapshot_of(*replica);
}

// ---- the controller ------------------------------------------------------------------------------------------------

std::uint32_t method_number(std::string_view name) {
    std::uint32_t hash = 2166136261;
    for (const auto c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619;
    return 2 + (hash % 8191) * 2;
}

ControllerRig::ControllerRig()
    : inbox_{*wire::Inbox::make()},
      peer_{std::make_shared<wire::Peer>("127.0.0.1:40000", "")},
      log_{new KeptLog{first_state()}},
      engine_{std::unique_ptr<CommandLog>{log_}, [] { return present; }, [](const std::string&) {}},
      users_{directory()},
      agents_{engine_, users_, {}, "test", [](const std::string&) {}},
      authority_{AuthConfig{}, users_},
      watchers_{engine_, users_},
      what_if_{[]() -> Result<PolicyPlugins> { return fail(ErrorCode::unavailable, "there are no plugins here"); }},
      gate_{engine_, [](const std::string&) -> Result<std::uint64_t> { return fail(ErrorCode::unavailable, "alone"); },
            true},
      service_{engine_, agents_, authority_, users_, watchers_, what_if_, gate_, hooks(priorities_)} {
    engine_.observe(agents_);
    engine_.observe(watchers_);
    engine_.observe(gate_);
    wire::RpcServer server{{}};
    service_.register_all(server);
    for (const auto& [name, method] : wire::registered) {
        const auto is_new = methods_.emplace(method_number(name), std::pair{name, method}).second;
        must(is_new);
    }
    must(engine_.start().has_value());
    settle();
}

ControllerRig::~ControllerRig() {
    users_.stop();
    watchers_.stop();
    gate_.stop();
    service_.stop();
    what_if_.stop();
    engine_.stop();
}

void ControllerRig::send(std::uint32_t number, const std::string& message) {
    auto found = methods_.find(number & ~1U);
    if (found == methods_.end()) found = std::next(methods_.begin(), number / 2 % methods_.size());
    const auto& [name, method] = found->second;
    const auto uid = (number & 1U) != 0 ? user_uid : 0;
    if (method.unary)
        call(name, method, uid, message);
    else
        stream(name, method, uid, message);
}

void ControllerRig::call(const std::string& name, const Method& method, std::uint32_t uid, const std::string& message) {
    auto state = std::make_shared<wire::CallState>();
    state->route = {inbox_, 1, 1};
    state->method = name;
    state->peer = peer_;
    state->caller = {.uid = uid, .gid = uid, .name = {}};
    state->request = message;
    method.unary(wire::Call{state});
    using Clock = std::chrono::steady_clock;
    const auto until =
        Clock::now() + (may_wait(name) ? std::chrono::milliseconds{2} : std::chrono::milliseconds{20'000});
    pollfd event{inbox_->event_fd(), POLLIN, 0};
    while (!state->answered && Clock::now() < until) {
        must(state.use_count() > 1 || state->answered);  // dropped without an answer
        poll(&event, 1, 1);
        drop_answers();
    }
    must(state->answered || may_wait(name));
    state->gone = true;
}

void ControllerRig::stream(const std::string& name, const Method& method, std::uint32_t uid,
                           const std::string& message) {
    auto& state = sessions_[{name, uid}];
    if (!state) {
        state = std::make_shared<wire::SessionState>();
        state->route = {inbox_, 1, 3};
        state->method = name;
        state->peer = peer_;
        state->caller = {.uid = uid, .gid = uid, .name = {}};
        state->max_queue = 1U << 20;
        method.stream(wire::Session{state});
    }
    if (state->closed || !state->on_message) return;
    state->on_message(message);
    settle();
}

// What was proposed has been applied: it takes a round to the log and one back.
void ControllerRig::settle() {
    for (int i = 0; i < 3; ++i) {
        std::promise<void> reached;
        engine_.post([&] { reached.set_value(); });
        reached.get_future().get();
    }
    drop_answers();
}

void ControllerRig::drop_answers() {
    std::vector<wire::Order> orders;
    inbox_->clear_event();
    inbox_->take(orders);
}

void ControllerRig::finish() {
    for (auto& [key, state] : sessions_) {
        state->closed = true;
        if (const auto closed = std::exchange(state->on_closed, {})) closed(std::nullopt);
        state->on_message = {};
        state->on_half_closed = {};
        state->on_drained = {};
    }
    sessions_.clear();
    settle();
    // No command may be on its way between the two: the watch for silent nodes runs by itself.
    std::promise<std::shared_ptr<const ReadModel>> checked;
    engine_.post([&] {
        must(testing::snapshot_of(engine_.cluster()) == log_->replayed());
        checked.set_value(engine_.model());
        log_->begin_again();
    });
    Changes everything;
    everything.everything = true;
    Mirror mirror;
    mirror.update(checked.get_future().get(), everything);
    mirror.view(present);
    settle();
}

}  // namespace spur::fuzz
