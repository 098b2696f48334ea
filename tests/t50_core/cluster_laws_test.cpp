// Laws of the state machine, over random commands: never oversubscribe, replay equals original, a refusal changes
// nothing, a loaded snapshot goes on as if nothing had happened.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "core/store/codec.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "tests/support/cluster_builder.hpp"

namespace spur {
namespace {

using namespace spur::testing;

// A tape of random numbers turned into commands, most of which make sense for the cluster as it is.
class Commands {
public:
    explicit Commands(std::vector<std::uint32_t> tape) : tape_{std::move(tape)} {}
    bool done() const { return position_ >= tape_.size(); }

    Stamped<Command> next(const Cluster& cluster) {
        now_ += pick(30);
        return {now_, choose(cluster)};
    }

    static ClusterConfig config(std::uint32_t variant) {
        ClusterConfig config;
        config.cluster_name = "laws";
        NodeConfig small;
        for (const auto* name : {"n1", "n2", "n3"}) small.names.emplace_back(name);
        small.topology = {1, 1, 4, 2};
        small.cpus = 8;
        small.memory_mib = 1000;
        NodeConfig big;
        for (const auto* name : {"g1", "g2"}) big.names.emplace_back(name);
        big.topology = {1, 2, 4, 1};
        big.cpus = 8;
        big.memory_mib = 4000;
        big.gres = {{"gpu", "a", 2, 0, true}, {"gpu", "b", 2, 2, true}, {"shard", "", 8, 0, false}};
        if (variant % 4 == 1) small.memory_mib = 1200;
        config.nodes = {small, big};
        if (variant % 4 == 2) config.nodes.pop_back();
        Partition main;
        main.name = "main";
        main.node_text = "ALL";
        main.is_default = true;
        main.default_time_min = 5;
        Partition shared;
        shared.name = "shared";
        shared.node_text = "n[1-2]";
        shared.oversubscribe = OverSubscribe::force;
        shared.oversubscribe_jobs = 2;
        config.partitions = {main, shared};
        config.licenses = {{"lic", 3}};
        config.policies.min_job_age_s = 200;
        config.policies.max_array_size = 50;
        config.policies.requeue_exit = {7};
        config.policies.keep_outbox = true;
        config.policies.enforce = variant % 4 == 3 ? enforce_flag::limits : 0;
        return config;
    }

private:
    std::uint32_t raw() { return position_ < tape_.size() ? tape_[position_++] : (++position_, 0); }
    std::uint32_t pick(std::uint32_t below) { return below ? raw() % below : 0; }
    bool chance(std::uint32_t in) { return pick(in) == 0; }

    JobId any_job(const Cluster& cluster) {
        const auto& jobs = cluster.jobs();
        if (jobs.empty() || chance(20)) return JobId{pick(10)};
        return std::next(jobs.begin(), pick(static_cast<std::uint32_t>(jobs.size())))->first;
    }
    JobId any_of(const std::set<JobId>& jobs) {
        return jobs.empty() ? JobId{1} : *std::next(jobs.begin(), pick(static_cast<std::uint32_t>(jobs.size())));
    }
    JobRef any_ref(const Cluster& cluster) {
        const auto id = any_job(cluster);
        JobRef ref{.job = id.value};
        if (const auto* job = cluster.find_job(id); job && job->array_job && chance(2)) {
            ref.job = job->array_job.value;
            if (chance(2)) ref.tasks = TaskSet::of({pick(6), pick(6)});
        }
        return ref;
    }
    Actor any_actor() { return chance(4) ? Actor{1000 + pick(2), AdminLevel::none, "u"} : Actor::root(); }
    NodeId any_node(const Cluster& cluster) {
        return NodeId{pick(static_cast<std::uint32_t>(cluster.nodes().size()) + (chance(10) ? 1 : 0))};
    }

