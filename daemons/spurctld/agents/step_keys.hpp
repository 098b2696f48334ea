// What a leader puts into the state when it begins to lead: the mark of its era, and the public half of the key it
// signs the credentials of steps with.
//
// Each controller has a key of its own, in a file that outlives it; the secret half never leaves the machine. The
// public halves of all leaders so far are in the state, so agents accept what an earlier one has signed. A key that is
// old is replaced by a new one.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "daemons/common/sign/signing_key.hpp"
#include "daemons/spurctld/engine/engine.hpp"

namespace spur::ctld {

class StepKeys final : public EngineObserver {
public:
    using Log = std::function<void(std::string)>;
    // `directory`: where the key is kept; empty: nowhere.
    StepKeys(Engine& engine, const std::string& directory, Log log);

    Result<void> open();                              // once, before the engine starts
    void set_lifetime(std::chrono::seconds longest);  // [any thread] 0: for ever

    // A SignedCredential around `body`. [any thread]
    Result<std::string> sign(std::string body) const;

    void on_applied(const Cluster& cluster, const Events& events, const planning::Changes& changes,
                    const std::shared_ptr<const planning::ReadModel>& model, bool leads) override;
    void on_leadership(const Cluster& cluster, const Leadership& now) override;

private:
    void announce(const Cluster& cluster);
    void replace_if_old();
    void replaced(const sign::SigningKey& fresh);

    Engine& engine_;
    std::string file_;
    Log log_;
    mutable std::mutex mutex_;
    std::optional<sign::SigningKey> key_;
    std::chrono::system_clock::time_point made_{};
    std::chrono::seconds lifetime_{0};
    bool leads_{false}, announced_{false}, replacing_{false};  // [engine thread]
};

}  // namespace spur::ctld
