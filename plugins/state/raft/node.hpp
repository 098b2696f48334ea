// One member of the group: libraft on a thread of its own, and the doors into it.
//
// Everything libraft touches happens on the loop thread; so does every call of the listener. Other threads leave
// proposals in a queue and wake the loop, which turns all that has gathered into one record of the log while the
// previous one is being written: that is the group commit.
//
// Two numberings: Raft counts records, the host's `index` counts the entries in them. Variables named *_raft hold
// Raft's.
#pragma once

#include <spur/plugin/state.h>
#include <spur/plugin/plugin.hpp>
#include "libraft.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "disk_hooks.hpp"
#include "fault.hpp"
#include "files.hpp"
#include "group.hpp"
#include "key.hpp"
#include "loop.hpp"
#include "room.hpp"
#include "settings.hpp"
#include "snapshots.hpp"
#include "transport.hpp"

namespace spur::raftlog {

class Node {
public:
    Node(Settings settings, const spur_host* host);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    // The operations of spur_state_ops, with its contracts. A status that is not SPUR_OK is a verdict.
    Outcome<void> open(const spur_state_listener* listener, const plugin::Stop& stop);
    Outcome<spur_status> propose(const spur_state_entry* entries, std::uint32_t count, std::uint64_t ticket);
    Outcome<spur_status> barrier(std::uint64_t ticket);
    spur_state_status status() const;
    Outcome<void> snapshot(std::uint64_t index, const spur_source* source, const plugin::Stop& stop);
    void members(const std::function<void(const spur_state_member&)>& each) const;
    Outcome<spur_status> add_member(std::string_view address, std::uint64_t ticket);
    Outcome<spur_status> remove_member(std::string_view address, std::uint64_t ticket);
    Outcome<spur_status> transfer(std::string_view address, std::uint64_t ticket);

private:
    struct Proposal {
        std::uint64_t ticket = 0;
        std::uint32_t count = 0;
        std::string body;  // of a pack
    };
    struct Flight {  // a pack on its way
        struct raft_apply request {};
        Node* node = nullptr;
        std::vector<std::uint64_t> tickets;
        std::uint32_t entries = 0;
        std::uint64_t started_ns = 0;
        bool announces_leader = false;
    };
    // What status() and members() show; written on the loop thread.
    struct Board {
        std::uint32_t role = SPUR_STATE_FOLLOWER;
        std::uint64_t term = 0;
        std::uint64_t leader_id = 0;
        std::string leader;
        std::vector<Member> members;
    };
    struct Sight {  // of libraft, at the last turn of the loop
        int state = 0;
        std::uint64_t term = 0, leader_id = 0, ready_term = 0;
        bool caught_up = false;
        bool operator==(const Sight&) const = default;
    };
    enum class Opening { under_way, done, failed };

    // node.cpp: coming and going
    Outcome<void> prepare_directory();
    Outcome<void> prepare_identity();
    Outcome<void> start();
    Outcome<void> start_raft();
    Outcome<void> found_group();
    void on_decided(Decision decision);
    void set_up_fsm();
    Fault explain_start(int error) const;
    void observe();
    void react(const char* leader);
    void publish_role(std::uint32_t role, std::uint64_t term, std::uint64_t leader_id, const std::string& leader);
    void opened(Outcome<void> result);
    void fail(const Fault& why);
    void begin_close();
    void raft_closed();
    void tick();
    void check_disk();

    // node_log.cpp: proposals, applying, snapshots
    Outcome<spur_status> enqueue(Proposal proposal);
    Outcome<spur_status> post_change(std::string_view address, std::uint64_t ticket, bool may_be_empty,
                                     std::function<void(const std::optional<Address>&, Group::Done)> act);
    std::optional<Fault> failure() const;
    void flush();
    bool should_gather();
    bool submit(std::string_view body, std::unique_ptr<Flight> flight);
    bool submit_empty(bool announces_leader);
    void on_flight_done(std::unique_ptr<Flight> flight, int status);
    void refuse_backlog(spur_status status, const std::string& text);
    int apply(const raft_buffer* buffer);
    int restore(raft_buffer* buffer);
    Outcome<void> restore_from(std::span<const std::uint8_t> stream);
    void on_stored(bool installed, int status);
    void maybe_want_snapshot();
    void outcome(std::uint64_t ticket, spur_status status, const std::string& text);

    const Settings settings_;
    plugin::Log log_;
    const spur_state_listener* listener_ = nullptr;
    Descriptor lock_;
    std::uint64_t id_ = 0;
    bool has_log_ = false;

    // Shared between threads.
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Opening opening_ = Opening::under_way;
    std::vector<Proposal> queue_;
    std::size_t queued_bytes_ = 0;
    Room room_;
    Board board_;
    std::optional<Fault> failure_;  // of open() or, later, of the instance
    std::mutex snapshot_mutex_;     // one snapshot() at a time
    std::atomic<bool> accepting_{false};
    std::atomic<std::uint64_t> last_index_{0}, applied_index_{0}, snapshot_index_{0}, disk_bytes_{0}, writes_{0},
        entries_{0};

    // The loop thread's. The order matters: what is declared later goes first.
    raft_io io_{};
    raft_fsm fsm_{};
    raft raft_{};
    DiskHooks hooks_;
    Snapshots snapshots_;
    std::unique_ptr<Group> group_;
    std::unique_ptr<Loop> loop_;
    std::unique_ptr<Transport> transport_;
    bool io_ready_ = false;    // raft_uv_init() worked
    bool raft_ready_ = false;  // raft_init() worked
    bool closing_ = false;
    bool close_wanted_ = false;
    bool role_known_ = false;
    Sight seen_;

    std::deque<Proposal> backlog_;
    std::size_t backlog_bytes_ = 0;
    std::uint64_t backlog_entries_ = 0;
    std::uint64_t gather_entries_ = 0;   // how many are worth waiting for,
    std::uint64_t gather_until_ns_ = 0;  // and for how long
    std::uint64_t average_commit_ns_ = 0;
    unsigned flights_ = 0;
    std::uint64_t in_flight_entries_ = 0;
    std::uint64_t announced_term_ = 0;  // the term in which we last announced ourselves as leader
    std::uint64_t ready_term_ = 0;      // and the one in which that was committed, so all before it has been reported
    std::uint64_t recovered_ = 0;       // the last record on disk at the start
    std::uint64_t wanted_at_ = 0;       // the index at which we last asked for a snapshot
    std::size_t unchecked_bytes_ = 0;   // written since we last looked at the disk
    std::uint64_t handed_over_ns_ = 0;  // when we last wanted another leader, for want of room
    std::vector<spur_state_entry> entry_buffer_;

    struct Metrics {
        plugin::Metrics table;
        std::uint32_t entries = 0, writes = 0, commit_ns = 0, batch = 0;
    } metrics_;
};

}  // namespace spur::raftlog
