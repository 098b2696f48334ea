// The same figures for programs. Everything measured in real time is under "cost", so that the rest can be compared.
#include "cli/common/json.hpp"
#include "cli/sim/report.hpp"

namespace spur::cli::sim {
namespace {

void member(JsonWriter& out, const char* name, const Spread& spread) {
    out.key(name);
    out.begin_object();
    out.member("mean", spread.mean);
    out.member("p50", spread.p50);
    out.member("p90", spread.p90);
    out.member("p99", spread.p99);
    out.member("max", spread.max);
    out.end_object();
}

void write_jobs(JsonWriter& out, const Metrics& metrics) {
    out.key("jobs");
    out.begin_object();
    out.member("submitted", metrics.submitted);
    out.member("completed", metrics.completed);
    out.member("failed", metrics.failed);
    out.member("timed_out", metrics.timed_out);
    out.member("preempted", metrics.preempted);
    out.member("other", metrics.other);
    out.member("never_started", metrics.never_started);
    out.member("refused", metrics.refused);
    out.end_object();
}

void write_use(JsonWriter& out, const Metrics& metrics) {
    out.key("utilisation");
    out.begin_object();
    out.member("cpus", metrics.cpu_utilisation);
    out.member("cpus_asked", metrics.useful_cpu_utilisation);
    out.member("gpus", metrics.gpu_utilisation);
    out.member("whole_cpus", metrics.whole_cpu_utilisation);
    out.member("whole_cpus_asked", metrics.whole_useful_cpu_utilisation);
    out.member("whole_gpus", metrics.whole_gpu_utilisation);
    out.member("gpu_fragmentation", metrics.gpu_fragmentation);
    out.member("lost_cpu_hours", metrics.lost_cpu_hours);
    out.end_object();
}

void write_users(JsonWriter& out, const Metrics& metrics) {
    out.key("users");
    out.begin_array();
    for (const auto& user : metrics.users) {
        out.begin_object();
        out.member("name", user.name);
        out.member("jobs", user.jobs);
        out.member("cpu_hours", user.cpu_hours);
        out.member("mean_wait_s", user.mean_wait_s);
        out.member("max_wait_s", user.max_wait_s);
        out.member("mean_slowdown", user.mean_slowdown);
        out.end_object();
    }
    out.end_array();
}

void write_cost(JsonWriter& out, const Report& report) {
    out.key("cost");
    out.begin_object();
    out.member("plans_over_budget", report.outcome.costs.over_budget);
    member(out, "plan_ms", report.metrics.plan.ms);
    member(out, "priority_ms", report.metrics.score.ms);
    out.end_object();
}

void write_report(JsonWriter& out, const Report& report, const Trace& trace) {
    const auto& metrics = report.metrics;
    const auto& outcome = report.outcome;
    out.begin_object();
    out.member("config", report.name);
    out.key("plugins");
    out.begin_object();
    for (const auto& [axis, type] : outcome.plugins) out.member(axis, type);
    out.end_object();
    out.key("cluster");
    out.begin_object();
    out.member("nodes", outcome.nodes);
    out.member("cpus", outcome.cpus);
    out.member("gpus", outcome.gpus);
    out.end_object();
    write_jobs(out, metrics);
    out.member("begins", outcome.begins);
    out.member("makespan_s", metrics.makespan_s);
    write_use(out, metrics);
    member(out, "wait_s", metrics.wait_s);
    member(out, "bounded_slowdown", metrics.slowdown);
    out.key("queue");
    out.begin_object();
    out.member("mean", metrics.mean_queue);
    out.member("max", metrics.longest_queue);
    out.end_object();
    out.key("starvation");
    out.begin_object();
    out.member("longest_wait_s", metrics.longest_wait_s);
    out.member("longest_waiter", metrics.longest_wait_s > 0 ? job_name(report, trace, metrics.longest_waiter) : "");
    out.member("passed_over", metrics.passed_over);
    out.member("most_overtakings", metrics.most_overtakings);
    out.end_object();
    out.member("jain_slowdown", metrics.jain_slowdown);
    write_users(out, metrics);
    out.member("cycles", outcome.cycles);
    out.member("refused_starts", outcome.refused_starts);
    out.key("refusals");
    out.begin_object();
    for (const auto& [why, count] : outcome.refusals) out.member(why, count);
    out.end_object();
    out.key("problems");
    out.begin_array();
    for (const auto& problem : outcome.problems) out.value(problem);
    out.end_array();
    write_cost(out, report);
    out.end_object();
}

}  // namespace

std::string print_json(const std::vector<Report>& reports, const Trace& trace) {
    JsonWriter out;
    out.begin_object();
    out.member("trace", trace.source);
    out.key("remarks");
    out.begin_array();
    for (const auto& remark : trace.remarks) out.value(remark);
    out.end_array();
    out.key("simulations");
    out.begin_array();
    for (const auto& report : reports) write_report(out, report, trace);
    out.end_array();
    out.end_object();
    return out.take();
}

}  // namespace spur::cli::sim
