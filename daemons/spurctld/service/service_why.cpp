// spur why: the facts around one job, and what the plugins make of it.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>

#include "core/model/constraint.hpp"
#include "core/model/gres.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/common/planning/limit_counts.hpp"
#include "daemons/spurctld/planning/smaller_requests.hpp"
#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/convert_accounts.hpp"
#include "daemons/spurctld/service/job_query.hpp"
#include "daemons/spurctld/service/privacy.hpp"
#include "daemons/spurctld/service/service.hpp"

namespace spur::ctld {

namespace {

using Jobs = std::vector<std::shared_ptr<const Job>>;

constexpr std::size_t most_listed = 5;
constexpr std::chrono::seconds trial_time{5};  // for all smaller requests together

// The record of this id that waits; if none does, the first.
std::shared_ptr<const Job> record_meant(const Jobs& jobs) {
    const auto waiting = std::ranges::find_if(jobs, [](const auto& job) { return job->is_pending(); });
    return waiting != jobs.end() ? *waiting : jobs.front();
}

// The nodes of a partition that the request's constraints, lists and exclusions leave.
class Allowed {
public:
    explicit Allowed(const Request& request) : constraint_{request.features}, excluded_{request.excluded_nodes} {}

    bool operator()(const Node& node) const {
        const auto& features = node.active_features.empty() ? node.features : node.active_features;
        const Constraint::HasFeature has = [&](std::string_view name) {
            return std::ranges::any_of(features, [&](const Text& feature) { return feature == name; });
        };
        return node.configured && !excluded_.contains(node.name) && constraint_.matches(has);
    }

private:
    Constraint constraint_;
    HostSet excluded_;
};

std::set<std::string> gres_names(const Request& request) {
    std::set<std::string> names;
    for (const auto* list :
         {&request.gres_per_node, &request.gres_per_job, &request.gres_per_task, &request.gres_per_socket})
        for (const auto& gres : *list) names.insert(gres.name);
    return names;
}

void add_limit(const std::shared_ptr<const planning::ReadModel>& model, const Job& job, v1::ExplainReply& out) {
    planning::LimitCounts counts;
    planning::Changes all;
    all.everything = true;
    counts.update(model, all);
    const auto hit = counts.find(job);
    if (hit.reason == Reason::none) return;
    auto& wire = *out.mutable_limit();
    wire.set_name(std::string{hit.name});
    wire.set_tres(hit.tres);
    wire.set_most(hit.most);
    wire.set_used(hit.used);
    wire.set_asked(hit.asked);
    if (hit.qos != nullptr)
        wire.set_whose(fmt::format("QOS {}", hit.qos->name));
    else if (hit.association != nullptr)
        wire.set_whose(hit.association->user.empty()
                           ? fmt::format("account {}", hit.association->account)
                           : fmt::format("user {} in account {}", hit.association->user, hit.association->account));
}

class Facts {
public:
    Facts(const planning::ReadModel& model, const Job& job, const Users& users, const Privacy& privacy, UnixSeconds now,
          v1::ExplainReply& out)
        : model_{model}, job_{job}, users_{users}, privacy_{privacy}, now_{now}, out_{out} {}

    void gather() {
        out_.set_now(now_);
        job_to_wire(model_, job_, {}, *out_.mutable_job());
        rooms();
        dependencies();
        other_jobs();
        reservations();
    }

private:
    void rooms() {
        const Allowed allowed{*job_.request};
        const auto wanted = gres_names(*job_.request);
        for (const auto& name : job_.spec->partitions) {
            const auto* partition = model_.find_partition(name);
            if (partition == nullptr) continue;
            auto& room = *out_.add_rooms();
            room.set_name(name.str());
            room.set_state(std::string{to_string(partition->state)});
            for (const auto& kind : wanted) room.add_gres()->set_name(kind);
            for (const auto id : partition->nodes) {
                const auto& node = model_.nodes.get(id.value);
                if (!node || !allowed(*node)) continue;
                nodes_.insert(id);
                add(*node, room);
            }
        }
    }

