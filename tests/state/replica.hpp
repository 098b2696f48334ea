// A replica: a state plugin's instance with a listener whose state is simply the list of entries it heard.
#pragma once

#include <spur/plugin/state.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/test_host.hpp"

namespace spur::test {

struct Fate {
    spur_status status = SPUR_OK;
    std::string text;
    unsigned times = 0;
};

class Replica {
public:
    static constexpr auto patience = std::chrono::seconds(30);

    explicit Replica(const std::string& plugin = "state_raft");
    ~Replica();

    TestHost& host() { return host_; }
    TestOptions options;

    // create() and open(); the answer of whichever failed.
    TestError open();
    void close();
    bool is_open() const { return instance_.has_value(); }

    // ---- asking ----
    TestError propose(const std::vector<std::string>& entries, std::uint64_t ticket);
    TestError propose(const std::string& entry, std::uint64_t ticket) { return propose(std::vector{entry}, ticket); }
    // Proposes and waits for the outcome.
    TestError commit(const std::vector<std::string>& entries);
    TestError commit(const std::string& entry) { return commit(std::vector{entry}); }
    TestError barrier();
    TestError snapshot();                        // of the state now
    TestError snapshot_at(std::uint64_t index);  // as the state was then
    TestError add_member(const std::string& address);
    TestError remove_member(const std::string& address);
    TestError transfer(const std::string& address);
    spur_state_status status() const;
    std::vector<std::pair<std::string, bool>> members() const;  // address, voter

    // ---- what was heard ----
    std::vector<std::string> entries() const;
    std::size_t entry_count() const;
    std::uint64_t last_index() const;
    std::map<std::uint64_t, Fate> fates() const;
    bool is_leader() const;
    std::string leader() const;
    std::string complaint() const;  // the first law that was broken; empty if none was
    std::string failure() const;    // what failed() said
    unsigned snapshots_wanted() const;
    unsigned restores() const;

    // Waits for `condition`; false if it does not come true in time.
    bool wait(const std::function<bool()>& condition) const;

private:
    struct Entry {
        std::uint64_t index;
        std::string body;
    };
    void set_up_listener();
    void heard(const spur_state_entry* entries, std::uint32_t count);
    spur_status restored(std::uint64_t index, const spur_source* source);
    TestError await(TestError accepted, std::uint64_t ticket);
    template <class Call>
    TestError call(Call&& body) const;

    std::string plugin_;
    TestHost host_;
    std::optional<TestInstance> instance_;
    const spur_state_ops* ops_ = nullptr;
    spur_state_listener listener_{};

    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    std::vector<Entry> entries_;
    std::uint64_t base_index_ = 0;
    std::uint64_t last_index_ = 0;
    std::map<std::uint64_t, Fate> fates_;
    std::uint64_t next_ticket_ = 1'000'000'000;
    std::uint32_t role_ = 0;
    std::uint64_t term_ = 0;
    std::string leader_;
    std::string complaint_;
    std::string failure_;
    unsigned wanted_ = 0;
    unsigned restores_ = 0;
};

}  // namespace spur::test
