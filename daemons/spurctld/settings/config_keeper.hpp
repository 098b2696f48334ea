// Keeps the configuration in force and this controller's own file apart and together. The state knows the digests of
// all configurations that were in force (Cluster::config_digests). A new leader brings in its file only where that was
// never in force: an older one would undo what was changed since. A follower reads its file again whenever a
// configuration comes into force, since files are copied to all controllers before `scontrol reconfigure`; and each
// says in its log when its file is another one.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "core/model/config.hpp"
#include "daemons/spurctld/engine/engine.hpp"

namespace spur::ctld {

// Over what all controllers must agree on: the cluster's section, and who administers it.
Text digest_of(const Config& config);

class ConfigKeeper final : public EngineObserver {
public:
    struct Own {  // what this controller's file says
        ClusterConfig cluster;
        Text digest;
        std::string path;
    };
    struct Hooks {
        std::function<bool(const Cluster&)> may_apply;  // is the file one of this cluster at all?
        std::function<void()> reload;                   // read the file again, not on this thread
        std::function<void(std::string)> log;
    };
    ConfigKeeper(Engine& engine, Own own, Hooks hooks);

    void set(Own own);  // the file was read again
    void compare();     // says so where it is not what is in force [any thread]
    static ApplyConfig command(const Cluster& cluster, const Own& own);  // what brings it into force [engine thread]

    void on_applied(const Cluster& cluster, const Events& events, const planning::Changes& changes,
                    const std::shared_ptr<const planning::ReadModel>& model, bool leads) override;
    void on_leadership(const Cluster& cluster, const Leadership& now) override;

private:
    enum class Standing { in_force, older, never_in_force };
    static Standing standing(const Cluster& cluster, const Own& own);
    Own own() const;
    void bring_in(const Cluster& cluster);
    void tell(const Cluster& cluster, bool leads);

    Engine& engine_;
    Hooks hooks_;
    mutable std::mutex mutex_;  // own_
    Own own_;
    // engine thread only
    std::uint64_t generation_{};
    std::uint32_t version_{};
    std::string told_;  // the last thing, so as not to repeat it
};

}  // namespace spur::ctld
