// @TYPE@, the boundary, and the thread that writes. The file itself is in log_file.hpp.
#include "log_file.hpp"

#include <spur/plugin/state.h>
#include <spur/plugin/plugin.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace {

using namespace spur::plugin;

struct Proposal {
    std::uint64_t ticket;
    std::vector<std::string> bodies;
};

std::string directory_for(const spur_host* host, const spur_config* config) {
    const std::string configured = option(config, "directory").text;
    if (!configured.empty()) return configured;
    const auto state_dir = host_fact(host, "state_dir");
    if (state_dir.empty()) throw Failure(SPUR_E_INVALID, "no place for the log: set the option \"directory\"");
    return state_dir + "/@NAME@";
}

class State {
public:
    State(const spur_host* host, const spur_config* config)
        : directory_(directory_for(host, config)),
          metrics_(host),
          entries_total_(metrics_.counter("entries_total", "entries committed since the daemon began")) {}
    ~State() {
        {
            const std::scoped_lock hold(lock_);
            stopping_ = true;
        }
        wake_.notify_all();
        if (writer_.joinable()) writer_.join();
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    spur_status open(const spur_state_listener* listener, const Stop& stop, spur_error* err) {
        listener_ = listener;
        stop.throw_if();
        log_.emplace(directory_);
        spur_status restored = SPUR_OK;
        log_->recover([&](std::uint64_t index, const std::string& path) { restored = restore(index, path, err); },
                      [&](std::uint64_t index, std::string_view body) { commit(index, body); });
        if (restored != SPUR_OK) return restored;
        remember();
        listener_->role(listener_, SPUR_STATE_LEADER, 1, {});
        writer_ = std::thread([this] { write(); });
        const std::scoped_lock hold(lock_);
        is_open_ = true;
        return SPUR_OK;
    }

    spur_status propose(const spur_state_entry* entries, std::uint32_t count, std::uint64_t ticket, spur_error* err) {
        Proposal proposal{ticket, {}};
        for (std::uint32_t i = 0; i < count; ++i)
            proposal.bodies.emplace_back(static_cast<const char*>(entries[i].body.data), entries[i].body.length);
        const std::scoped_lock hold(lock_);
        if (broken_) return fail(err, SPUR_E_IO, "the log could not be written to; see the daemon's log");
        if (!is_open_) return fail(err, SPUR_E_INVALID, "the log is not open yet");
        waiting_.push_back(std::move(proposal));
        wake_.notify_all();
        return SPUR_OK;
    }

    spur_state_status status() {
        spur_state_status out{};
        const std::scoped_lock hold(lock_);
        out.role = SPUR_STATE_LEADER;
        out.term = 1;
        out.last_index = out.committed_index = committed_;
        out.entries = entries_;
        out.snapshot_index = snapshot_;
        out.log_bytes = log_bytes_;
        out.fsyncs = syncs_;
        return out;
    }

    spur_status snapshot(std::uint64_t index, const spur_source* source, const Stop& stop) {
        const int draft = ::open(log_->snapshot_draft().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (draft < 0)
            throw Failure(SPUR_E_IO, "cannot write a snapshot in " + directory_ + ": " + std::strerror(errno));
        char buffer[65536];
        bool good = true;
        for (std::uint64_t length = 1; good && length != 0 && !stop.stopped();)
            good = source->read(source, buffer, sizeof buffer, &length) == SPUR_OK &&
                   ::write(draft, buffer, length) == static_cast<ssize_t>(length);
        good = good && fsync(draft) == 0;
        close(draft);
        stop.throw_if();
        if (!good) throw Failure(SPUR_E_IO, "cannot write a snapshot in " + directory_);
        const std::scoped_lock hold(file_lock_);
        log_->adopt_snapshot(index);
        remember();
        return SPUR_OK;
    }

private:
    // Copies the log's figures for status(), which must not wait for the disk.
    void remember() {
        const std::scoped_lock hold(lock_);
        snapshot_ = log_->snapshot_index();
        log_bytes_ = log_->bytes();
        syncs_ = log_->syncs();
    }

    spur_status restore(std::uint64_t index, const std::string& path, spur_error* err) {
        std::ifstream in(path, std::ios::binary);
        const spur_source source{
            sizeof(spur_source), 0, &in,
            [](const spur_source* self, void* buffer, std::uint64_t capacity, std::uint64_t* length) -> spur_status {
                auto& file = *static_cast<std::ifstream*>(self->context);
                file.read(static_cast<char*>(buffer), static_cast<std::streamsize>(capacity));
                *length = static_cast<std::uint64_t>(file.gcount());
                return file.bad() ? SPUR_E_IO : SPUR_OK;
            }};
        committed_ = index;
        return listener_->restore(listener_, index, &source, err);
    }

    void commit(std::uint64_t index, std::string_view body) {
        const spur_state_entry entry{{body.data(), body.size()}, index, 1};
        listener_->committed(listener_, &entry, 1);
        metrics_.add(entries_total_);
        const std::scoped_lock hold(lock_);
        committed_ = index;
        ++entries_;
    }

    // The writer: everything that was proposed while the disk was busy shares the next sync.
    void write() {
        for (;;) {
            std::vector<Proposal> batch;
            {
                std::unique_lock hold(lock_);
                wake_.wait(hold, [&] { return stopping_ || !waiting_.empty(); });
                if (waiting_.empty()) return;
                batch.swap(waiting_);
            }
            spur_error err{sizeof(spur_error), SPUR_OK, ""};
            const auto status = guard(&err, [&] { return write_batch(batch), SPUR_OK; });
            if (status != SPUR_OK) give_up(err);
            for (const auto& proposal : batch)
                listener_->outcome(listener_, proposal.ticket, status == SPUR_OK ? SPUR_OK : SPUR_STATE_UNKNOWN, &err);
        }
    }

    void write_batch(const std::vector<Proposal>& batch) {
        const std::scoped_lock hold(file_lock_);
        auto index = log_->last_index();
        for (const auto& proposal : batch)
            for (const auto& body : proposal.bodies) log_->append(body);
        log_->sync();
        remember();
        for (const auto& proposal : batch)
            for (const auto& body : proposal.bodies) commit(++index, body);
    }

    void give_up(const spur_error& err) {
        {
            const std::scoped_lock hold(lock_);
            broken_ = true;
        }
        listener_->failed(listener_, &err);
    }

    const std::string directory_;
    const Metrics metrics_;
    const std::uint32_t entries_total_;
    const spur_state_listener* listener_ = nullptr;
    std::optional<LogFile> log_;
    std::thread writer_;
    std::mutex file_lock_;  // the log file; taken before lock_
    std::mutex lock_;       // everything below
    std::condition_variable wake_;
    std::vector<Proposal> waiting_;
    std::uint64_t committed_ = 0, entries_ = 0, snapshot_ = 0, log_bytes_ = 0, syncs_ = 0;
    bool is_open_ = false, stopping_ = false, broken_ = false;
};

spur_status open(spur_plugin* self, const spur_state_listener* listener, const spur_stop* stop, spur_error* err) {
    return guard(err, [&] { return self_cast<State>(self).open(listener, Stop{stop}, err); });
}
spur_status propose(spur_plugin* self, const spur_state_entry* entries, std::uint32_t count, std::uint64_t ticket,
                    spur_error* err) {
    return guard(err, [&] { return self_cast<State>(self).propose(entries, count, ticket, err); });
}
spur_status status(spur_plugin* self, spur_state_status* out, spur_error* err) {
    return guard(err, [&] { return spur::plugin::put(out, self_cast<State>(self).status()), SPUR_OK; });
}
spur_status snapshot(spur_plugin* self, std::uint64_t index, const spur_source* source, const spur_stop* stop,
                     spur_error* err) {
    return guard(err, [&] { return self_cast<State>(self).snapshot(index, source, Stop{stop}); });
}

constexpr spur_state_ops ops{.size = sizeof(spur_state_ops),
                             .features = 0,
                             .open = open,
                             .propose = propose,
                             .status = status,
                             .snapshot = snapshot,
                             .barrier = nullptr,
                             .members = nullptr,
                             .add_member = nullptr,
                             .remove_member = nullptr,
                             .transfer = nullptr};

const void* query(spur_plugin*, const char* id) { return std::string_view(id) == SPUR_STATE_IFACE ? &ops : nullptr; }

constexpr spur_option options[] = {
    {"directory", SPUR_OPTION_PATH, 0, nullptr, "where the log is; by default @NAME@ in the state directory", nullptr,
     0, 0},
};
constexpr const char* interfaces[] = {SPUR_STATE_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
                                .reserved = 0,
                                .type = "@TYPE@",
                                .version = "0.1.0",
                                .vendor = "your name here",
                                .summary = "one log file on one controller",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = create<State>,
                                .destroy = destroy<State>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
