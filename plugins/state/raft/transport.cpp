// Listening, dialling, and the callbacks libraft expects.
#include "transport.hpp"

#include <netdb.h>

#include <algorithm>
#include <cstring>

namespace spur::raftlog {

// Looks an address up and tries what it leads to, one after the other.
class Transport::Dial {
public:
    Dial(Transport& transport, const Address& whom, Purpose purpose, Connected connected)
        : transport_(transport), whom_(whom), purpose_(purpose), connected_(std::move(connected)) {
        lookup_.data = this;
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        const auto port = fmt::format("{}", whom_.raft_port);
        const int error = uv_getaddrinfo(
            transport.loop_, &lookup_,
            [](uv_getaddrinfo_t* request, int status, addrinfo* found) {
                static_cast<Dial*>(request->data)->on_found(status, found);
            },
            whom_.host.c_str(), port.c_str(), &hints);
        if (error != 0) throw std::bad_alloc();
        looking_ = true;
    }
    ~Dial() { uv_freeaddrinfo(found_); }
    void cancel() {
        if (looking_) uv_cancel(reinterpret_cast<uv_req_t*>(&lookup_));
    }

private:
    void on_found(int status, addrinfo* found) {
        looking_ = false;
        found_ = next_ = found;
        if (status != 0) last_ = {SPUR_E_UNAVAILABLE, fmt::format("{} is not a known host", whom_.host)};
        try_next();
    }
    void try_next() {
        if (next_ == nullptr || transport_.closing_) return finish(std::unexpected(last_), nullptr);
        const auto* to = std::exchange(next_, next_->ai_next)->ai_addr;
        auto& link = transport_.make_link(Side::client, purpose_, [this](Link& used, Outcome<Greeting> greeting) {
            if (!greeting) {
                last_ = greeting.error();
                return try_next();
            }
            finish(std::move(greeting), &used);
        });
        link.connect(to);
    }
    void finish(Outcome<Greeting> greeting, Link* link) {
        connected_(std::move(greeting), link);
        auto& transport = transport_;
        transport.dials_.remove_if([this](const auto& dial) { return dial.get() == this; });
        transport.maybe_closed();
    }

    Transport& transport_;
    Address whom_;
    Purpose purpose_;
    Connected connected_;
    uv_getaddrinfo_t lookup_{};
    bool looking_ = false;
    addrinfo* found_ = nullptr;
    addrinfo* next_ = nullptr;
    Fault last_{SPUR_E_UNAVAILABLE, "no address"};
};

Transport::Transport(uv_loop_t* loop, const Key& key, std::string cluster, Handlers handlers)
    : loop_(loop), secure_(key), cluster_(std::move(cluster)), handlers_(std::move(handlers)) {
    interface_.impl = this;  // `data` is libraft's
    interface_.init = [](raft_uv_transport*, raft_id, const char*) { return 0; };
    interface_.listen = [](raft_uv_transport* transport, raft_uv_accept_cb accepted) {
        static_cast<Transport*>(transport->impl)->accepted_ = accepted;
        return 0;
    };
    interface_.connect = [](raft_uv_transport* transport, raft_uv_connect* request, raft_id id, const char* address,
                            raft_uv_connect_cb connected) {
        static_cast<Transport*>(transport->impl)->connect_raft(request, id, address, connected);
        return 0;
    };
    interface_.close = [](raft_uv_transport* transport, raft_uv_transport_close_cb closed) {
        static_cast<Transport*>(transport->impl)->close([transport, closed] { closed(transport); });
    };
}

Transport::~Transport() = default;

Outcome<void> Transport::listen(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &found); error != 0)
        return fault(SPUR_E_INVALID, "cannot listen for Raft on {}: {}", join(host, port), gai_strerror(error));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> address(found, freeaddrinfo);

    uv_tcp_init(loop_, &listener_);
    listener_.data = this;
    listening_ = true;
    int error = uv_tcp_bind(&listener_, address->ai_addr, 0);
    if (error == 0)
        error = uv_listen(reinterpret_cast<uv_stream_t*>(&listener_), 64, [](uv_stream_t* server, int status) {
            if (status == 0) static_cast<Transport*>(server->data)->on_connection();
        });
    if (error != 0)
        return fault(SPUR_E_UNAVAILABLE,
                     "cannot listen for Raft on {}: {}; choose another port with listen in "
                     "[plugin.\"state/raft\"]",
                     join(host, port), uv_strerror(error));
    return {};
}

std::optional<Address> Transport::known_address(std::uint64_t id) const {
    const auto found = known_.find(id);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
}

Link& Transport::make_link(Side side, Purpose purpose, std::function<void(Link&, Outcome<Greeting>)> greeted) {
    Link::Handlers handlers;
    handlers.own_greeting = [this, purpose] {
        auto greeting = handlers_.own_greeting();
        greeting.purpose = purpose;
        return greeting;
    };
    handlers.greeted = [this, greeted = std::move(greeted)](Link& link, Outcome<Greeting> greeting) {
        if (greeting) {
            if (auto fine = check(*greeting); !fine) greeting = std::unexpected(fine.error());
        }
        if (greeting) {
            if (const auto address = Address::parse(greeting->address)) known_[greeting->id] = *address;
            handlers_.met(*greeting);
        } else if (!link.is_closing()) {
            link.close(greeting.error());
        }
        greeted(link, std::move(greeting));
    };
    handlers.gone = [this](Link& link) {
        links_.remove_if([&link](const auto& one) { return one.get() == &link; });
        maybe_closed();
    };
    return *links_.emplace_back(std::make_unique<Link>(loop_, secure_, side, std::move(handlers)));
}

