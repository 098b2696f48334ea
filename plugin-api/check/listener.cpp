// Every call writes down what it brought, under one lock, and wakes whoever waits.
#include "listener.hpp"

namespace spur::check {

class Listener::Turn {
public:
    explicit Turn(Listener& self) : self_(self) {
        if (self.inside_.fetch_add(1) != 0) self.object("the listener was called from two threads at once");
    }
    ~Turn() {
        self_.inside_.fetch_sub(1);
        self_.changed_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    Listener& self_;
};

Listener::Listener(Shape shape) : memory_(shape) {
    listener_ = memory_.one(spur_state_listener{
        .context = this,
        .committed = [](auto* table, auto* entries, auto count) { of(table).committed(entries, count); },
        .outcome = [](auto* table, auto ticket, auto status, auto*) { of(table).note_outcome(ticket, status); },
        .restore = [](auto* table, auto index, auto* snapshot, auto*) { return of(table).restore(index, snapshot); },
        .role =
            [](auto* table, auto role, auto, auto) {
                const Turn turn(of(table));
                const std::scoped_lock hold(of(table).lock_);
                of(table).role_ = role;
            },
        .snapshot_wanted = [](auto* table) { const Turn turn(of(table)); },
        .failed =
            [](auto* table, auto* err) {
                const Turn turn(of(table));
                of(table).object(fmt::format("it failed: {}", err != nullptr ? err->text : "no reason given"));
            }});
}

void Listener::committed(const spur_state_entry* entries, std::uint32_t count) {
    const Turn turn(*this);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (entries[i].index <= last_index())
            object(fmt::format("entry {} was reported committed after entry {}", entries[i].index, last_index()));
        const std::scoped_lock hold(lock_);
        last_index_ = entries[i].index;
        bodies_.emplace_back(static_cast<const char*>(entries[i].body.data), entries[i].body.length);
    }
}

void Listener::note_outcome(std::uint64_t ticket, spur_status status) {
    const Turn turn(*this);
    const std::scoped_lock hold(lock_);
    auto& all = outcomes_[ticket];
    all.push_back(status);
    if (all.size() > 1 && fault_.empty()) fault_ = fmt::format("ticket {} got {} outcomes", ticket, all.size());
}

spur_status Listener::restore(std::uint64_t index, const spur_source* snapshot) {
    const Turn turn(*this);
    std::string text, buffer(1000, '\0');
    for (std::uint64_t length = 1; length != 0;) {
        if (const auto status = snapshot->read(snapshot, buffer.data(), buffer.size(), &length); status != SPUR_OK)
            return status;
        text.append(buffer, 0, length);
    }
    const std::scoped_lock hold(lock_);
    restored_ = std::move(text);
    bodies_.clear();
    last_index_ = index;
    return SPUR_OK;
}

void Listener::wait(const char* otherwise, const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
        std::unique_lock hold(lock_);
        if (!fault_.empty()) throw Failed{fault_};
        require(std::chrono::steady_clock::now() < deadline, "{} (within 20s)", otherwise);
        changed_.wait_for(hold, std::chrono::milliseconds(5));
    }
}

bool Listener::is_leader() const {
    const std::scoped_lock hold(lock_);
    return role_ == SPUR_STATE_LEADER;
}
bool Listener::has_outcomes(std::uint64_t first, std::size_t count) const {
    const std::scoped_lock hold(lock_);
    for (std::size_t i = 0; i < count; ++i)
        if (!outcomes_.contains(first + i)) return false;
    return true;
}
spur_status Listener::outcome(std::uint64_t ticket) const {
    const std::scoped_lock hold(lock_);
    return outcomes_.at(ticket).front();
}
std::vector<std::string> Listener::bodies() const {
    const std::scoped_lock hold(lock_);
    return bodies_;
}
std::uint64_t Listener::last_index() const {
    const std::scoped_lock hold(lock_);
    return last_index_;
}
std::string Listener::restored() const {
    const std::scoped_lock hold(lock_);
    return restored_;
}
void Listener::judge() const {
    const std::scoped_lock hold(lock_);
    if (!fault_.empty()) throw Failed{fault_};
}
void Listener::object(std::string text) {
    const std::scoped_lock hold(lock_);
    if (fault_.empty()) fault_ = std::move(text);
}

}  // namespace spur::check
