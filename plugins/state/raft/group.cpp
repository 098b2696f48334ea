// Membership.
#include "group.hpp"

#include <spur/plugin/state.h>

#include <algorithm>

namespace spur::raftlog {
namespace {

constexpr unsigned rounds_between_notes = 20;     // ten seconds
constexpr unsigned ticks_between_questions = 20;  // so for a controller that is down

spur_status to_status(int error) {
    switch (error) {
        case RAFT_NOTLEADER:
            return SPUR_STATE_NOT_LEADER;
        case RAFT_LEADERSHIPLOST:
            return SPUR_STATE_UNKNOWN;
        case RAFT_SHUTDOWN:
        case RAFT_CANCELED:
            return SPUR_E_STOPPED;
        case RAFT_CANTCHANGE:
        case RAFT_BUSY:
            return SPUR_E_BUSY;
        case RAFT_NOTFOUND:
        case RAFT_BADID:
            return SPUR_E_NOT_FOUND;
        case RAFT_NOCONNECTION:
            return SPUR_E_UNAVAILABLE;
        case RAFT_IOERR:
        case RAFT_NOSPACE:
            return SPUR_E_IO;
        default:
            return SPUR_E_INVALID;
    }
}

}  // namespace

// One member in or out. Taking one in is three steps: known to all, caught up and voting, or out again if it cannot.
struct Group::Change {
    enum class Step { add, promote, undo, remove };
    raft_change request{};
    Group* group = nullptr;
    Step step = Step::add;
    Address address;
    std::uint64_t id = 0;
    Done done;
    std::string why_undone;
};

struct Group::Transfer {
    struct raft_transfer request {};
    Group* group = nullptr;
    Done done;
};

Group::Group(const Settings& settings, std::uint64_t id, raft& raft, Handlers handlers)
    : settings_(settings), id_(id), raft_(raft), handlers_(std::move(handlers)) {
    for (const auto& host : settings.hosts)
        if (host.client() != settings.self.client()) others_.push_back(host);
    answered_.assign(others_.size(), false);
}

Group::~Group() = default;

// ---- meeting the others --------------------------------------------------------------------------------------------

Standing Group::standing() const {
    if (!started_) return Standing::fresh;
    if (raft_.log.snapshot.last_index > 0 || raft_last_index(&raft_) > 1) return Standing::established;
    return raft_last_index(&raft_) == 1 ? Standing::founded : Standing::joining;
}

Greeting Group::greeting() const {
    return {.cluster = settings_.cluster_name,
            .id = id_,
            .address = settings_.self.text(),
            .standing = standing(),
            .founders = founders_digest(settings_.hosts)};
}

void Group::met(const Greeting& greeting) { met_[greeting.id] = greeting; }

void Group::seek() {
    seeking_ = true;
    ask_around();
}

void Group::tick() {
    const auto now = standing();
    if (now == Standing::fresh || now == Standing::joining) {
        ask_around();
    } else if (++ticks_ % ticks_between_questions == 1 && std::ranges::count(answered_, false) > 0) {
        ask_around();  // only to learn under which address each member is reached now
    }
    if (raft_state(&raft_) == RAFT_LEADER) take_in_who_waits();
}

void Group::ask_around() {
    if (others_.empty() || awaited_ > 0 || transport_ == nullptr) return;
    answers_.assign(others_.size(), std::nullopt);
    awaited_ = static_cast<unsigned>(others_.size());
    for (std::size_t i = 0; i < others_.size(); ++i)
        transport_->ask(others_[i], [this, i](Outcome<Greeting> answer) {
            if (answer) {
                answers_[i] = *answer;
                answered_[i] = true;
            }
            if (--awaited_ == 0) conclude_round();
        });
}

void Group::conclude_round() {
    if (seeking_) {
        const auto decision = decide_founding(answers_, founders_digest(settings_.hosts));
        if (decision != Decision::wait) {
            seeking_ = false;
            return handlers_.decided(decision);
        }
    }
    const bool joining = standing() == Standing::joining;
    if ((!seeking_ && !joining) || rounds_++ % rounds_between_notes != 2) return;
    if (joining)
        return handlers_.note("waiting for the leader to take us in: is this controller in [controller] hosts there?");
    std::string silent;
    for (std::size_t i = 0; i < others_.size(); ++i)
        if (!answers_[i]) silent += (silent.empty() ? "" : ", ") + others_[i].client();
    handlers_.note(silent.empty()
                       ? "the controllers disagree about [controller] hosts: make it the same on all of them"
                       : fmt::format("waiting for {}: a new group is founded once all have answered", silent));
}

// Controllers that are configured, have nothing and wait: a group that began with one grows this way.
void Group::take_in_who_waits() {
    if (changing_) return;
    for (const auto& other : others_) {
        const auto waiting = met_.find(other.id());
        if (waiting == met_.end() || waiting->second.standing != Standing::joining || find_server(other) != nullptr)
            continue;
        handlers_.note(fmt::format("taking controller {} into the group", other.client()));
        met_.erase(waiting);  // until it says again that it waits
        return add(other, [this, name = other.client()](spur_status status, const std::string& text) {
            handlers_.note(status == SPUR_OK ? fmt::format("controller {} is now a member", name)
                                             : fmt::format("controller {} is not a member yet: {}", name, text));
        });
    }
}

// ---- who is who ----------------------------------------------------------------------------------------------------

std::string Group::client_address(std::uint64_t id, const char* raft_address) const {
    if (id == id_) return settings_.self.client();
    if (transport_ != nullptr)
        if (const auto known = transport_->known_address(id)) return known->client();
    const auto parsed = Address::parse(raft_address);
    return parsed ? parsed->client() : std::string(raft_address);
}

std::vector<Member> Group::members() const {
    std::vector<Member> members;
    for (unsigned i = 0; i < raft_.configuration.n; ++i) {
        const auto& server = raft_.configuration.servers[i];
        members.push_back({server.id, client_address(server.id, server.address), server.role == RAFT_VOTER});
    }
    return members;
}

const raft_server* Group::find_server(const Address& address) const {
    for (unsigned i = 0; i < raft_.configuration.n; ++i) {
        const auto& server = raft_.configuration.servers[i];
        if (server.id == address.id() || client_address(server.id, server.address) == address.client()) return &server;
    }
    return nullptr;
}

raft_configuration Group::founding_configuration() const {
    raft_configuration configuration;
    raft_configuration_init(&configuration);
    auto hosts = settings_.hosts;  // every founder must write down the same record
    std::ranges::sort(hosts, {}, &Address::client);
    for (const auto& host : hosts) {
        const bool is_self = host.client() == settings_.self.client();
        if (raft_configuration_add(&configuration, is_self ? id_ : host.id(), host.text().c_str(), RAFT_VOTER) != 0)
            throw std::bad_alloc();
    }
    return configuration;
}

// ---- changing it ---------------------------------------------------------------------------------------------------

void Group::add(const Address& address, Done done) {
    if (!settings_.listens)
        return done(SPUR_E_UNSUPPORTED,
                    "this controller does not listen for others: set [controller] hosts and restart it");
    if (changing_) return done(SPUR_E_BUSY, "another change of the group is under way");
    auto change = std::make_unique<Change>();
    change->address = address;
    change->id = address.id();
    change->done = std::move(done);
    if (const auto* server = find_server(address)) {
        if (server->role == RAFT_VOTER) return change->done(SPUR_E_INVALID, address.client() + " is already a member");
        change->id = server->id;
        change->step = Change::Step::promote;
    }
    changing_ = true;
    submit(std::move(change));
}

void Group::remove(const Address& address, Done done) {
    if (changing_) return done(SPUR_E_BUSY, "another change of the group is under way");
    const auto* server = find_server(address);
    if (server == nullptr) return done(SPUR_E_NOT_FOUND, address.client() + " is not a member");
    if (raft_.configuration.n == 1) return done(SPUR_E_INVALID, address.client() + " is the only member");
    if (server->id == id_)
        return done(SPUR_E_INVALID,
                    "the leader cannot remove itself: hand leadership over first, then remove it there");
    auto change = std::make_unique<Change>();
    change->step = Change::Step::remove;
    change->address = address;
    change->id = server->id;
    change->done = std::move(done);
    changing_ = true;
    submit(std::move(change));
}

// Starts the step the change is at.
void Group::submit(std::unique_ptr<Change> change) {
    change->group = this;
    change->request.data = change.get();
    const auto callback = [](raft_change* request, int status) {
        std::unique_ptr<Change> owner(static_cast<Change*>(request->data));
        auto* group = owner->group;
        group->on_changed(std::move(owner), status);
    };
    int error = 0;
    auto* request = &change->request;
    switch (change->step) {
        case Change::Step::add:
            error = raft_add(&raft_, request, change->id, change->address.text().c_str(), callback);
            break;
        case Change::Step::promote:
            error = raft_assign(&raft_, request, change->id, RAFT_VOTER, callback);
            break;
        case Change::Step::undo:
        case Change::Step::remove:
            error = raft_remove(&raft_, request, change->id, callback);
            break;
    }
    if (error != 0) return finish(std::move(change), to_status(error), raft_strerror(error));
    change.release();
}

void Group::on_changed(std::unique_ptr<Change> change, int status) {
    using Step = Change::Step;
    if (change->step == Step::undo) return finish(std::move(change), SPUR_E_UNAVAILABLE, change->why_undone);
    if (status == 0 && change->step == Step::add) {
        change->step = Step::promote;
        return submit(std::move(change));
    }
    if (status != 0 && change->step == Step::promote && raft_state(&raft_) == RAFT_LEADER) {
        change->step = Step::undo;
        change->why_undone = fmt::format("{} did not catch up with the log: is it running, with the same key file?",
                                         change->address.client());
        return submit(std::move(change));
    }
    finish(std::move(change), status == 0 ? SPUR_OK : to_status(status), status == 0 ? "" : raft_strerror(status));
}

void Group::finish(std::unique_ptr<Change> change, spur_status status, const std::string& text) {
    changing_ = false;
    change->done(status, text);
}

void Group::transfer(const std::optional<Address>& address, Done done) {
    if (transfer_) return done(SPUR_E_BUSY, "leadership is being handed over already");
    std::uint64_t id = 0;
    if (address) {
        const auto* server = find_server(*address);
        if (server == nullptr || server->role != RAFT_VOTER)
            return done(SPUR_E_NOT_FOUND, address->client() + " is not a voting member");
        if (server->id == id_) return done(SPUR_OK, "");
        id = server->id;
    }
    transfer_ = std::make_unique<Transfer>();
    transfer_->group = this;
    transfer_->done = std::move(done);
    transfer_->request.data = transfer_.get();
    const int error = raft_transfer(&raft_, &transfer_->request, id, [](struct raft_transfer* request) {
        auto* group = static_cast<Transfer*>(request->data)->group;
        const auto owner = std::move(group->transfer_);
        const bool handed_over = raft_state(&group->raft_) != RAFT_LEADER;
        owner->done(handed_over ? SPUR_OK : SPUR_E_UNAVAILABLE,
                    handed_over ? "" : "the other controller did not take over in time; we still lead");
    });
    if (error != 0) {
        const auto owner = std::move(transfer_);
        owner->done(to_status(error),
                    error == RAFT_NOTFOUND ? "there is no other voting member" : raft_strerror(error));
    }
}

}  // namespace spur::raftlog
