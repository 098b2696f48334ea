// Who is in the group: founding it, taking members in, letting them go, handing leadership over.
//
// Lives on the loop thread. Addresses are as clients use them; see address.hpp.
#pragma once

#include <spur/plugin/abi.h>
#include "libraft.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "founding.hpp"
#include "settings.hpp"
#include "transport.hpp"

namespace spur::raftlog {

struct Member {
    std::uint64_t id = 0;
    std::string address;
    bool voter = false;
};

class Group {
public:
    using Done = std::function<void(spur_status status, const std::string& text)>;
    struct Handlers {
        std::function<void(Decision)> decided;  // once, after seek()
        std::function<void(const std::string& text)> note;
    };

    Group(const Settings& settings, std::uint64_t id, raft& raft, Handlers handlers);
    ~Group();
    void use(Transport* transport) { transport_ = transport; }

    void seek();  // we have nothing: found or join?
    bool is_seeking() const { return seeking_; }
    void started() { started_ = true; }
    bool has_started() const { return started_; }
    Greeting greeting() const;
    void met(const Greeting& greeting);
    void tick();

    std::vector<Member> members() const;
    std::string client_address(std::uint64_t id, const char* raft_address) const;
    raft_configuration founding_configuration() const;  // the caller closes it

    void add(const Address& address, Done done);
    void remove(const Address& address, Done done);
    void transfer(const std::optional<Address>& address, Done done);

private:
    struct Change;
    struct Transfer;

    Standing standing() const;
    void ask_around();
    void conclude_round();
    void take_in_who_waits();
    const raft_server* find_server(const Address& address) const;
    void submit(std::unique_ptr<Change> change);
    void on_changed(std::unique_ptr<Change> change, int status);
    void finish(std::unique_ptr<Change> change, spur_status status, const std::string& text);

    const Settings& settings_;
    std::uint64_t id_;
    raft& raft_;
    Handlers handlers_;
    Transport* transport_ = nullptr;
    std::vector<Address> others_;
    bool seeking_ = false;
    bool started_ = false;
    bool changing_ = false;
    std::map<std::uint64_t, Greeting> met_;
    std::vector<std::optional<Greeting>> answers_;  // of this round, in the order of others_
    std::vector<bool> answered_;                    // ever
    unsigned awaited_ = 0;
    unsigned ticks_ = 0;
    unsigned rounds_ = 0;
    std::unique_ptr<Transfer> transfer_;
};

}  // namespace spur::raftlog