    Command choose(const Cluster& cluster) {
        switch (pick(24)) {
            case 0:
            case 1:
            case 2:
            case 3:
                return submit(cluster);
            case 4:
            case 5:
            case 6:
            case 7:
                return start(cluster);
            case 8:
            case 9:
                return finish(cluster);
            case 10:
            case 11:
            case 12:
                return node_done(cluster);
            case 13:
                return CancelJob{any_ref(cluster), any_actor()};
            case 14:
                return chance(2) ? Command{HoldJob{any_ref(cluster), any_actor(), chance(2)}}
                                 : Command{ReleaseJob{any_ref(cluster), any_actor()}};
            case 15:
                return RequeueJob{any_ref(cluster), any_actor(), chance(3), chance(5)};
            case 16: {
                const JobRef ref{.job = any_of(cluster.active_jobs()).value};
                return chance(2) ? Command{SuspendJob{ref, any_actor()}} : Command{ResumeJob{ref, any_actor()}};
            }
            case 17:
                return update(cluster);
            case 18:
                return step(cluster);
            case 19:
                return node_event(cluster);
            case 20:
                return Tick{};
            case 21:
                return rare(cluster);
            case 22:
                return chance(2) ? Command{Tick{}} : Command{DecayUsage{}};
            default:
                return PreemptJob{any_of(cluster.active_jobs()), 1 + pick(2), static_cast<PreemptMode>(pick(6)),
                                  JobId{1}};
        }
    }

    JobSpec spec(const Cluster& cluster) {
        JobSpec job;
        job.name = chance(2) ? "same" : "other";
        job.script = chance(2) ? "#!/bin/sh\n" : "#!/bin/bash\n";
        job.uid = 1000 + pick(2);
        job.user_name = job.uid == 1000 ? "ann" : "bob";
        if (chance(3)) job.array = chance(2) ? "0-5%2" : "1,3,5";
        if (chance(4)) job.time_limit_min = 1 + pick(10);
        if (chance(4)) job.min_nodes = 1 + pick(3);
        if (chance(4)) job.mem_per_node_mib = pick(1500);
        if (chance(4)) job.begin = now_ + pick(100);
        if (chance(6)) job.deadline = now_ + pick(900);
        if (chance(5)) job.hold = true;
        if (chance(5)) job.licenses = "lic:2";
        if (chance(5)) job.exclusive = static_cast<Exclusive>(pick(3));
        if (chance(6)) job.partitions = {"shared"};
        if (chance(8)) job.no_kill = true;
        if (chance(8)) job.requeue = chance(2);
        if (chance(8)) job.signal = "USR1@30";
        if (chance(10)) job.kind = JobKind::allocation;
        if (chance(3)) {
            const auto id = any_job(cluster).value;
            constexpr const char* kinds[] = {"after", "afterany", "afterok", "afternotok", "aftercorr"};
            job.dependency = chance(4) ? Text{"singleton"} : Text{fmt::format("{}:{}", kinds[pick(5)], id)};
            if (chance(4)) job.kill_on_invalid_dependency = true;
        }
        return job;
    }
    Command submit(const Cluster& cluster) {
        SubmitJob command{{spec(cluster)}, Actor::root(), {}};
        if (chance(10)) command.components.push_back(spec(cluster));
        if (chance(10)) command.request_id = fmt::format("r{}", pick(5));
        return command;
    }

