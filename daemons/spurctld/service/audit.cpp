// The wording of audit lines, and the thread that writes them.
#include "daemons/spurctld/service/audit.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>

#include "core/text/quote.hpp"

namespace spur::ctld {

namespace {

constexpr std::size_t most_lines = 200'000;  // waiting to be written; a log that hangs does not fill the memory
constexpr std::size_t most_nodes = 8;        // listed
constexpr std::chrono::milliseconds gathering_time{20};

template <class... F>
struct Overload : F... {
    using F::operator()...;
};

std::string exit_code(std::uint32_t status) {
    const auto code = static_cast<int>(status);
    return fmt::format("{}:{}", WIFEXITED(code) ? WEXITSTATUS(code) : 0, WIFSIGNALED(code) ? WTERMSIG(code) : 0);
}

std::string nodes_of(const Cluster& cluster, const Job& job) {
    if (!job.allocation) return "no node";
    std::string text;
    const auto& shares = job.allocation->shares;
    for (std::size_t i = 0; i < std::min(shares.size(), most_nodes); ++i)
        (text += i == 0 ? "" : ", ") += cluster.nodes()[shares[i].node.value].name.view();
    if (shares.size() > most_nodes) text += fmt::format(" and {} more", shares.size() - most_nodes);
    return text;
}

std::string submitted(const Job& job, const Actor& actor) {
    std::string partitions;
    for (const auto& partition : job.spec->partitions)
        (partitions += partitions.empty() ? "" : ",") += partition.view();
    auto line = fmt::format("job {}: submitted by {}, name {}, partition {}", job.display_id(), audited(actor),
                            audited(job.spec->name.view()), partitions);
    if (job.spec->uid != actor.uid) line += fmt::format(", for uid {}", job.spec->uid);
    return line;
}

std::string ended(const Job& job) {
    auto line = fmt::format("job {}: ended {}, exit code {}", job.display_id(), to_string(job.state),
                            exit_code(job.exit_status));
    if (job.attempt > 0) line += fmt::format(", after {} s", job.run_time_s(job.end_time));
    return line;
}

// What somebody asked for; what came of it follows from the events.
std::string asked(const Command& command) {
    const auto job = [](const JobRef& ref, std::string_view what, const Actor& actor) {
        return fmt::format("job {}: {} by {}", ref.str(), what, audited(actor));
    };
    return std::visit(
        Overload{
            [&](const CancelJob& it) { return job(it.job, "cancelled", it.actor); },
            [&](const SignalJob& it) { return job(it.job, fmt::format("sent signal {}", it.signal), it.actor); },
            [&](const HoldJob& it) { return job(it.job, "held", it.actor); },
            [&](const ReleaseJob& it) { return job(it.job, "released", it.actor); },
            [&](const RequeueJob& it) { return job(it.job, it.hold ? "requeued and held" : "requeued", it.actor); },
            [&](const SuspendJob& it) { return job(it.job, "suspended", it.actor); },
            [&](const ResumeJob& it) { return job(it.job, "resumed", it.actor); },
            [&](const TopJob& it) { return job(it.job, "moved to the front", it.actor); },
            [&](const PreemptJob& it) {
                return fmt::format("job {}: preempted for job {}", it.job.value, it.preemptor.value);
            },
            [&](const EditReservation& it) {
                return fmt::format("reservation {}: {} by {}", audited(it.reservation.name.view()), past_of(it.edit),
                                   audited(it.actor));
            },
            [](const auto&) { return std::string{}; },
        },
        command);
}

}  // namespace

std::string_view past_of(Edit edit) {
    return edit == Edit::create ? "created" : edit == Edit::remove ? "removed" : "changed";
}

std::string audited(const Actor& actor) {
    return actor.name.empty() ? fmt::format("uid {}", actor.uid)
                              : fmt::format("uid {} ({})", actor.uid, actor.name.view());
}

std::string audited(std::string_view text) { return quote(text); }

Audit::Audit(Write write) : write_{std::move(write)}, thread_{[this](const std::stop_token& stop) { loop(stop); }} {}

Audit::~Audit() { stop(); }

void Audit::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
}

