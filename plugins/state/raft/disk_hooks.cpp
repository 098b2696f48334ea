// Wrapping raft_io's append and snapshot_put.
#include "disk_hooks.hpp"

#include <memory>

namespace spur::raftlog {
namespace {

// libraft points io->data at its own instance, whose `data` is ours to use.
DiskHooks& hooks_of(raft_io* io) { return *static_cast<DiskHooks*>(static_cast<raft*>(io->data)->data); }

}  // namespace

void DiskHooks::attach(raft& instance) {
    instance.data = this;
    real_append_ = instance.io->append;
    real_put_ = instance.io->snapshot_put;
    instance.io->append = [](raft_io* io, raft_io_append* request, const raft_entry entries[], unsigned n,
                             raft_io_append_cb callback) {
        return hooks_of(io).append(io, request, entries, n, callback);
    };
    instance.io->snapshot_put = [](raft_io* io, unsigned trailing, raft_io_snapshot_put* request,
                                   const raft_snapshot* snapshot, raft_io_snapshot_put_cb callback) {
        return hooks_of(io).put(io, trailing, request, snapshot, callback);
    };
}

int DiskHooks::append(raft_io* io, raft_io_append* request, const raft_entry* entries, unsigned n,
                      raft_io_append_cb callback) {
    if (failed_) return 0;
    auto wrapped = std::make_unique<Append>(Append{{}, request, callback, this, n});
    wrapped->request.data = wrapped.get();
    const int error = real_append_(io, &wrapped->request, entries, n, [](raft_io_append* done, int status) {
        const std::unique_ptr<Append> owner(static_cast<Append*>(done->data));
        owner->hooks->on_appended(*owner, status);
    });
    if (error != 0) {
        on_appended(*wrapped, error);
    } else {
        wrapped.release();
    }
    return 0;
}

void DiskHooks::on_appended(const Append& append, int status) {
    if (!failed_) handlers_.appended(append.detail, status);
    if (status != 0 && status != RAFT_CANCELED) failed_ = true;
    if (!failed_ || status == RAFT_CANCELED) append.callback(append.original, status);
}

int DiskHooks::put(raft_io* io, unsigned trailing, raft_io_snapshot_put* request, const raft_snapshot* snapshot,
                   raft_io_snapshot_put_cb callback) {
    const unsigned installed = trailing == 0 ? 1 : 0;  // libraft replaces the whole log with a snapshot from the leader
    auto wrapped = std::make_unique<Put>(Put{{}, request, callback, this, installed});
    wrapped->request.data = wrapped.get();
    const int error = real_put_(io, trailing, &wrapped->request, snapshot, [](raft_io_snapshot_put* done, int status) {
        const std::unique_ptr<Put> owner(static_cast<Put*>(done->data));
        owner->callback(owner->original, status);
        owner->hooks->handlers_.stored(owner->detail == 1, status);
    });
    if (error == 0) {
        wrapped.release();
    } else {
        handlers_.stored(installed == 1, error);
    }
    return error;
}

}  // namespace spur::raftlog
