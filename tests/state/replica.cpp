// The listener's side of the contract, with its laws checked at every call.
#include "replica.hpp"

#include <cstring>

namespace spur::test {
namespace {

std::string lines_of(const std::vector<std::string>& entries) {
    std::string text;
    for (const auto& entry : entries) {
        const auto length = static_cast<std::uint32_t>(entry.size());
        text.append(reinterpret_cast<const char*>(&length), sizeof length);
        text += entry;
    }
    return text;
}

std::vector<std::string> entries_of(std::string_view text) {
    std::vector<std::string> entries;
    while (text.size() >= 4) {
        std::uint32_t length = 0;
        std::memcpy(&length, text.data(), sizeof length);
        entries.emplace_back(text.substr(4, length));
        text.remove_prefix(4 + length);
    }
    return entries;
}

struct TextSource {
    explicit TextSource(std::string content) : text(std::move(content)) {
        source = {sizeof source, 0, this,
                  [](const spur_source* self, void* buffer, std::uint64_t capacity, std::uint64_t* length) {
                      auto& from = *static_cast<TextSource*>(self->context);
                      // Odd portions on purpose: a source may give less than it was asked for.
                      *length = std::min<std::uint64_t>({capacity, from.text.size() - from.used, 70'001});
                      std::memcpy(buffer, from.text.data() + from.used, *length);
                      from.used += *length;
                      return SPUR_OK;
                  }};
    }
    std::string text;
    std::size_t used = 0;
    spur_source source{};
};

}  // namespace

Replica::Replica(const std::string& plugin) : plugin_(plugin) { set_up_listener(); }

Replica::~Replica() { close(); }

void Replica::set_up_listener() {
    listener_ = {};
    listener_.size = sizeof listener_;
    listener_.context = this;
    listener_.committed = [](const spur_state_listener* self, const spur_state_entry* entries, std::uint32_t count) {
        static_cast<Replica*>(self->context)->heard(entries, count);
    };
    listener_.outcome = [](const spur_state_listener* self, std::uint64_t ticket, spur_status status,
                           const spur_error* err) {
        auto& replica = *static_cast<Replica*>(self->context);
        const std::lock_guard lock(replica.mutex_);
        auto& fate = replica.fates_[ticket];
        fate.status = status;
        fate.text = err == nullptr ? "" : err->text;
        if (++fate.times > 1) replica.complaint_ = "a proposal got two outcomes";
        replica.changed_.notify_all();
    };
    listener_.restore = [](const spur_state_listener* self, std::uint64_t index, const spur_source* source,
                           spur_error*) { return static_cast<Replica*>(self->context)->restored(index, source); };
    listener_.role = [](const spur_state_listener* self, std::uint32_t role, std::uint64_t term, spur_str leader) {
        auto& replica = *static_cast<Replica*>(self->context);
        const std::lock_guard lock(replica.mutex_);
        if (term < replica.term_) replica.complaint_ = "the term went back";
        replica.role_ = role;
        replica.term_ = term;
        replica.leader_.assign(leader.data, leader.length);
        replica.changed_.notify_all();
    };
    listener_.snapshot_wanted = [](const spur_state_listener* self) {
        auto& replica = *static_cast<Replica*>(self->context);
        const std::lock_guard lock(replica.mutex_);
        ++replica.wanted_;
        replica.changed_.notify_all();
    };
    listener_.failed = [](const spur_state_listener* self, const spur_error* err) {
        auto& replica = *static_cast<Replica*>(self->context);
        const std::lock_guard lock(replica.mutex_);
        if (!replica.failure_.empty()) replica.complaint_ = "failed() was called twice";
        replica.failure_ = err->text;
        replica.changed_.notify_all();
    };
}

void Replica::heard(const spur_state_entry* entries, std::uint32_t count) {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (entries[i].index <= last_index_) complaint_ = "an entry came twice or out of order";
        last_index_ = entries[i].index;
        entries_.push_back(
            {entries[i].index, std::string(static_cast<const char*>(entries[i].body.data), entries[i].body.length)});
    }
    changed_.notify_all();
}

spur_status Replica::restored(std::uint64_t index, const spur_source* source) {
    std::string text;
    std::vector<char> buffer(50'000);
    for (;;) {
        std::uint64_t length = 0;
        if (const auto status = source->read(source, buffer.data(), buffer.size(), &length); status != SPUR_OK)
            return status;
        if (length == 0) break;
        text.append(buffer.data(), length);
    }
    const std::lock_guard lock(mutex_);
    entries_.clear();
    for (auto& entry : entries_of(text)) entries_.push_back({0, std::move(entry)});
    base_index_ = last_index_ = index;
    ++restores_;
    changed_.notify_all();
    return SPUR_OK;
}

TestError Replica::open() {
    {
        const std::lock_guard lock(mutex_);
        entries_.clear();
        fates_.clear();
        base_index_ = last_index_ = term_ = 0;
        role_ = 0;
        leader_.clear();
        failure_.clear();
        wanted_ = restores_ = 0;
    }
    auto instance = TestPlugin::load(spur_plugin_path(plugin_)).create(host_, options);
    if (!instance) return instance.error();
    instance_.emplace(std::move(instance));
    ops_ = instance_->query<spur_state_ops>(SPUR_STATE_IFACE);
    auto opened = call([&](spur_error* err) { return ops_->open(instance_->get(), &listener_, never_stopped(), err); });
    if (opened.code != SPUR_OK) close();
    return opened;
}

void Replica::close() { instance_.reset(); }

template <class Call>
TestError Replica::call(Call&& body) const {
    spur_error error{sizeof(spur_error), SPUR_OK, ""};
    const auto status = body(&error);
    return {status, error.text};
}

TestError Replica::propose(const std::vector<std::string>& entries, std::uint64_t ticket) {
    std::vector<spur_state_entry> records;
    for (const auto& entry : entries) records.push_back({{entry.data(), entry.size()}, 0, 0});
    return call([&](spur_error* err) {
        return ops_->propose(instance_->get(), records.data(), static_cast<std::uint32_t>(records.size()), ticket, err);
    });
}

TestError Replica::await(TestError accepted, std::uint64_t ticket) {
    if (accepted.code != SPUR_OK) return accepted;
    if (!wait([&] { return fates().contains(ticket); })) return {SPUR_E_BUSY, "no outcome in time"};
    const std::lock_guard lock(mutex_);
    return {fates_[ticket].status, fates_[ticket].text};
}

TestError Replica::commit(const std::vector<std::string>& entries) {
    const auto ticket = next_ticket_++;
    return await(propose(entries, ticket), ticket);
}

TestError Replica::barrier() {
    const auto ticket = next_ticket_++;
    return await(call([&](spur_error* err) { return ops_->barrier(instance_->get(), ticket, err); }), ticket);
}

TestError Replica::snapshot() { return snapshot_at(last_index()); }

TestError Replica::snapshot_at(std::uint64_t index) {
    std::vector<std::string> state;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& entry : entries_)
            if (entry.index <= index) state.push_back(entry.body);
    }
    TextSource source(lines_of(state));
    return call([&](spur_error* err) {
        return ops_->snapshot(instance_->get(), index, &source.source, never_stopped(), err);
    });
}

TestError Replica::add_member(const std::string& address) {
    const auto ticket = next_ticket_++;
    const spur_str text{address.data(), static_cast<std::uint32_t>(address.size()), 0};
    return await(call([&](spur_error* err) { return ops_->add_member(instance_->get(), text, ticket, err); }), ticket);
}

TestError Replica::remove_member(const std::string& address) {
    const auto ticket = next_ticket_++;
    const spur_str text{address.data(), static_cast<std::uint32_t>(address.size()), 0};
    return await(call([&](spur_error* err) { return ops_->remove_member(instance_->get(), text, ticket, err); }),
                 ticket);
}

TestError Replica::transfer(const std::string& address) {
    const auto ticket = next_ticket_++;
    const spur_str text{address.data(), static_cast<std::uint32_t>(address.size()), 0};
    return await(call([&](spur_error* err) { return ops_->transfer(instance_->get(), text, ticket, err); }), ticket);
}

spur_state_status Replica::status() const {
    spur_state_status status{};
    status.size = sizeof status;
    call([&](spur_error* err) { return ops_->status(instance_->get(), &status, err); });
    return status;
}

std::vector<std::pair<std::string, bool>> Replica::members() const {
    std::vector<std::pair<std::string, bool>> members;
    call([&](spur_error* err) {
        return ops_->members(
            instance_->get(), &members,
            [](void* context, const spur_state_member* member) {
                static_cast<decltype(members)*>(context)->emplace_back(
                    std::string(member->address.data, member->address.length), member->voter != 0);
            },
            err);
    });
    return members;
}

std::vector<std::string> Replica::entries() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> bodies;
    for (const auto& entry : entries_) bodies.push_back(entry.body);
    return bodies;
}