    // Placements as a careless scheduler would make them: often right, sometimes overlapping.
    Placement place(const Cluster& cluster, JobId id) {
        Placement part;
        part.job = id;
        const auto* job = cluster.find_job(id);
        part.partition = job && !job->spec->partitions.empty() ? job->spec->partitions.front() : Text{"main"};
        if (chance(8)) part.array_task = pick(6);
        const auto count = job && job->spec->min_nodes ? *job->spec->min_nodes : 1;
        const auto first = pick(4);
        for (std::uint32_t i = 0; i < count; ++i) {
            const NodeId node_id{first + i};
            const auto* node = cluster.find_node(node_id);
            NodeShare share;
            share.node = node_id;
            const auto cores = 1 + pick(4);
            share.cores = Bitset::range(pick(4), cores);
            if (node && !chance(4)) share.cores = node->usable_cores() - node->use.busy_cores();
            if (const auto last = share.cores.last(); last && chance(2)) share.cores = Bitset{*last};
            share.cpus = share.cores.count();
            share.memory_mib = pick(3) * 100;
            if (node && !node->gres.empty() && chance(2)) {
                const bool b = chance(2);
                share.gres.push_back({"gpu", b ? "b" : "a", 1, Bitset{pick(2) + (b ? 2U : 0U)}, {}});
            }
            if (node && !node->gres.empty() && chance(3)) share.gres.push_back({"shard", "", 1, Bitset{pick(4)}, {1}});
            part.shares.push_back(std::move(share));
        }
        return part;
    }
    Command start(const Cluster& cluster) {
        const auto id = any_of(cluster.pending_jobs());
        StartJob command;
        const auto* job = cluster.find_job(id);
        if (job && job->het_job) {
            for (const auto& [other, record] : cluster.jobs())
                if (record.het_job == job->het_job) command.parts.push_back(place(cluster, other));
        } else {
            command.parts.push_back(place(cluster, id));
        }
        return command;
    }
    Command finish(const Cluster& cluster) {
        const auto id = any_of(cluster.active_jobs());
        const auto* job = cluster.find_job(id);
        FinishJob command{.job = id, .attempt = job ? job->attempt : 1};
        if (chance(10)) ++command.attempt;
        if (chance(3)) command.exit_status = (1 + pick(8)) << 8;
        if (chance(4)) command.cause = static_cast<EndCause>(pick(8));
        if (job && job->allocation && chance(2)) {
            command.node = job->allocation->shares.front().node;
            command.node_done = chance(2);
            if (cluster.state_version() >= version_with_step_ends) command.usage.system_us = pick(100);
        }
        return command;
    }
    Command node_done(const Cluster& cluster) {
        const auto id = any_of(cluster.active_jobs());
        const auto* job = cluster.find_job(id);
        NodeJobDone command{id, job ? job->attempt : 1, {}};
        if (job && job->allocation)
            for (const auto& share : job->allocation->shares)
                if (!chance(4)) command.nodes.push_back(share.node);
        if (job)
            for (const auto& share : job->leaving) command.nodes.push_back(share.node);
        return command;
    }
    Command update(const Cluster& cluster) {
        UpdateJob command{any_ref(cluster), {}, any_actor()};
        auto& changes = command.changes;
        switch (pick(9)) {
            case 0:
                changes.time_limit_min = pick(20);
                break;
            case 1:
                changes.name = "renamed";
                break;
            case 2:
                changes.priority = pick(3);
                break;
            case 3:
                changes.dependency = Text{fmt::format("afterok:{}", any_job(cluster).value)};
                break;
            case 4:
                changes.begin = now_ + pick(50);
                break;
            case 5:
                changes.array_limit = pick(4);
                break;
            case 6:
                changes.dependency = Text{};
                break;
            case 7:
                changes.keep_nodes = std::vector<NodeId>{any_node(cluster), any_node(cluster)};
                break;
            default:
                changes.comment = "noted";
                break;
        }
        return command;
    }
    Command step(const Cluster& cluster) {
        const auto id = any_of(cluster.active_jobs());
        const auto* job = cluster.find_job(id);
        const bool counts_ends = cluster.state_version() >= version_with_step_ends;
        if (job && job->allocation && counts_ends && chance(3)) {
            StepNodeDone done{{id, StepId{chance(3) ? step_batch : pick(3)}}, job->attempt};
            done.nodes = {job->allocation->shares[pick(job->allocation->shares.size())].node};
            done.cause = static_cast<EndCause>(pick(8));
            done.exit_status = pick(2) << 8;
            done.usage.user_us = pick(100);
            return done;
        }
        if (chance(4))
            return FinishStep{{id, StepId{pick(3)}}, job ? job->attempt : 1, EndCause::exited, pick(2) << 8, {}};
        CreateStep command;
        command.job = id;
        command.attempt = job ? job->attempt : 1;
        command.overlap = chance(2);
        command.actor = any_actor();
        if (job && job->allocation) command.shares = job->allocation->shares;
        for (command.tasks = 0; command.tasks < command.shares.size(); ++command.tasks)
            command.task_ids.push_back({command.tasks});
        return command;
    }
    Command node_event(const Cluster& cluster) {
        const auto id = any_node(cluster);
        const auto* node = cluster.find_node(id);
        switch (pick(8)) {
            case 0:
                return NodeSilent{id};
            case 1:
                return NodeLost{id, {}};
            case 2:
                return UpdateNode{.nodes = {id},
                                  .action = static_cast<NodeAction>(pick(14)),
                                  .reason = Text{"why"},
                                  .actor = any_actor()};
            default:
                break;
        }
        NodeRegistered command;
        command.node = id;
        if (node) {
            command.topology = node->topology;
            command.cpus = node->cpus;
            command.memory_mib = node->memory_mib - (chance(10) ? 1 : 0);
            command.gres = node->gres;
        }
        command.boot_id = chance(8) ? "boot-2" : "boot-1";
        for (const auto job : cluster.jobs_on(id))
            if (!chance(4)) command.held.push_back({job, cluster.find_job(job)->attempt, StepId{step_batch}});
        if (chance(6)) command.held.push_back({JobId{pick(20)}, 1, StepId{0}});
        return command;
    }
    Command rare(const Cluster& cluster) {
        switch (pick(12)) {
            case 0:
                return ApplyConfig{config(pick(4))};
            case 1:
                return EditAccount{static_cast<Edit>(pick(3)), {"proj", {}, {}, {}}};
            case 2:
                return EditUser{static_cast<Edit>(pick(3)), {"ann", "proj", {}, AdminLevel::none}};
            case 3: {
                Association entry;
                entry.account = "proj";
                if (chance(2)) entry.user = "ann";
                entry.limits.max_jobs = 1 + pick(2);
                return EditAssociation{static_cast<Edit>(pick(3)), entry, {}};
            }
            case 4: {
                Qos qos;
                qos.name = chance(2) ? "normal" : "high";
                qos.limits.grp_tres.set("cpu", 10);
                qos.limits.max_submit_jobs = 20;
                return EditQos{static_cast<Edit>(pick(2)), qos};
            }
            case 5:
            case 6: {
                Reservation entry;
                entry.name = chance(2) ? "r1" : "";
                entry.start_time = now_ + pick(60);
                entry.end_time = entry.start_time + 1 + pick(100);
                entry.nodes = {any_node(cluster)};
                entry.users = {"ann"};
                if (chance(2)) entry.flags = reservation_flag::maint | reservation_flag::daily;
                return EditReservation{static_cast<Edit>(pick(3)), entry, any_actor()};
            }
            case 7: {
                Partition part;
                part.name = chance(2) ? "extra" : "shared";
                part.node_text = "n1";
                return EditPartition{static_cast<Edit>(pick(3)), part};
            }
            case 8:
                return SetPending{{{any_job(cluster), Reason::resources, {}, 5 + pick(10), now_ + 60, Text{"n1"}}}};
            case 10:
                return SetStateVersion{newest_state_version};
            case 9:
                return OutboxDelivered{cluster.outbox().empty() ? 1 : cluster.outbox().front().sequence + pick(5)};
            default:
                return TopJob{any_ref(cluster), any_actor()};
        }
    }

