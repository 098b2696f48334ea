// Committing in memory.
#include "store.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace spur::memory {

std::shared_ptr<Store> Store::named(const std::string& name) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<Store>> stores;
    if (name.empty()) return std::make_shared<Store>();
    const std::lock_guard lock(mutex);
    auto& store = stores[name];
    if (!store) store = std::make_shared<Store>();
    return store;
}

Log::Log(Settings settings) : settings_(std::move(settings)), store_(Store::named(settings_.store)) {}

Log::~Log() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
    for (const auto& proposal : queue_) outcome(proposal.ticket, SPUR_E_STOPPED, "the controller is stopping");
    const std::lock_guard lock(store_->mutex);
    store_->is_open = false;
}

spur_status Log::open(const spur_state_listener* listener, std::string& why) {
    {
        const std::lock_guard lock(store_->mutex);
        if (store_->is_open) {
            why = "the store \"" + settings_.store + "\" is in use by another instance: close that one first";
            return SPUR_E_BUSY;
        }
        store_->is_open = true;
        ++store_->term;
    }
    listener_ = listener;
    if (const auto status = replay(why); status != SPUR_OK) {
        const std::lock_guard lock(store_->mutex);
        store_->is_open = false;
        return status;
    }
    const spur_str self{settings_.self.data(), static_cast<std::uint32_t>(settings_.self.size()), 0};
    listener_->role(listener_, SPUR_STATE_LEADER, store_->term, self);
    thread_ = std::thread([this] { work(); });
    return SPUR_OK;
}

// Nobody else touches an open store, so what is in it may be lent to the listener without the lock.
spur_status Log::replay(std::string& why) {
    if (store_->snapshot) {
        struct Pull {
            const std::string& text;
            std::size_t used = 0;
        } pull{*store_->snapshot};
        const spur_source source{
            sizeof(spur_source), 0, &pull,
            [](const spur_source* self, void* buffer, std::uint64_t capacity, std::uint64_t* length) {
                auto& from = *static_cast<Pull*>(self->context);
                *length = std::min<std::uint64_t>(capacity, from.text.size() - from.used);
                std::memcpy(buffer, from.text.data() + from.used, *length);
                from.used += *length;
                return SPUR_OK;
            }};
        spur_error error{sizeof(spur_error), SPUR_OK, ""};
        if (const auto status = listener_->restore(listener_, store_->snapshot_index, &source, &error);
            status != SPUR_OK) {
            why = error.text;
            return status < 0 ? status : SPUR_E_INTERNAL;
        }
    }
    std::vector<spur_state_entry> lent;
    for (const auto& entry : store_->entries)
        lent.push_back({{entry.body.data(), entry.body.size()}, entry.index, entry.term});
    if (!lent.empty()) listener_->committed(listener_, lent.data(), static_cast<std::uint32_t>(lent.size()));
    return SPUR_OK;
}

spur_status Log::propose(const spur_state_entry* entries, std::uint32_t count, std::uint64_t ticket, std::string& why) {
    Proposal proposal{ticket, {}};
    for (std::uint32_t i = 0; i < count; ++i)
        proposal.bodies.emplace_back(static_cast<const char*>(entries[i].body.data), entries[i].body.length);
    if (proposal.bodies.empty()) {
        why = "a proposal needs at least one entry";
        return SPUR_E_INVALID;
    }
    return enqueue(std::move(proposal), why);
}

spur_status Log::enqueue(Proposal proposal, std::string& why) {
    if (!thread_.joinable()) {
        why = "the log is not open";
        return SPUR_E_INVALID;
    }
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(proposal));
    }
    changed_.notify_all();
    return SPUR_OK;
}

void Log::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (stopping_) return;
        // The latency stands for a disk: what gathers meanwhile goes together.
        if (settings_.latency.count() > 0 && changed_.wait_for(lock, settings_.latency, [this] { return stopping_; }))
            return;
        auto batch = std::exchange(queue_, {});
        lock.unlock();
        commit(std::move(batch));
        lock.lock();
    }
}

void Log::commit(std::vector<Proposal> batch) {
    std::vector<spur_state_entry> lent;
    bool want_snapshot = false;
    {
        const std::lock_guard lock(store_->mutex);
        for (auto& proposal : batch)
            for (auto& body : proposal.bodies) {
                store_->bytes += body.size();
                store_->entries.push_back({++store_->last_index, store_->term, std::move(body)});
                const auto& kept = store_->entries.back();  // a deque: it stays where it is
                lent.push_back({{kept.body.data(), kept.body.size()}, kept.index, kept.term});
            }
        ++batches_;
        committed_ += lent.size();
        const auto since = store_->last_index - std::max(store_->snapshot_index, wanted_at_);
        want_snapshot = since >= settings_.snapshot_threshold;
        if (want_snapshot) wanted_at_ = store_->last_index;
    }
    if (!lent.empty()) listener_->committed(listener_, lent.data(), static_cast<std::uint32_t>(lent.size()));
    for (const auto& proposal : batch) outcome(proposal.ticket, SPUR_OK, "");
    if (want_snapshot) listener_->snapshot_wanted(listener_);
}

void Log::outcome(std::uint64_t ticket, spur_status status, const char* text) {
    spur_error error{sizeof(spur_error), status, ""};
    std::strncpy(error.text, text, sizeof error.text - 1);
    listener_->outcome(listener_, ticket, status, &error);
}

spur_status Log::snapshot(std::uint64_t index, const spur_source* source, std::string& why) {
    std::string text;
    std::vector<char> buffer(1 << 16);
    for (;;) {
        std::uint64_t length = 0;
        if (const auto status = source->read(source, buffer.data(), buffer.size(), &length); status != SPUR_OK) {
            why = "the host could not write its snapshot";
            return status < 0 ? status : SPUR_E_IO;
        }
        if (length == 0) break;
        text.append(buffer.data(), length);
    }
    const std::lock_guard lock(store_->mutex);
    if (index == 0 || index > store_->last_index || index < store_->snapshot_index) {
        why = "entry " + std::to_string(index) + " is not one a snapshot can be made of now";
        return SPUR_E_INVALID;
    }
    store_->snapshot = std::move(text);
    store_->snapshot_index = index;
    for (; !store_->entries.empty() && store_->entries.front().index <= index; store_->entries.pop_front())
        store_->bytes -= store_->entries.front().body.size();
    return SPUR_OK;
}

spur_state_status Log::status() const {
    spur_state_status out{};
    const auto copy = [](char(&to)[256], const std::string& text) { to[text.copy(to, sizeof to - 1)] = '\0'; };
    const std::lock_guard lock(store_->mutex);
    out.role = store_->is_open ? SPUR_STATE_LEADER : SPUR_STATE_FOLLOWER;
    out.term = store_->term;
    out.last_index = out.committed_index = store_->last_index;
    out.snapshot_index = store_->snapshot_index;
    out.log_bytes = store_->bytes + (store_->snapshot ? store_->snapshot->size() : 0);
    out.fsyncs = batches_;
    out.entries = committed_;
    copy(out.leader, settings_.self);
    copy(out.self, settings_.self);
    return out;
}

}  // namespace spur::memory
