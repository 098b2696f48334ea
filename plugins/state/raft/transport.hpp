// How controllers reach each other: the raft_uv_transport libraft asks for connections, and questions of our own.
#pragma once

#include "libraft.hpp"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "address.hpp"
#include "link.hpp"

namespace spur::raftlog {

class Transport {
public:
    struct Handlers {
        std::function<Greeting()> own_greeting;                // purpose is filled in by us
        std::function<void(const Greeting&)> met;              // somebody proved itself
        std::function<void(const std::string& text)> warning;  // for the operator; already rationed
    };

    Transport(uv_loop_t* loop, const Key& key, std::string cluster, Handlers handlers);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    Outcome<void> listen(const std::string& host, std::uint16_t port);
    // The address under which a member announced itself, which may be newer than the one in Raft's configuration.
    std::optional<Address> known_address(std::uint64_t id) const;
    void ask(const Address& whom, std::function<void(Outcome<Greeting>)> answer);
    raft_uv_transport* for_raft() { return &interface_; }
    void close(std::function<void()> closed);

private:
    class Dial;
    using Connected = std::function<void(Outcome<Greeting>, Link*)>;

    static constexpr std::size_t most_unproven = 32;
    static constexpr std::size_t most_links = 256;

    void on_connection();
    void on_visitor(Link& link, const Outcome<Greeting>& greeting, const std::string& from);
    Outcome<void> check(const Greeting& greeting) const;
    Link& make_link(Side side, Purpose purpose, std::function<void(Link&, Outcome<Greeting>)> greeted);
    void dial(const Address& whom, Purpose purpose, Connected connected);
    void connect_raft(raft_uv_connect* request, std::uint64_t id, const char* address, raft_uv_connect_cb callback);
    struct Ration {  // one line in ten seconds
        std::uint64_t last_ms = 0;
        unsigned withheld = 0;
    };
    void complain(Ration& ration, const std::string& text);
    void maybe_closed();

    uv_loop_t* loop_;
    SecureContext secure_;
    std::string cluster_;
    Handlers handlers_;
    raft_uv_transport interface_{};
    raft_uv_accept_cb accepted_ = nullptr;
    uv_tcp_t listener_{};
    bool listening_ = false;
    std::list<std::unique_ptr<Link>> links_;
    std::list<std::unique_ptr<Dial>> dials_;
    std::map<std::uint64_t, Address> known_;
    bool closing_ = false;
    std::function<void()> closed_;
    Ration about_visitors_;
    Ration about_peers_;
};

}  // namespace spur::raftlog