    std::vector<std::uint32_t> tape_;
    std::size_t position_{};
    UnixSeconds now_{1'000'000};
};

Cluster beginning() {
    Cluster cluster;
    if (!cluster.apply({1'000'000, ApplyConfig{Commands::config(0)}})) throw std::runtime_error("config refused");
    for (const auto& node : cluster.nodes()) {
        NodeRegistered found;
        found.node = node.id;
        found.topology = node.topology;
        found.cpus = node.cpus;
        found.memory_mib = node.memory_mib;
        found.gres = node.gres;
        found.boot_id = "boot-1";
        if (!cluster.apply({1'000'000, found})) throw std::runtime_error("registration refused");
    }
    return cluster;
}

auto tapes() { return rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 1'000'000)); }
std::vector<std::uint32_t> long_tape() { return *rc::gen::resize(1500, tapes()); }

// Adds up, from the jobs alone, what is in use, and compares it with what the nodes have and say.
void check_books(const Cluster& cluster) {
    for (const auto& node : cluster.nodes()) {
        std::map<std::uint32_t, int> own, shared;
        std::map<std::string, Bitset> devices;
        std::map<std::uint32_t, std::uint32_t> shards;
        std::uint64_t memory = 0;
        std::uint32_t jobs = 0;
        const auto add = [&](const Job& job, const NodeShare& share) {
            if (share.node != node.id) return;
            if (job.state != JobState::suspended) ++jobs;
            memory += share.memory_mib;
            if (!job.cores_released)
                share.cores.for_each(
                    [&](auto core) { ++(job.allocation->sharing.jobs_per_core > 1 ? shared : own)[core]; });
            for (const auto& gres : share.gres) {
                if (gres.name == "shard") {
                    std::size_t i = 0;
                    gres.devices.for_each([&](auto gpu) { shards[gpu] += gres.per_device[i++]; });
                    continue;
                }
                auto& used = devices[gres.name.str()];
                RC_ASSERT(!used.intersects(gres.devices));
                used |= gres.devices;
            }
        };
        for (const auto& [id, job] : cluster.jobs()) {
            for (const auto open : job.open_shares) add(job, job.allocation->shares[open]);
            for (const auto& share : job.leaving) add(job, share);
        }
        for (const auto& [core, count] : own) RC_ASSERT(count == 1 && !shared.contains(core));
        for (const auto& [core, count] : shared) RC_ASSERT(count <= 2);
        for (const auto& [gpu, count] : shards) RC_ASSERT(count <= 2U && !devices["gpu"].has(gpu));
        RC_ASSERT(memory <= node.memory_mib);
        RC_ASSERT(memory == node.use.memory_mib);
        RC_ASSERT(jobs == node.job_count);
        RC_ASSERT(node.use.own_cores.count() == own.size());
    }
    std::uint32_t licenses = 0;
    for (const auto& [id, job] : cluster.jobs())
        if (job.is_active() || job.is_completing())
            for (const auto& license : job.allocation->licenses) licenses += license.count;
    RC_ASSERT(licenses <= 3U);
    if (const auto pool = cluster.licenses().find("lic"); pool != cluster.licenses().end())
        RC_ASSERT(pool->second.used == licenses);
}

