// A member comes and goes: its directory, its identity, its loop, and libraft's start and end.
#include "node.hpp"

#include <algorithm>
#include <cstring>

#include "segments.hpp"

namespace spur::raftlog {
namespace {
constexpr std::chrono::milliseconds open_poll{50};  // whether open() is to stop
}  // namespace

Node::Node(Settings settings, const spur_host* host)
    : settings_(std::move(settings)),
      log_(host),
      room_(settings_.data_dir),
      hooks_({.appended =
                  [this](unsigned, int status) {
                      writes_.fetch_add(1, std::memory_order_relaxed);
                      metrics_.table.add(metrics_.writes);
                      if (status == 0 || status == RAFT_CANCELED || closing_) return;
                      const char* why =
                          status == RAFT_NOSPACE ? "no space is left; free some and restart" : raft_strerror(status);
                      fail({SPUR_E_IO, fmt::format("cannot write the log in {}: {}", settings_.data_dir, why)});
                  },
              .stored = [this](bool installed, int status) { on_stored(installed, status); }}),
      snapshots_(raft_, settings_.snapshot_trailing),
      metrics_{plugin::Metrics(host)} {
    metrics_.entries = metrics_.table.counter("entries_total", "entries committed");
    metrics_.writes = metrics_.table.counter("log_writes_total", "durable writes to the log");
    metrics_.commit_ns = metrics_.table.histogram("commit_ns", "from handing a record to Raft to its commit");
    metrics_.batch = metrics_.table.histogram("record_entries", "entries that shared one record");
}

Node::~Node() {
    if (!loop_) return;
    loop_->post([this] { begin_close(); });
    loop_->join();
}

// ---- opening -------------------------------------------------------------------------------------------------------

Outcome<void> Node::prepare_directory() {
    SPUR_CHECK(make_directory(settings_.data_dir));
    SPUR_TRY(lock_, lock_directory(settings_.data_dir));
    if (room_.measure() == Room::Level::full) {
        log_.warning(room_.sentence());
        room_.give_up_reserve();
    }
    SPUR_TRY(has_log_, has_log(settings_.data_dir));
    if (!has_log_) discard_unfinished_founding(settings_.data_dir);
    SPUR_TRY(const auto torn, check_segments(settings_.data_dir));
    for (const auto& tail : torn)
        log_.warning(fmt::format("{}/{}: dropping an unfinished write at byte {}, which was never acknowledged",
                                 settings_.data_dir, tail.file, tail.offset));
    return prepare_identity();
}

// A member keeps the id it was born with, whatever its address becomes: the log knows it by that.
Outcome<void> Node::prepare_identity() {
    const auto path = settings_.data_dir + "/identity";
    const auto stored = read_all(path);
    if (has_log_ && stored) {
        const std::string text(stored->begin(), stored->end());
        unsigned long long id = 0;
        if (std::sscanf(text.c_str(), "%llx", &id) != 1 || id == 0)
            return fault(SPUR_E_CORRUPT, "{} is damaged: restore it from a backup of the directory", path);
        const auto other = std::ranges::find_if(settings_.hosts, [&](const Address& host) {
            return host.id() == id && host.client() != settings_.self.client();
        });
        if (other != settings_.hosts.end())
            return fault(SPUR_E_INVALID,
                         "{} belongs to controller {}: a copy would vote twice. Remove it here; this controller "
                         "fetches the state from the others",
                         settings_.data_dir, other->client());
        id_ = id;
        return {};
    }
    if (has_log_) return fault(SPUR_E_CORRUPT, "{} is missing: restore it from a backup of the directory", path);
    id_ = settings_.self.id();
    return write_durably(path, fmt::format("{:x} {}\n", id_, settings_.self.text()));
}

Outcome<void> Node::open(const spur_state_listener* listener, const plugin::Stop& stop) {
    listener_ = listener;
    if (loop_) return fault(SPUR_E_INVALID, "this instance is open already");
    SPUR_CHECK(prepare_directory());
    if (stop.stopped()) return fault(SPUR_E_STOPPED, "stopped before {} was read", settings_.data_dir);
    SPUR_TRY(const auto key, load_key(settings_.key_file, settings_.hosts.size() == 1));

    loop_ = std::make_unique<Loop>(Loop::Handlers{.woken = [this] { flush(); },
                                                  .turned =
                                                      [this] {
                                                          observe();
                                                          flush();
                                                      },
                                                  .tick = [this] { tick(); }});
    group_ = std::make_unique<Group>(settings_, id_, raft_,
                                     Group::Handlers{.decided = [this](Decision decision) { on_decided(decision); },
                                                     .note = [this](const std::string& text) { log_.info(text); }});
    transport_ = std::make_unique<Transport>(
        loop_->get(), key, settings_.cluster_name,
        Transport::Handlers{.own_greeting = [this] { return group_->greeting(); },
                            .met = [this](const Greeting& greeting) { group_->met(greeting); },
                            .warning = [this](const std::string& text) { log_.warning(text); }});
    group_->use(transport_.get());
    loop_->post([this] {
        if (auto started = start(); !started) {
            opened(std::unexpected(started.error()));
            begin_close();
        }
    });
    loop_->start();

    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, open_poll, [this] { return opening_ != Opening::under_way; }))
        if (stop.stopped()) return fault(SPUR_E_STOPPED, "stopped while {} was being read", settings_.data_dir);
    if (opening_ == Opening::failed) return std::unexpected(*failure_);
    return {};
}