void Audit::add(std::string line) {
    {
        const std::lock_guard lock{mutex_};
        if (lines_.size() >= most_lines) {
            ++left_out_;
            return;
        }
        lines_.push_back(std::move(line));
        if (!idle_) return;  // the writer comes by itself
        idle_ = false;
    }
    wake_.notify_one();
}

void Audit::loop(const std::stop_token& stop) {
    for (bool stopping = false, first = true; !stopping; first = false) {
        std::vector<std::string> lines;
        std::size_t left_out = 0;
        {
            std::unique_lock lock{mutex_};
            // Lines are gathered for a moment: waking up for each and writing it by itself would cost more than making
            // it.
            if (!first) wake_.wait_for(lock, stop, gathering_time, [] { return false; });
            idle_ = lines_.empty();
            wake_.wait(lock, stop, [this] { return !lines_.empty(); });
            idle_ = false;
            stopping = stop.stop_requested();
            lines = std::exchange(lines_, {});
            left_out = std::exchange(left_out_, 0);
        }
        if (left_out > 0)
            lines.push_back(fmt::format("{} lines of the audit trail were left out: the log is too slow", left_out));
        write_(lines);
    }
}

// ---- engine thread -------------------------------------------------------------------------------------------------

Audit::NodeStanding Audit::standing_of(const Node& node) {
    constexpr auto worth = node_flag::drain | node_flag::fail | node_flag::no_respond | node_flag::invalid_reg;
    return {node.state == NodeState::down ? NodeState::down : NodeState::idle, node.flags & worth};
}

void Audit::on_leadership(const Cluster& cluster, const Leadership& now) {
    nodes_.clear();
    if (!now.is_leader) return;
    for (const auto& node : cluster.nodes()) nodes_[node.id] = standing_of(node);
}

void Audit::on_command(const Cluster& cluster, const Stamped<Command>& command, const Events& events) {
    if (const auto* submit = std::get_if<SubmitJob>(&command.what)) {
        for (const auto& event : events)
            if (const auto* queued = std::get_if<JobQueued>(&event); queued && !queued->duplicate)
                if (const auto* job = cluster.find_job(queued->job)) add(submitted(*job, submit->actor));
    } else if (auto line = asked(command.what); !line.empty()) {
        add(std::move(line));
    }
    for (const auto& event : events) tell(cluster, event);
}

void Audit::tell(const Cluster& cluster, const Event& event) {
    std::visit(Overload{
                   [&](const JobStarted& it) {
                       if (const auto* job = cluster.find_job(it.job))
                           add(fmt::format("job {}: started on {}, partition {}, attempt {}", job->display_id(),
                                           nodes_of(cluster, *job),
                                           job->allocation ? job->allocation->partition.view() : "", it.attempt));
                   },
                   [&](const JobEnded& it) {
                       if (const auto* job = cluster.find_job(it.job)) add(ended(*job));
                   },
                   [&](const JobRequeued& it) {
                       if (const auto* job = cluster.find_job(it.job))
                           add(fmt::format("job {}: waits again after attempt {}", job->display_id(), it.attempt));
                   },
                   [&](const NodeChanged& it) { tell_node(cluster.nodes()[it.node.value]); },
                   [](const auto&) {},
               },
               event);
}

// Jobs come and go on a node all the time: only what an administrator would act upon is told.
void Audit::tell_node(const Node& node) {
    const auto now = standing_of(node);
    const auto [known, is_new] = nodes_.try_emplace(node.id, now);
    if (!is_new && known->second == now) return;
    known->second = now;
    auto line = fmt::format("node {}: {}", node.name, display_full_state(node.shown_state(), node.shown_flags()));
    if (!node.reason.empty())
        line += fmt::format(", reason {}, set by uid {}", audited(node.reason.view()), node.reason_uid);
    add(std::move(line));
}

}  // namespace spur::ctld