// A step waits only for nodes that have something of its job, and while it waits for none it is over.
void check_steps(const Cluster& cluster) {
    for (const auto& [key, step] : cluster.steps()) {
        const auto& job = *cluster.find_job(key.job);
        for (const auto open : step.open_shares) {
            RC_ASSERT(open < step.shares.size());
            RC_ASSERT(cluster.jobs_on(step.shares[open].node).contains(job.id));
        }
        if (cluster.state_version() >= version_with_step_ends && step.open_shares.empty())
            RC_ASSERT(step.is_over() || job.state == JobState::pending);
    }
}

void check_indexes(const Cluster& cluster) {
    std::map<JobId, std::uint32_t> running;
    for (const auto& [id, job] : cluster.jobs()) {
        RC_ASSERT(cluster.pending_jobs().contains(id) == job.is_pending());
        RC_ASSERT(cluster.active_jobs().contains(id) == (job.is_active() || job.is_completing()));
        if (job.array_job && (job.is_active() || job.is_completing())) ++running[job.array_job];
        if (job.array_task) RC_ASSERT(cluster.find_task(job.array_job, *job.array_task)->id == id);
    }
    for (const auto& [id, array] : cluster.arrays()) RC_ASSERT(array.active == running[id]);
}

RC_GTEST_PROP(T50Laws, NothingIsEverOversubscribed, ()) {
    Commands commands{long_tape()};
    auto cluster = beginning();
    while (!commands.done()) {
        (void)cluster.apply(commands.next(cluster));
        check_books(cluster);
        check_steps(cluster);
        check_indexes(cluster);
    }
}

std::vector<JobId> meant(const Picture& picture, const JobRef& ref) {
    std::vector<JobId> ids;
    if (const auto named = picture.resolve(ref))
        for (const auto& one : *named) ids.push_back(one.job->id);
    return ids;
}

