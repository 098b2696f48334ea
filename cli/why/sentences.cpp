// Choosing words for reasons, limits, forecasts and smaller requests.
#include "cli/why/sentences.hpp"

#include "cli/common/job_text.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace spur::cli::why {
namespace {

std::string counted(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class Explanation {
public:
    explicit Explanation(const v1::ExplainReply& facts) : facts_{facts}, job_{facts.job()}, spec_{facts.job().spec()} {}

    std::string tell() {
        const auto state = job_state(job_);
        if (state.state == JobState::pending && !(state.flags & job_flag::completing))
            tell_waiting();
        else if (state.flags & job_flag::completing)
            say("{} has ended as {} and its nodes are cleaning up: {}.", name(), to_string(state.state),
                job_.node_list());
        else if (state.is_finished())
            tell_ended(state.state);
        else
            tell_running(state.state);
        return text_;
    }

private:
    template <class... Args>
    void say(fmt::format_string<Args...> text, Args&&... args) {
        text_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
    }
    std::string moment(std::int64_t time) const { return time_text(time, facts_.now(), "an unknown time"); }
    std::string distance(std::int64_t time) const {
        return print_duration(std::max<std::int64_t>(0, time - facts_.now()));
    }
    std::string name() const { return fmt::format("Job {} ({}, {})", id(), spec_.name(), user_name(job_)); }
    std::string id() const { return job_id_text(job_, 64); }

    // ---- jobs that do not wait

    void tell_running(JobState state) {
        const auto since = fmt::format("since {}", moment(job_.start_time()));
        if (state == JobState::suspended)
            return say("{} is suspended on {} since {}; `scontrol resume {}` lets it go on.", name(), job_.node_list(),
                       moment(job_.suspend_time()), id());
        const bool endless = job_.time_limit_min() == unlimited || job_.end_time() == 0;
        say("{} is running on {} {}; {}.", name(), job_.node_list(), since,
            endless
                ? std::string{"it has no time limit"}
                : fmt::format("its limit ends it at {}, in {}", moment(job_.end_time()), distance(job_.end_time())));
    }

    void tell_ended(JobState state) {
        const auto status = job_.exit_status();
        const auto why = reason_text(job_);
        say("{} ended at {} as {}{}{}.", name(), moment(job_.end_time()), to_string(state),
            state == JobState::completed ? std::string{}
                                         : fmt::format(", exit code {}:{}", (status >> 8) & 0xff, status & 0x7f),
            why == "None" ? std::string{} : fmt::format(" ({})", why));
    }

    // ---- jobs that wait

    void tell_waiting() {
        const auto since = job_.eligible_time() != 0 && job_.eligible_time() <= facts_.now() ? job_.eligible_time()
                                                                                             : job_.submit_time();
        say("{} has been waiting for {}: {}.", name(), print_duration(facts_.now() - since), reason());
        tell_request();
        for (const auto& room : facts_.rooms()) tell_room(room);
        tell_unavailable();
        tell_reason();
        tell_priority();
        tell_reservations();
        tell_expectation();
        tell_alternatives();
    }

    // A plan that was just made knows better than the record, unless the job is kept from being planned at all.
    std::string reason() const {
        const auto own = reason_text(job_);
        if (is_kept_back() || facts_.reason().empty()) return own;
        v1::Job planned;
        planned.set_reason(facts_.reason());
        planned.set_reason_text(facts_.reason_text());
        return reason_text(planned);
    }
    bool is_kept_back() const {
        for (const auto* word : {"JobHeldUser", "JobHeldAdmin", "Dependency", "DependencyNeverSatisfied", "BeginTime",
                                 "ReservationDeleted"})
            if (job_.reason() == word) return true;
        return false;
    }

    void tell_request() {
        std::string asked = counted(node_count(job_), "node");
        asked += ", " + counted(cpu_count(job_), "CPU");
        for (const auto* gres : {&spec_.gres_per_node(), &spec_.gres_per_job(), &spec_.gres_per_task()})
            if (!gres->empty()) asked += ", " + *gres;
        if (!spec_.gres_per_node().empty()) asked += " on each node";
        if (const auto memory = min_memory_mib(job_).value_or(0))
            asked +=
                fmt::format(", {} of memory per {}", print_mib(memory), spec_.has_mem_per_cpu_mib() ? "CPU" : "node");
        if (!spec_.licenses().empty()) asked += ", licenses " + spec_.licenses();
        if (!spec_.features().empty()) asked += ", features " + spec_.features();
        if (!spec_.node_list().empty()) asked += ", nodes " + spec_.node_list();
        if (spec_.exclusive() == 1) asked += ", whole nodes";
        const auto limit = job_.time_limit_min();
        say("It asks for {}, for {}, in partition {}.", asked,
            limit == unlimited ? std::string{"as long as it takes"} : fmt::format("up to {}", print_limit(limit)),
            job_.partition());
        if (!job_.array_tasks().empty()) say("It is an array; so do all of its waiting tasks {}.", job_.array_tasks());
    }

    void tell_room(const v1::PartitionRoom& room) {
        if (room.state() != "UP") say("Partition {} is {}.", room.name(), room.state());
        if (room.nodes() == 0) return say("No node of partition {} is what it asks for.", room.name());
        std::string free =
            fmt::format("{} of {} idle, {} of {} CPUs, {} of {} of memory", room.idle(), counted(room.usable(), "node"),
                        room.free_cpus(), room.cpus(), print_mib(room.free_memory_mib()), print_mib(room.memory_mib()));
        for (const auto& gres : room.gres())
            free += fmt::format(", {} of {} {}", gres.free(), gres.total(), gres.name());
        say("Free now for it in partition {}: {}.", room.name(), free);
    }

    void tell_unavailable() {
        if (facts_.unavailable().empty()) return;
        std::vector<std::string> names;
        std::string why;
        for (const auto& node : facts_.unavailable()) {
            names.push_back(node.name());
            if (why.empty() && !node.reason().empty()) why = fmt::format("; {} says: {}", node.name(), node.reason());
        }
        say("Not available: {}{}.", compress_hosts(names), why);
    }

    void tell_reason() {
        const auto why = is_kept_back() || facts_.reason().empty() ? job_.reason() : facts_.reason();
        const std::string_view word = why;
        if (word == "JobHeldUser")
            say("It is held{}; `scontrol release {}` lets it go.",
                job_.reason_text().empty() ? "" : " (" + job_.reason_text() + ")", id());
        else if (word == "JobHeldAdmin")
            say("An operator holds it; only an operator can release it.");
        else if (word == "BeginTime")
            say("It is not to begin before {}, in {}; `scontrol update jobid={} starttime=now` changes that.",
                moment(job_.start_time()), distance(job_.start_time()), id());
        else if (word == "Dependency" || word == "DependencyNeverSatisfied")
            tell_dependencies(word == "Dependency");
        else if (word == "Priority")
            tell_ahead();
        else if (word == "Resources")
            tell_holders();
        else if (word == "JobArrayTaskLimit")
            say("Its array may have {} running at a time; `scontrol update jobid={} arraytaskthrottle=N` changes that.",
                counted(job_.array_limit(), "task"), job_.array_job_id());
        else if (word == "Licenses")
            say("The licenses it asks for ({}) are in use; `scontrol show licenses` lists them.", spec_.licenses());
        else if (word == "PartitionTimeLimit")
            say("Its time limit is above what the partition allows; `scontrol update jobid={} timelimit=...` lowers "
                "it.",
                id());
        else if (word == "PartitionNodeLimit" || word == "PartitionConfig")
            say("It asks for more nodes than the partition gives to one job.");
        else if (word == "PartitionDown" || word == "PartitionInactive")
            say("The partition starts no jobs until an operator opens it again.");
        else if (word == "BadConstraints" && !missing_nodes().empty())
            say("It requires {}, which the configuration no longer has; it waits until that is back, or until "
                "`scontrol "
                "update jobid={} reqnodelist=...` names other nodes.",
                missing_nodes(), id());
        else if (word == "BadConstraints")
            say("No set of nodes of this cluster could ever hold it as it is.");
        else if (word == "ReqNodeNotAvail")
            say("What it needs is down, drained or reserved.");
        else if (word == "DeadLine")
            say("It could not end before its deadline, {}.", moment(spec_.deadline()));
        else if (word.starts_with("Assoc") || word.starts_with("QOS") || word.starts_with("Max"))
            say("The limit {} keeps it back: {}.", word, facts_.has_limit() ? limit_numbers() : limit_words(word));
    }

    // Of "BadConstraints, MissingNodes:n4".
    std::string missing_nodes() const {
        constexpr std::string_view mark = "MissingNodes:";
        const auto text = reason();
        const auto at = text.find(mark);
        return at == std::string::npos ? std::string{} : text.substr(at + mark.size());
    }

    // "GrpTRES of account physics is cpu=8; 6 are in use and it asks for 4".
    std::string limit_numbers() const {
        const auto& limit = facts_.limit();
        const bool minutes =
            limit.name().find("Mins") != std::string::npos || limit.name().find("Wall") != std::string::npos;
        const auto amount = [&](double value) {
            if (limit.tres() == "mem" && !minutes) return print_mib(static_cast<std::uint64_t>(value));
            return fmt::format("{}{}", static_cast<std::uint64_t>(value), minutes ? " minutes" : "");
        };
        auto text = fmt::format("{} of {} is {}{}", limit.name(), limit.whose(),
                                limit.tres().empty() ? "" : limit.tres() + "=", amount(limit.most()));
        if (limit.name().starts_with("Min"))
            return text + fmt::format(" at least, and it asks for {}", amount(limit.asked()));
        text += limit.name().ends_with("PerJob") || limit.name() == "MaxWall" || limit.name() == "MaxTRESMins" ||
                        limit.name() == "MaxTRESPerNode"
                    ? std::string{}
                    : fmt::format("; {} {} in use", amount(limit.used()), minutes || limit.used() != 1 ? "are" : "is");
        return text + fmt::format("{} it asks for {}", text.find(';') == std::string::npos ? ", and" : " and",
                                  amount(limit.asked()));
    }

    // "QOSMaxJobsPerUserLimit": whose limit, on what.
    std::string limit_words(std::string_view word) const {
        const bool qos = word.starts_with("QOS");
        std::string whose =
            qos ? fmt::format("its QOS ({})", job_.qos().empty() ? spec_.qos() : job_.qos())
                : fmt::format("its account ({})", job_.account().empty() ? spec_.account() : job_.account());
        if (word.find("PerUser") != std::string_view::npos)
            whose += " allows each user";
        else if (word.find("PerJob") != std::string_view::npos)
            whose += " allows one job";
        else if (word.find("PerAccount") != std::string_view::npos)
            whose += " allows each account";
        else if (word.find("Grp") != std::string_view::npos)
            whose += " allows all its jobs together";
        else
            whose += " allows";
        struct What {
            std::string_view part, words;
        };
        static constexpr What kinds[] = {{"SubmitJob", "only so many jobs in the queue"},
                                         {"Wall", "only so much time"},
                                         {"Minutes", "only so many resource minutes"},
                                         {"Jobs", "only so many running jobs"},
                                         {"Cpu", "only so many CPUs"},
                                         {"CPU", "only so many CPUs"},
                                         {"Mem", "only so much memory"},
                                         {"Node", "only so many nodes"},
                                         {"GRES", "only so many generic resources"},
                                         {"License", "only so many licenses"},
                                         {"Billing", "only so much billing"}};
        for (const auto& kind : kinds)
            if (word.find(kind.part) != std::string_view::npos) return fmt::format("{} {}", whose, kind.words);
        return whose + " no more";
    }

    void tell_dependencies(bool may_come) {
        if (!may_come)
            say("It waits for something that can never come: {}; cancel it, or change its dependency.",
                job_.dependency());
        else
            say("It waits for {}.", job_.dependency());
        for (const auto& other : facts_.dependencies()) {
            const auto state = job_state(other);
            const bool ends =
                state.state == JobState::running && other.end_time() != 0 && other.time_limit_min() != unlimited;
            say("  Job {} is {}{}.", job_id_text(other, 64), display_state(state.state, state.flags),
                ends ? fmt::format(", until {} at the latest", moment(other.end_time())) : std::string{});
        }
    }

    // Factor by factor, in the priority plugin's words: "age 1000, qos 200".
    void tell_priority() {
        std::string parts;
        const auto add = [&](std::string_view name, double points) {
            if (std::abs(points) >= 0.5)
                parts += fmt::format("{}{} {:.0f}", parts.empty() ? "" : ", ", name, points);
        };
        for (const auto& factor : job_.factors()) add(factor.name(), factor.weighted());
        if (!job_.factors().empty()) add("nice", -static_cast<double>(spec_.nice()));
        if (!parts.empty()) say("Its priority is made of {}.", parts);
    }

    void tell_ahead() {
        std::string list;
        for (const auto& other : facts_.first_ahead())
            list += fmt::format("{}{} ({}, priority {})", list.empty() ? "" : ", ", job_id_text(other, 64),
                                user_name(other), other.priority());
        if (facts_.ahead() == 0) return say("Its turn has come, but it has not been looked at again yet.");
        say("{} in front of it, with priority {}: {}{}.",
            facts_.ahead() == 1 ? "1 job is" : fmt::format("{} jobs are", facts_.ahead()), job_.priority(), list,
            facts_.ahead() > static_cast<std::uint32_t>(facts_.first_ahead_size()) ? ", ..." : "");
    }

    void tell_holders() {
        if (facts_.ahead() > 0) tell_ahead();
        std::string list;
        for (const auto& other : facts_.holders()) {
            const bool ends = other.end_time() != 0 && other.time_limit_min() != unlimited;
            list += fmt::format(
                "{}{} on {}{}", list.empty() ? "" : ", ", job_id_text(other, 64), other.node_list(),
                ends ? fmt::format(" until {} at the latest", moment(other.end_time())) : " without a limit");
        }
        if (list.empty()) return;
        say("What it needs is held by {}: {}{}.", counted(facts_.holder_count(), "job"), list,
            facts_.holder_count() > static_cast<std::uint32_t>(facts_.holders_size()) ? ", ..." : "");
    }

    void tell_reservations() {
        for (const auto& entry : facts_.reservations()) {
            const bool begun = entry.start_time() <= facts_.now();
            const auto when = begun
                                  ? fmt::format("until {}", moment(entry.end_time()))
                                  : fmt::format("from {} to {}", moment(entry.start_time()), moment(entry.end_time()));
            if (entry.name() == spec_.reservation())
                say("Its reservation {} has {} {}.", entry.name(), entry.nodes(), when);
            else
                say("Reservation {} keeps {} {}; it would have to end before that, or run elsewhere.", entry.name(),
                    entry.nodes(), when);
        }
    }

    void tell_expectation() {
        if (!facts_.planned()) {
            if (!facts_.problem().empty()) say("The scheduler could not be asked about it: {}.", facts_.problem());
            return;
        }
        const std::string where = facts_.expected_nodes().empty() ? "" : " on " + facts_.expected_nodes();
        if (is_kept_back() && facts_.starts_now()) return say("But for that it would start now{}.", where);
        if (is_kept_back()) return;
        if (facts_.starts_now()) return say("It will start any moment{}.", where);
        if (facts_.expected_start() == 0) return say("When it will start is not known.");
        say("It is expected to start at {}, in {}{}.", moment(facts_.expected_start()),
            distance(facts_.expected_start()), where);
    }

    void tell_alternatives() {
        if (facts_.alternatives().empty()) return;
        say("It would start now with one of these changes:");
        for (const auto& other : facts_.alternatives())
            say("  {:<24} {}{}", other.option(), other.text(), other.nodes().empty() ? "" : ", on " + other.nodes());
    }

    const v1::ExplainReply& facts_;
    const v1::Job& job_;
    const v1::JobSpec& spec_;
    std::string text_;
};

}  // namespace

std::string explain(const v1::ExplainReply& facts) { return Explanation{facts}.tell(); }

}  // namespace spur::cli::why
