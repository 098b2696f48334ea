// Comparing this controller's file with the configuration in force, and bringing it in where it may.
#include "daemons/spurctld/settings/config_keeper.hpp"

#include <algorithm>

#include "core/base/sha256.hpp"
#include "core/store/config_fields.hpp"

namespace spur::ctld {

Text digest_of(const Config& config) {
    std::string bytes;
    archive::Writer out{bytes};
    archive::write_body(out, config.cluster);
    for (const auto* names : {&config.auth.administrators, &config.auth.operators}) {
        out.varint(names->size());
        for (const auto& name : *names) out.sized([&] { out.bytes(name); });
    }
    return Text{to_hex(sha256(bytes))};
}

ConfigKeeper::ConfigKeeper(Engine& engine, Own own, Hooks hooks)
    : engine_{engine}, hooks_{std::move(hooks)}, own_{std::move(own)} {}

void ConfigKeeper::set(Own own) {
    const std::lock_guard lock{mutex_};
    own_ = std::move(own);
}

ConfigKeeper::Own ConfigKeeper::own() const {
    const std::lock_guard lock{mutex_};
    return own_;
}

void ConfigKeeper::compare() {
    engine_.post([this] { tell(engine_.cluster(), engine_.leadership().is_leader); });
}

// The digest goes along once every controller understands it, and so do the rules that came with it.
ApplyConfig ConfigKeeper::command(const Cluster& cluster, const Own& own) {
    ApplyConfig command{own.cluster, own.digest};
    if (cluster.state_version() >= 2) return command;
    command.digest = {};
    command.config.policies.max_stored_per_user_mib = 0;
    command.config.policies.private_data = 0;
    return command;
}

ConfigKeeper::Standing ConfigKeeper::standing(const Cluster& cluster, const Own& own) {
    const auto& known = cluster.config_digests();
    if (cluster.state_version() < 2 || known.empty())
        return cluster.state_version() < 2 && cluster.config() == command(cluster, own).config
                   ? Standing::in_force
                   : Standing::never_in_force;
    if (known.back() == own.digest) return Standing::in_force;
    return std::ranges::find(known, own.digest) == known.end() ? Standing::never_in_force : Standing::older;
}

void ConfigKeeper::on_applied(const Cluster& cluster, const Events&, const planning::Changes&,
                              const std::shared_ptr<const planning::ReadModel>&, bool leads) {
    const bool is_new = std::exchange(generation_, cluster.config_generation()) != cluster.config_generation();
    const bool has_digests = std::exchange(version_, cluster.state_version()) < 2 && version_ >= 2;
    if (!engine_.is_current()) return;  // what the log held at the start
    if (leads && has_digests) bring_in(cluster);
    if (!leads && is_new) hooks_.reload();
}

void ConfigKeeper::on_leadership(const Cluster& cluster, const Leadership& now) {
    generation_ = cluster.config_generation();
    version_ = cluster.state_version();
    if (now.is_leader)
        bring_in(cluster);
    else if (!now.leader.empty())
        tell(cluster, false);
}

// A controller that is alone has the only file there is: whatever it says is what its administrator wants.
void ConfigKeeper::bring_in(const Cluster& cluster) {
    if (!hooks_.may_apply(cluster)) return;
    const auto mine = own();
    const auto where = standing(cluster, mine);
    if (where == Standing::in_force) return;
    const auto members = engine_.log().members();
    const bool is_alone = members && members->size() <= 1;
    if (where == Standing::older && !is_alone) return tell(cluster, true);
    engine_.propose(command(cluster, mine), [this](const Result<Events>& result) {
        if (!result) hooks_.log(fmt::format("the configuration could not be applied: {}", result.error().text));
    });
}

void ConfigKeeper::tell(const Cluster& cluster, bool leads) {
    const auto mine = own();
    const auto where = standing(cluster, mine);
    std::string text;
    if (where == Standing::older)
        text = fmt::format(
            "{} is older than the configuration in force, which stays; copy the present file here{}, or bring this one "
            "back with scontrol reconfigure",
            mine.path, leads ? "" : " and send this controller SIGHUP");
    else if (where == Standing::never_in_force && !leads && cluster.state_version() >= 2)
        text = fmt::format(
            "{} is not the configuration in force; run scontrol reconfigure if it is the newer one, or copy the "
            "present file here and send this controller SIGHUP",
            mine.path);
    if (std::exchange(told_, text) != text && !text.empty()) hooks_.log(text);
}

}  // namespace spur::ctld
