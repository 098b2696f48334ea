// scancel: cancel or signal jobs and steps.
#include "cli/scancel/scancel.hpp"

#include "cli/common/job_text.hpp"
#include "cli/common/session.hpp"
#include "core/model/array_spec.hpp"
#include "core/slurm/refusal.hpp"

#include <cstdio>

namespace spur::cli {
namespace {

using namespace scancel;

constexpr std::string_view usage_text =
    "Usage: scancel [-A account] [--batch] [--full] [--interactive] [-n job_name]\n"
    "               [-p partition] [-Q] [-q qos] [-R reservation] [-s signal | integer]\n"
    "               [-t PENDING | RUNNING | SUSPENDED] [--usage] [-u user_name]\n"
    "               [--hurry] [-V] [-v] [-w hosts...] [--wckey=wckey]\n"
    "               [job_id[_array_id][.step_id]]\n";

bool is_step(const std::string& id) { return id.find('.') != std::string::npos; }

void announce(const Console& console, const Options& options, const std::string& id) {
    if (options.verbose == 0) return;
    if (options.signal == 0)
        console.info("Terminating {} {}", is_step(id) ? "step" : "job", id);
    else if (options.request.batch_only())
        console.info("Signal {} to batch job {}", options.signal, id);
    else
        console.info("Signal {} to {} {}", options.signal, is_step(id) ? "step" : "job", id);
}

// A job that has gone is what a user who cancels it wants.
bool is_gone(const v1::JobOutcome& outcome) {
    return outcome.slurm_error() == refusal::invalid_job_id.number ||
           outcome.slurm_error() == refusal::already_done.number;
}

int report(const Console& console, const Options& options, const v1::JobActionReply& reply) {
    int code = 0;
    for (const auto& outcome : reply.outcomes()) {
        announce(console, options, outcome.id());
        if (outcome.error().empty()) continue;
        const bool forgivable = options.is_plain() && is_gone(outcome) && !is_step(outcome.id());
        if (!forgivable) code = 1;
        if (options.quiet && is_gone(outcome)) continue;
        if (forgivable && options.verbose == 0) continue;
        console.error("Kill job error on job {}id {}: {}", is_step(outcome.id()) ? "step " : "", outcome.id(),
                      outcome.error());
    }
    return code;
}

bool confirm(const v1::Job& job, const Options& options) {
    if (options.signal == 0)
        fmt::print("Cancel job_id={} name={} partition={} [y/n]? ", job_id_text(job, 0), job.spec().name(),
                   job.partition());
    else
        fmt::print("Signal {} job_id={} name={} partition={} [y/n]? ", options.request.signal(), job_id_text(job, 0),
                   job.spec().name(), job.partition());
    std::fflush(stdout);
    char line[128];
    while (std::fgets(line, sizeof line, stdin)) {
        if (line[0] == 'y' || line[0] == 'Y') return true;
        if (line[0] == 'n' || line[0] == 'N') return false;
        fmt::print("[y/n]? ");
        std::fflush(stdout);
    }
    return false;
}

// -i: the jobs the request means, each asked about; the request is left with those agreed to.
Answer<bool> ask_about_each(Session& session, Options& options) {
    v1::ListJobsRequest list;
    for (const auto& id : options.request.ids()) list.add_ids(id.substr(0, id.find('.')));
    for (const auto& user : options.request.users()) list.add_users(user);
    for (const auto& partition : options.request.partitions()) list.add_partitions(partition);
    auto reply = session.call<v1::ListJobsReply>("ListJobs", list);
    if (!reply) return std::unexpected(reply.error());
    const auto typed = options.request.ids();
    options.request.clear_ids();
    for (const auto& job : reply->jobs()) {
        if (!confirm(job, options)) continue;
        bool named_step = false;
        for (const auto& id : typed) {
            const auto ref = JobRef::parse(id);
            if (!ref || ref->job != job.id() || !ref->step) continue;
            options.request.add_ids(id);
            named_step = true;
        }
        if (!named_step) options.request.add_ids(job_id_text(job, 0));
    }
    return !options.request.ids().empty();
}

}  // namespace

int run_scancel(Invocation& self) {
    Options options;
    auto outcome = apply_environment(option_table(), options);
    if (outcome.end == ParseEnd::go_on) outcome = apply_words(option_table(), options, self.words);
    if (outcome.end == ParseEnd::go_on)
        if (const auto added = add_ids(options, outcome.rest); !added)
            outcome = {ParseEnd::wrong, {}, added.error().text};
    if (outcome.end != ParseEnd::go_on)
        return finish_early(
            outcome, self.console,
            {help_text("scancel [OPTIONS] [job_id[_array_id][.step_id] ...]", option_table()), usage_text});

    const auto explain = [&](const Failure& failure) {
        failure.print_details(self.console);
        self.console.error("{}", failure.text);
        return 1;
    };
    auto session = Session::open(self.controller, &self.console);
    if (!session) return explain(session.error());
    if (!options.clusters.empty())
        if (const auto chosen = session->choose_cluster(options.clusters); !chosen) return explain(chosen.error());
    if (options.interactive) {
        const auto any = ask_about_each(*session, options);
        if (!any) return explain(any.error());
        if (!*any) return 0;
    }
    auto call = Session::write_options();
    call.idempotent = options.signal == 0;  // cancelling twice is cancelling
    const auto reply = session->call<v1::JobActionReply>("SignalJobs", options.request, call);
    if (!reply) return explain(reply.error());
    if (reply->outcomes().empty() && options.verbose > 0)
        self.console.error("No active jobs match ALL job filters, including: {}", options.filters_text());
    return report(self.console, options, *reply);
}

}  // namespace spur::cli