std::size_t Replica::entry_count() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

std::uint64_t Replica::last_index() const {
    const std::lock_guard lock(mutex_);
    return last_index_;
}

std::map<std::uint64_t, Fate> Replica::fates() const {
    const std::lock_guard lock(mutex_);
    return fates_;
}

bool Replica::is_leader() const {
    const std::lock_guard lock(mutex_);
    return role_ == SPUR_STATE_LEADER;
}

std::string Replica::leader() const {
    const std::lock_guard lock(mutex_);
    return leader_;
}

std::string Replica::complaint() const {
    const std::lock_guard lock(mutex_);
    return complaint_;
}

std::string Replica::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

unsigned Replica::snapshots_wanted() const {
    const std::lock_guard lock(mutex_);
    return wanted_;
}

unsigned Replica::restores() const {
    const std::lock_guard lock(mutex_);
    return restores_;
}

bool Replica::wait(const std::function<bool()>& condition) const {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::unique_lock lock(mutex_);
    // The condition may use the public functions, which lock for themselves, so it is asked without the lock.
    for (;;) {
        lock.unlock();
        const bool met = condition();
        lock.lock();
        if (met) return true;
        if (std::chrono::steady_clock::now() > deadline) return false;
        changed_.wait_for(lock, std::chrono::milliseconds(10));
    }
}

}  // namespace spur::test