RC_GTEST_PROP(T50Laws, AReadModelThatFollowsTheEventsAnswersAsTheClusterDoes, ()) {
    Commands commands{long_tape()};
    auto cluster = beginning();
    planning::ReadModelBuilder models;
    planning::Changes changes;
    changes.everything = true;
    while (!commands.done()) {
        if (const auto done = cluster.apply(commands.next(cluster))) planning::note_changes(*done, changes);
        const auto model = models.publish(cluster, changes);
        changes.clear();
        RC_ASSERT(model->jobs.size() == cluster.jobs().size());
        RC_ASSERT(model->arrays.size() == cluster.arrays().size());
        for (const auto& [id, job] : cluster.jobs()) {
            RC_ASSERT(*model->find_job(id) == job);
            const auto family = job.family();
            if (!family) continue;
            RC_ASSERT(model->find_member(family->id, family->number)->id == id);
            RC_ASSERT(model->member_count(family->id) == cluster.member_count(family->id));
            JobRef ref{.job = family->id.value};
            RC_ASSERT(meant(*model, ref) == meant(cluster, ref));
            if (job.het_job)
                ref.component = job.het_offset;
            else
                ref.tasks.insert(*job.array_task);
            RC_ASSERT(meant(*model, ref) == std::vector{id});
            RC_ASSERT(meant(cluster, ref) == std::vector{id});
        }
    }
}

RC_GTEST_PROP(T50Laws, ARefusedCommandChangesNothing, ()) {
    Commands commands{long_tape()};
    auto cluster = beginning();
    auto before = snapshot_of(cluster);
    while (!commands.done()) {
        const auto command = commands.next(cluster);
        const auto done = cluster.apply(command);
        auto after = snapshot_of(cluster);
        if (!done) {
            if (after != before) RC_LOG() << command_name(command.what) << ": " << done.error().text << "\n";
            RC_ASSERT(after == before);
        }
        before = std::move(after);
    }
}

RC_GTEST_PROP(T50Laws, AReplayedLogGivesTheSameBytes, ()) {
    Commands commands{long_tape()};
    auto cluster = beginning();
    std::vector<std::string> log;
    while (!commands.done()) {
        const auto command = commands.next(cluster);
        log.push_back(encode(command));
        (void)cluster.apply(command);
    }
    auto again = beginning();
    for (const auto& entry : log) {
        auto command = decode_command(entry);
        RC_ASSERT(command.has_value());
        RC_ASSERT(encode(*command) == entry);
        (void)again.apply(*command);
    }
    RC_ASSERT(snapshot_of(again) == snapshot_of(cluster));
}

RC_GTEST_PROP(T50Laws, ALoadedSnapshotGoesOnAsIfNothingHadHappened, ()) {
    Commands commands{long_tape()};
    auto original = beginning();
    auto twin = beginning();
    std::uint32_t since = 0;
    while (!commands.done()) {
        const auto command = commands.next(original);
        const auto done = original.apply(command);
        const auto done_there = twin.apply(command);
        if (done.has_value() != done_there.has_value())
            RC_LOG() << command_name(command.what) << ": " << (done ? done_there : done).error().text << "\n";
        RC_ASSERT(done.has_value() == done_there.has_value());
        const auto bytes = snapshot_of(original);
        if (snapshot_of(twin) != bytes) RC_LOG() << "after " << command_name(command.what) << "\n";
        RC_ASSERT(snapshot_of(twin) == bytes);
        if (++since % 7 != 0) continue;
        auto loaded = Cluster::load(bytes);
        if (!loaded) RC_LOG() << "after " << command_name(command.what) << ": " << loaded.error().text << "\n";
        RC_ASSERT(loaded.has_value());
        twin = *std::move(loaded);
        RC_ASSERT(snapshot_of(twin) == bytes);
        check_books(twin);
    }
}

RC_GTEST_PROP(T50Laws, EveryCommandSurvivesTheLog, ()) {
    Commands commands{long_tape()};
    auto cluster = beginning();
    while (!commands.done()) {
        const auto command = commands.next(cluster);
        const auto read = decode_command(encode(command));
        RC_ASSERT(read.has_value());
        RC_ASSERT(read->at == command.at);
        RC_ASSERT(read->what == command.what);
        (void)cluster.apply(command);
    }
}

RC_GTEST_PROP(T50Laws, DamagedLogEntriesAreRefusedOrReadButNeverTrusted, (std::vector<std::uint8_t> junk)) {
    Commands commands{long_tape()};
    auto cluster = beginning();
    auto bytes = encode(commands.next(cluster));
    for (std::size_t i = 0; i + 1 < junk.size(); i += 2) bytes[junk[i] % bytes.size()] = static_cast<char>(junk[i + 1]);
    if (const auto read = decode_command(bytes)) (void)cluster.apply(*read);
    check_books(cluster);
}

}  // namespace
}  // namespace spur
