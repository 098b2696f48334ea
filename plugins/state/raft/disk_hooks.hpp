// Listens in on libraft's disk writes: to count them, and to hear of it when one fails, on followers too.
//
// A failed append ends the instance, so libraft never hears of it: the request simply stays open until raft_close().
// Its own handling (cut the log, carry on) crashes in 0.15 when several appends fail together.
#pragma once

#include "libraft.hpp"

#include <functional>

namespace spur::raftlog {

class DiskHooks {
public:
    struct Handlers {
        std::function<void(unsigned entries, int status)> appended;
        std::function<void(bool installed, int status)> stored;  // a snapshot: our own, or one the leader sent
    };

    explicit DiskHooks(Handlers handlers) : handlers_(std::move(handlers)) {}
    // After raft_init(). Takes the place of two functions of the instance's io, and its `data`; must outlive both.
    void attach(raft& instance);

private:
    template <class Request, class Callback>
    struct Wrapped {
        Request request{};
        Request* original = nullptr;
        Callback callback = nullptr;
        DiskHooks* hooks = nullptr;
        unsigned detail = 0;
    };
    using Append = Wrapped<raft_io_append, raft_io_append_cb>;
    using Put = Wrapped<raft_io_snapshot_put, raft_io_snapshot_put_cb>;

    void on_appended(const Append& append, int status);
    int append(raft_io* io, raft_io_append* request, const raft_entry* entries, unsigned n, raft_io_append_cb callback);
    int put(raft_io* io, unsigned trailing, raft_io_snapshot_put* request, const raft_snapshot* snapshot,
            raft_io_snapshot_put_cb callback);

    Handlers handlers_;
    bool failed_ = false;
    decltype(raft_io::append) real_append_ = nullptr;
    decltype(raft_io::snapshot_put) real_put_ = nullptr;
};

}  // namespace spur::raftlog