    void add(const Node& node, v1::PartitionRoom& room) {
        room.set_nodes(room.nodes() + 1);
        if (!node.is_available()) {
            if (unavailable_.insert(node.id).second && !privacy_.hides(private_data::nodes))
                node_to_wire(model_, node, users_, *out_.add_unavailable());
            return;
        }
        room.set_usable(room.usable() + 1);
        if (node.job_count == 0) room.set_idle(room.idle() + 1);
        room.set_cpus(room.cpus() + node.usable_cpus());
        room.set_free_cpus(room.free_cpus() + node.usable_cpus() - std::min(node.usable_cpus(), node.use.cpus));
        room.set_memory_mib(room.memory_mib() + node.usable_memory_mib());
        room.set_free_memory_mib(room.free_memory_mib() + node.usable_memory_mib() -
                                 std::min(node.usable_memory_mib(), node.use.memory_mib));
        for (auto& gres : *room.mutable_gres())
            for (std::size_t i = 0; i < node.gres.size(); ++i) {
                if (node.gres[i].name != gres.name()) continue;
                const auto used = i < node.use.gres.size() ? node.use.gres[i] : 0;
                gres.set_total(gres.total() + node.gres[i].count);
                gres.set_free(gres.free() + node.gres[i].count - std::min(node.gres[i].count, used));
            }
    }

    void dependencies() {
        std::set<std::uint32_t> told;
        for (const auto& entry : job_.dependencies.entries) {
            JobRef ref;
            ref.job = entry.job;
            if (entry.task) ref.tasks.insert(*entry.task);
            for (const auto& other : find_jobs(model_, ref))
                if (told.size() < most_listed && !other->is_done() && privacy_.shows(*other) &&
                    told.insert(other->id.value).second)
                    job_to_wire(model_, *other, {}, *out_.add_dependencies());
        }
    }

    bool shares_a_partition(const Job& other) const {
        return std::ranges::any_of(other.spec->partitions, [&](const Text& name) {
            return std::ranges::find(job_.spec->partitions, name) != job_.spec->partitions.end();
        });
    }

    void other_jobs() {
        Jobs ahead, holders;
        model_.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& other) {
            if (other->id == job_.id) return;
            if (other->is_pending() && other->eligible && shares_a_partition(*other)) {
                const bool before =
                    other->priority != job_.priority ? other->priority > job_.priority : other->id < job_.id;
                if (before) ahead.push_back(other);
            } else if (other->allocation && (other->is_active() || other->is_completing())) {
                const auto here = [&](std::uint32_t share) {
                    return nodes_.contains(other->allocation->shares[share].node);
                };
                if (std::ranges::any_of(other->open_shares, here)) holders.push_back(other);
            }
        });
        out_.set_ahead(static_cast<std::uint32_t>(ahead.size()));
        out_.set_holder_count(static_cast<std::uint32_t>(holders.size()));
        const auto is_private = [&](const auto& other) { return !privacy_.shows(*other); };
        std::erase_if(ahead, is_private);  // counted, not named
        std::erase_if(holders, is_private);
        std::ranges::sort(ahead, std::greater{}, [](const auto& other) { return other->priority; });
        std::ranges::sort(holders, {}, [](const auto& other) {
            return other->end_time == 0 ? std::numeric_limits<UnixSeconds>::max() : other->end_time;
        });
        for (std::size_t i = 0; i < std::min(ahead.size(), most_listed); ++i)
            job_to_wire(model_, *ahead[i], {}, *out_.add_first_ahead());
        for (std::size_t i = 0; i < std::min(holders.size(), most_listed); ++i)
            job_to_wire(model_, *holders[i], {}, *out_.add_holders());
    }

    // Those of others that begin before it would end, on nodes it could use; and its own.
    void reservations() {
        const auto end = job_.time_limit_min == unlimited ? std::numeric_limits<UnixSeconds>::max()
                                                          : now_ + std::int64_t{job_.time_limit_min} * 60;
        for (const auto& reservation : model_.directory->reservations) {
            const bool own = reservation.name == job_.spec->reservation;
            const bool in_time = reservation.start_time < end && reservation.end_time > now_;
            const bool in_place =
                std::ranges::any_of(reservation.nodes, [&](NodeId id) { return nodes_.contains(id); });
            if (privacy_.shows(reservation) && (own || (in_time && in_place)))
                reservation_to_wire(model_, reservation, *out_.add_reservations());
        }
    }