Outcome<void> Transport::check(const Greeting& greeting) const {
    if (greeting.cluster != cluster_)
        return fault(SPUR_E_DENIED, "{} belongs to cluster \"{}\", we to \"{}\"", greeting.address, greeting.cluster,
                     cluster_);
    if (greeting.id == handlers_.own_greeting().id)
        return fault(SPUR_E_DENIED, "{} claims to be us: was our data_dir copied to it?", greeting.address);
    return {};
}

namespace {

std::string peer_of(uv_tcp_t* socket) {
    sockaddr_storage peer{};
    int length = sizeof peer;
    char host[NI_MAXHOST] = "";
    char port[NI_MAXSERV] = "";
    if (uv_tcp_getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length) != 0 ||
        getnameinfo(reinterpret_cast<sockaddr*>(&peer), static_cast<socklen_t>(length), host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "an unknown address";
    return fmt::format("{} port {}", host, port);
}

}  // namespace

void Transport::on_connection() {
    const auto unproven = std::ranges::count_if(links_, [](const auto& link) { return !link->has_greeted(); });
    const auto from = std::make_shared<std::string>("an unknown address");
    auto& link = make_link(Side::server, Purpose::ask, [this, from](Link& greeted, const Outcome<Greeting>& greeting) {
        on_visitor(greeted, greeting, *from);
    });
    if (uv_accept(reinterpret_cast<uv_stream_t*>(&listener_), reinterpret_cast<uv_stream_t*>(link.socket())) != 0)
        return link.close({SPUR_E_IO, "it was gone before it was let in"});
    *from = peer_of(link.socket());
    if (static_cast<std::size_t>(unproven) >= most_unproven || links_.size() > most_links)
        return link.close({SPUR_E_BUSY, "too many are waiting to prove themselves"});
    link.begin();
}

void Transport::on_visitor(Link& link, const Outcome<Greeting>& greeting, const std::string& from) {
    if (closing_) return;
    if (!greeting)
        return complain(about_visitors_,
                        fmt::format("turned away a connection from {}: {}", from, greeting.error().text));
    if (greeting->purpose == Purpose::ask) return;  // it has our greeting and hangs up itself, or its patience ends
    if (accepted_ == nullptr) return link.close({SPUR_E_UNAVAILABLE, "not ready yet"});
    const auto stream = link.hand_over();
    if (!stream) return link.close(stream.error());
    accepted_(&interface_, greeting->id, greeting->address.c_str(), *stream);
}

void Transport::dial(const Address& whom, Purpose purpose, Connected connected) {
    dials_.push_back(std::make_unique<Dial>(*this, whom, purpose, std::move(connected)));
}

void Transport::ask(const Address& whom, std::function<void(Outcome<Greeting>)> answer) {
    dial(whom, Purpose::ask, [answer = std::move(answer)](Outcome<Greeting> greeting, Link* link) {
        if (link != nullptr) link->close({SPUR_E_STOPPED, "asked"});
        answer(std::move(greeting));
    });
}

void Transport::connect_raft(raft_uv_connect* request, std::uint64_t id, const char* address,
                             raft_uv_connect_cb callback) {
    request->cb = callback;
    const auto parsed = Address::parse(address);
    const auto target = known_address(id).value_or(parsed.value_or(Address{}));
    dial(target, Purpose::raft, [this, request, id, target](Outcome<Greeting> greeting, Link* link) {
        if (greeting && greeting->id != id)
            greeting = fault(SPUR_E_DENIED, "another member ({}) answers there", greeting->address);
        Outcome<uv_stream_t*> stream = greeting ? link->hand_over() : std::unexpected(greeting.error());
        if (stream) return request->cb(request, *stream, 0);
        if (link != nullptr) link->close(stream.error());
        if (!closing_ && stream.error().code == SPUR_E_DENIED)
            complain(about_peers_, fmt::format("cannot reach controller {}: {}", target.client(), stream.error().text));
        request->cb(request, nullptr, closing_ ? RAFT_CANCELED : RAFT_NOCONNECTION);
    });
}

void Transport::complain(Ration& ration, const std::string& text) {
    const auto now = uv_now(loop_);
    if (ration.last_ms != 0 && now - ration.last_ms < 10'000) {
        ++ration.withheld;
        return;
    }
    ration.last_ms = now;
    const auto withheld = std::exchange(ration.withheld, 0);
    handlers_.warning(withheld == 0 ? text : fmt::format("{} (and {} more like it)", text, withheld));
}

void Transport::close(std::function<void()> closed) {
    closing_ = true;
    closed_ = std::move(closed);
    for (const auto& dial : dials_) dial->cancel();
    for (const auto& link : links_) link->close({SPUR_E_STOPPED, "stopping"});
    // A handle of our own, so that `closed` is never called from within this call.
    if (!listening_) uv_tcp_init(loop_, &listener_);
    listener_.data = this;
    listening_ = true;
    uv_close(reinterpret_cast<uv_handle_t*>(&listener_), [](uv_handle_t* handle) {
        auto* transport = static_cast<Transport*>(handle->data);
        transport->listening_ = false;
        transport->maybe_closed();
    });
}

void Transport::maybe_closed() {
    if (!closing_ || listening_ || !links_.empty() || !dials_.empty() || !closed_) return;
    std::exchange(closed_, {})();
}

}  // namespace spur::raftlog
