// squeue: the jobs and steps of the cluster.
#include "cli/squeue/squeue.hpp"

#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/squeue/json.hpp"
#include "cli/squeue/listing.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

#include <unistd.h>

#include <ctime>

namespace spur::cli {
namespace {

using namespace squeue;

constexpr std::string_view usage_text =
    "Usage: squeue [-A account] [--clusters names] [-i seconds] [--job jobid]\n"
    "              [-n name] [-o format] [-p partitions] [--qos qos]\n"
    "              [--reservation reservation] [--sort fields] [--start]\n"
    "              [--step step_id] [-t states] [-u user_name] [--usage]\n"
    "              [-L licenses] [-w nodes] [--federation] [--local] [--sibling]\n"
    "\t      [-ahjlrsv]\n";

v1::ListJobsRequest request_for(const Options& options) {
    v1::ListJobsRequest request;
    const auto& query = options.query;
    if (query.jobs)
        for (auto ref : *query.jobs) {
            ref.step.reset();
            request.add_ids(ref.str());
        }
    for (const auto& user : query.users) request.add_users(user);
    for (const auto& partition : query.partitions) request.add_partitions(partition);
    // Ended jobs are asked for when a state other than the usual is wanted, and when a job is named: that it exists
    // and is merely not listed must be told apart from its not existing.
    if (query.jobs || query.states) request.add_states("all");
    request.set_all_partitions(query.all_partitions || query.jobs.has_value());
    request.set_with_steps(options.steps);
    return request;
}

// -w takes node names and host names; both become node names.
Result<HostSet> wanted_nodes(Session& session, const std::string& text) {
    SPUR_TRY(auto names, expand_hosts(text));
    auto nodes = session.call<v1::ListNodesReply>("ListNodes", v1::ListNodesRequest{});
    if (!nodes) return fail(nodes.error().code, "{}", nodes.error().text);
    std::vector<std::string> found;
    for (auto& name : names) {
        char host[256] = "";
        if (name == "localhost" && ::gethostname(host, sizeof host - 1) == 0) name = host;
        const auto before = found.size();
        for (const auto& node : nodes->nodes())
            if (node.name() == name || node.hostname() == name) found.push_back(node.name());
        if (found.size() == before) return fail(ErrorCode::not_found, "Invalid node name {}", name);
    }
    return HostSet::of(found);
}

int list_once(Invocation& self, Session& session, const Options& options) {
    const bool one_job = options.query.jobs && options.query.jobs->size() == 1;
    auto reply = session.call<v1::ListJobsReply>("ListJobs", request_for(options));
    if (!reply && reply.error().code == ErrorCode::not_found && !one_job) reply = v1::ListJobsReply{};
    if (!reply) {
        reply.error().print_details(self.console);
        fmt::print(stderr, "{} error: {}\n", options.steps ? "slurm_get_job_steps" : "slurm_load_jobs",
                   reply.error().text);
        return 1;
    }
    if (one_job && reply->jobs().empty() && !options.steps) {
        fmt::print(stderr, "slurm_load_jobs error: {}\n", refusal::invalid_job_id.sentence);
        return 1;
    }
    if (reply->now() == 0) reply->set_now(std::time(nullptr));
    if (options.json) {
        print_out(jobs_json(*reply));
        return 0;
    }
    const auto printed = print_listing(options, *reply);
    if (!printed) {
        self.console.error("{}", printed.error().text);
        return 1;
    }
    for (const auto& complaint : printed->complaints) self.console.error("{}", complaint);
    print_out(printed->text);
    return 0;
}

// The environment, then the command line; a format typed there beats the environment's, whichever of the two kinds.
TableOutcome read_arguments(Invocation& self, Options& options) {
    if (auto outcome = apply_environment(option_table(), options); outcome.end != ParseEnd::go_on) return outcome;
    const auto format = options.format, long_format = options.long_format;
    options.format.reset();
    options.long_format.reset();
    join_optional_arguments(self.words);
    auto outcome = apply_words(option_table(), options, self.words);
    options.format_typed = options.format || options.long_format;
    if (!options.format_typed) {
        options.format = format;
        options.long_format = long_format;
    }
    return outcome;
}

// What options alone can get wrong.
bool is_sensible(const Invocation& self, Options& options, const std::vector<std::string>& rest) {
    if (!rest.empty()) {
        self.console.error("Unrecognized option: {}", rest.front());
        fmt::print(stderr, "{}", usage_text);
        return false;
    }
    if (options.format && options.long_format && options.format_typed) {
        self.console.error("-O (--Format) is incompatible with -o (--format)");
        return false;
    }
    for (const auto& user : options.unknown_users) self.console.error("Invalid user: {}\n", user);
    const auto combined = combine(options);
    if (!combined) self.console.fatal("{}", combined.error().text);
    return combined.has_value();
}

}  // namespace

int run_squeue(Invocation& self) {
    Options options;
    const auto outcome = read_arguments(self, options);
    if (outcome.end != ParseEnd::go_on)
        return finish_early(outcome, self.console, {help_text("squeue [OPTIONS]", option_table()), usage_text});
    if (!is_sensible(self, options, outcome.rest)) return 1;
    auto session = Session::open(self.controller, &self.console);
    if (!session) {
        session.error().print_details(self.console);
        fmt::print(stderr, "slurm_load_jobs error: {}\n", session.error().text);
        return 1;
    }
    if (options.clusters) {
        const auto chosen = session->choose_cluster(*options.clusters);
        if (!chosen) return self.console.error("{}", chosen.error().text), 1;
    }
    if (!options.node_list.empty()) {
        auto nodes = wanted_nodes(*session, options.node_list);
        if (!nodes) {
            self.console.error("{}", nodes.error().text);
            return 1;
        }
        options.query.nodes = std::move(*nodes);
    }
    for (;;) {
        const int code = list_once(self, *session, options);
        if (options.iterate_s == 0 || code != 0) return code;
        print_out("\n");
        ::sleep(options.iterate_s);
    }
}

}  // namespace spur::cli