void Node::opened(Outcome<void> result) {
    const std::lock_guard lock(mutex_);
    if (opening_ != Opening::under_way) return;
    opening_ = result ? Opening::done : Opening::failed;
    if (!result) failure_ = result.error();
    changed_.notify_all();
}

Outcome<void> Node::start() {
    if (settings_.listens) SPUR_CHECK(transport_->listen(settings_.listen_host, settings_.listen_port));
    if (const int error = raft_uv_init(&io_, loop_->get(), settings_.data_dir.c_str(), transport_->for_raft());
        error != 0)
        return std::unexpected(explain_start(error));
    io_ready_ = true;
    raft_uv_set_auto_recovery(&io_, false);         // it would move damaged segments aside and go on without them
    raft_uv_set_snapshot_compression(&io_, false);  // ours are compressed already
    raft_uv_set_connect_retry_delay(&io_, 250);
    set_up_fsm();
    if (const int error = raft_init(&raft_, &io_, &fsm_, id_, settings_.self.text().c_str()); error != 0)
        return std::unexpected(explain_start(error));
    raft_ready_ = true;
    hooks_.attach(raft_);
    raft_set_election_timeout(&raft_, settings_.election_timeout_ms);
    raft_set_heartbeat_timeout(&raft_, settings_.heartbeat_ms);
    raft_set_pre_vote(&raft_, true);
    raft_set_snapshot_threshold(&raft_, INT_MAX);  // until a snapshot is staged
    raft_set_install_snapshot_timeout(&raft_, 60'000);

    if (has_log_) return start_raft();
    if (settings_.hosts.size() == 1) {
        SPUR_CHECK(found_group());
        return start_raft();
    }
    publish_role(SPUR_STATE_FOLLOWER, 0, 0, "");
    group_->seek();
    opened({});
    return {};
}

void Node::set_up_fsm() {
    fsm_.version = 3;
    fsm_.data = this;
    fsm_.apply = [](raft_fsm* fsm, const raft_buffer* buffer, void** result) {
        *result = nullptr;
        return static_cast<Node*>(fsm->data)->apply(buffer);
    };
    fsm_.restore = [](raft_fsm* fsm, raft_buffer* buffer) { return static_cast<Node*>(fsm->data)->restore(buffer); };
    fsm_.snapshot = [](raft_fsm* fsm, raft_buffer** buffers, unsigned* count) {
        auto* node = static_cast<Node*>(fsm->data);
        try {
            return node->snapshots_.take(buffers, count);
        } catch (const std::exception& broken) {
            node->snapshots_.release();
            node->snapshots_.finished(Fault{SPUR_E_INTERNAL, broken.what()});
            return RAFT_BUSY;
        }
    };
    fsm_.snapshot_finalize = [](raft_fsm* fsm, raft_buffer**, unsigned*) {
        static_cast<Node*>(fsm->data)->snapshots_.release();
        return 0;
    };
}

void Node::on_decided(Decision decision) {
    log_.info(decision == Decision::found ? "founding a new group of controllers" : "joining the controllers' group");
    auto started = decision == Decision::found ? found_group() : Outcome<void>();
    if (started) started = start_raft();
    if (!started) fail(started.error());
}

Outcome<void> Node::found_group() {
    auto configuration = group_->founding_configuration();
    const int error = raft_bootstrap(&raft_, &configuration);
    raft_configuration_close(&configuration);
    if (error == 0) return {};
    // A controller that has voted without ever receiving a record is known to a group already: it joins.
    if (error == RAFT_CANTBOOTSTRAP && settings_.hosts.size() > 1) return {};
    if (error == RAFT_CANTBOOTSTRAP)
        return fault(
            SPUR_E_INVALID,
            "{} has votes but no log: it belonged to a group. Name its controllers in [controller] hosts, or remove it "
            "to begin anew",
            settings_.data_dir);
    return std::unexpected(explain_start(error));
}

// Replays what is committed: the listener hears it from within this call.
Outcome<void> Node::start_raft() {
    if (const int error = raft_start(&raft_); error != 0) return std::unexpected(explain_start(error));
    group_->started();
    recovered_ = raft_last_index(&raft_);
    disk_bytes_ = disk_usage(settings_.data_dir);
    if (raft_.configuration.n != 1 || raft_state(&raft_) != RAFT_LEADER) {
        publish_role(SPUR_STATE_FOLLOWER, raft_.current_term, 0, "");
        opened({});
    }
    return {};  // a lone leader has opened once its announcement is committed
}

Fault Node::explain_start(int error) const {
    if (failure_) return *failure_;  // said by restore(), with more detail
    std::string text = raft_ready_ ? raft_errmsg(const_cast<raft*>(&raft_)) : io_.errmsg;
    if (text.empty()) text = raft_strerror(error);
    const bool damaged = error == RAFT_CORRUPT || error == RAFT_MALFORMED || text.find("checksum") != std::string::npos;
    if (!damaged) return {SPUR_E_IO, fmt::format("cannot open the log in {}: {}", settings_.data_dir, text)};
    return {SPUR_E_CORRUPT,
            fmt::format("the log in {} is damaged ({}): restore it from a backup, or move it away where other "
                        "controllers have the state",
                        settings_.data_dir, text)};
}

// ---- watching ------------------------------------------------------------------------------------------------------

// libraft tells nobody when it changes its role, so we look after every turn of the loop.
void Node::observe() {
    if (close_wanted_ && !closing_) return begin_close();
    if (closing_ || !group_->has_started()) return;
    raft_id leader_id = 0;
    const char* leader = nullptr;
    raft_leader(&raft_, &leader_id, &leader);
    // A leader may have taken back what we had; the rest of it we knew before and must know again.
    const bool caught_up = raft_.last_applied >= std::min<std::uint64_t>(recovered_, raft_last_index(&raft_));
    const Sight now{raft_state(&raft_), raft_.current_term, leader_id, ready_term_, caught_up};
    if (now != seen_) {
        seen_ = now;
        react(leader == nullptr ? "" : leader);
    }
    maybe_want_snapshot();
}

void Node::react(const char* leader) {
    if (seen_.state == RAFT_LEADER) {
        // Leader to the world only when a record of our own term is committed: then all before it has been reported.
        if (announced_term_ != seen_.term && !submit_empty(true)) {
            seen_ = {};  // look again at the next turn
            return;
        }
        announced_term_ = seen_.term;
        if (ready_term_ == seen_.term) publish_role(SPUR_STATE_LEADER, seen_.term, id_, settings_.self.client());
        return;
    }
    if (accepting_.exchange(false)) refuse_backlog(SPUR_STATE_NOT_LEADER, "");
    const auto leader_id = seen_.caught_up ? seen_.leader_id : 0;
    publish_role(seen_.state == RAFT_CANDIDATE ? SPUR_STATE_CANDIDATE : SPUR_STATE_FOLLOWER, seen_.term, leader_id,
                 leader_id == 0 ? "" : group_->client_address(leader_id, leader));
}

void Node::publish_role(std::uint32_t role, std::uint64_t term, std::uint64_t leader_id, const std::string& leader) {
    {
        const std::lock_guard lock(mutex_);
        if (role_known_ && board_.role == role && board_.term == term && board_.leader == leader) return;
        role_known_ = true;
        board_.role = role;
        board_.term = term;
        board_.leader_id = leader_id;
        board_.leader = leader;
        board_.members = group_->members();
    }
    if (role == SPUR_STATE_LEADER) accepting_ = true;
    listener_->role(listener_, role, term, plugin::str(leader));
    if (role == SPUR_STATE_LEADER) opened({});
}

void Node::tick() {
    if (closing_) return;
    group_->tick();
    seen_ = {};  // an address may be known by now
    disk_bytes_ = disk_usage(settings_.data_dir);
    check_disk();
    const std::lock_guard lock(mutex_);
    board_.members = group_->members();
}

// Says when room gets short, when it is gone and when it is back. A leader without room lets another one lead, which
// may have some; where all are full they take turns, at leisure.
void Node::check_disk() {
    constexpr std::uint64_t between_handovers_ns = 60'000'000'000;
    unchecked_bytes_ = 0;
    const auto before = room_.level();
    Room::Level now = before;
    {
        const std::lock_guard lock(mutex_);
        now = room_.measure();
    }
    if (now != before) {
        if (now == Room::Level::full)
            log_.error(room_.sentence());
        else if (before == Room::Level::full)
            log_.warning(fmt::format("there is room again on the disk of {}, {} MiB: changes are possible",
                                     settings_.data_dir, room_.free_mib()));
        else if (now == Room::Level::low)
            log_.warning(
                fmt::format("the disk of {} is getting full: {} MiB are left, and below {} nothing can be "
                            "changed any more",
                            settings_.data_dir, room_.free_mib(), Room::least / Room::mib));
    }
    if (now == Room::Level::plenty) room_.keep_reserve();
    if (now != Room::Level::full || !accepting_ || raft_.configuration.n < 2) return;
    if (handed_over_ns_ != 0 && uv_hrtime() - handed_over_ns_ < between_handovers_ns) return;
    handed_over_ns_ = uv_hrtime();
    group_->transfer(std::nullopt, [](spur_status, const std::string&) {});
}

// ---- ending --------------------------------------------------------------------------------------------------------

void Node::fail(const Fault& why) {
    bool opening = false;
    {
        const std::lock_guard lock(mutex_);
        if (failure_) return;
        failure_ = why;
        opening = opening_ == Opening::under_way;
    }
    log_.error(why.text);
    accepting_ = false;
    refuse_backlog(why.code, why.text);
    spur_error error{.size = sizeof(spur_error), .code = why.code, .text = {}};
    plugin::fail(&error, why.code, why.text);
    if (opening) opened(std::unexpected(why));  // open() says it
    if (!opening) listener_->failed(listener_, &error);
    // Not from here, which may be inside libraft. Once closed we send no heartbeats, and another controller takes over.
    close_wanted_ = true;
    loop_->wake();
}

void Node::begin_close() {
    if (closing_) return;
    closing_ = true;
    accepting_ = false;
    refuse_backlog(SPUR_E_STOPPED, "the controller is stopping");
    snapshots_.abandon({SPUR_E_STOPPED, "the controller is stopping"});
    // The instance's own data is the hooks'; the state machine's leads back to us.
    if (raft_ready_)
        return raft_close(&raft_, [](raft* instance) { static_cast<Node*>(instance->fsm->data)->raft_closed(); });
    transport_->close([this] { raft_closed(); });
}

void Node::raft_closed() {
    if (io_ready_) raft_uv_close(&io_);
    snapshots_.finished(Fault{SPUR_E_STOPPED, "the controller is stopping"});
    loop_->stop();
}

}  // namespace spur::raftlog