    const planning::ReadModel& model_;
    const Job& job_;
    const Users& users_;
    const Privacy& privacy_;
    UnixSeconds now_;
    v1::ExplainReply& out_;
    std::set<NodeId> nodes_, unavailable_;
};

// The largest value with which the job would start now, if there is one: what is smaller fits wherever what is larger
// does.
std::optional<std::pair<std::uint64_t, Forecast>> largest_that_starts(WhatIf& what_if, const planning::ReadModel& model,
                                                                      const SmallerRequest& smaller, UnixSeconds now,
                                                                      std::chrono::steady_clock::time_point until) {
    std::optional<std::pair<std::uint64_t, Forecast>> best;
    for (auto low = smaller.least, high = smaller.most; low <= high && std::chrono::steady_clock::now() < until;) {
        // The smallest first: where that does not help, nothing does.
        const auto value = best || low == high ? low + (high - low + 1) / 2 : low;
        auto forecast = what_if.forecast(model, smaller.with(value), now);
        if (forecast && forecast->starts_now) {
            best = {value, std::move(*forecast)};
            low = value + 1;
        } else {
            if (!best) return std::nullopt;
            high = value - 1;
        }
    }
    return best;
}

void add_alternatives(WhatIf& what_if, const planning::ReadModel& model, const Job& job, UnixSeconds now,
                      v1::ExplainReply& out) {
    const auto until = std::chrono::steady_clock::now() + trial_time;
    for (const auto& smaller : smaller_requests(job)) {
        const auto found = largest_that_starts(what_if, model, smaller, now, until);
        if (!found) continue;
        auto& alternative = *out.add_alternatives();
        alternative.set_option(smaller.option(found->first));
        alternative.set_text(smaller.difference(found->first));
        alternative.set_nodes(found->second.nodes);
    }
}

}  // namespace

void Service::explain(const Call& call) {
    const auto request = call.parse<v1::ExplainRequest>();
    if (!request) return refuse(call, request.error());
    const auto ref = JobRef::parse(request->id());
    const auto model = engine_.model();
    const auto jobs = ref ? find_jobs(*model, *ref) : Jobs{};
    const Privacy privacy{actor(call), *model};
    if (jobs.empty() || !privacy.shows(*jobs.front())) return refuse(call, refusal::invalid_job_id);
    const auto job = record_meant(jobs);
    const auto gather = [this, model, job, privacy](UnixSeconds now) {
        v1::ExplainReply reply;
        Facts{*model, *job, users_, privacy, now, reply}.gather();
        if (job->is_pending()) add_limit(model, *job, reply);
        if (job->is_pending()) factors_to_wire(hooks_.priorities(), *job, *reply.mutable_job());
        return reply;
    };
    const auto answer = [this, call, model, job, gather, wants_more = !request->without_alternatives()] {
        const auto now = engine_.now();
        auto reply = gather(now);
        if (!job->is_pending()) return call.reply_with(reply);
        const auto forecast = what_if_.forecast(*model, *job, now);
        if (!forecast) {
            reply.set_problem(forecast.error().text);
            return call.reply_with(reply);
        }
        reply.set_planned(true);
        reply.set_starts_now(forecast->starts_now);
        reply.set_expected_start(forecast->start);
        reply.set_expected_nodes(forecast->nodes);
        if (forecast->reason != Reason::none) {
            reply.set_reason(std::string{to_string(forecast->reason)});
            reply.set_reason_text(forecast->text);
        }
        if (wants_more && job->eligible && !forecast->starts_now) add_alternatives(what_if_, *model, *job, now, reply);
        call.reply_with(reply);
    };
    what_if_.ask(answer, [this, call, gather](const std::string& why) {
        auto reply = gather(engine_.now());
        reply.set_problem(why);
        call.reply_with(reply);
    });
}

}  // namespace spur::ctld
