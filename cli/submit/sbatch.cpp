// sbatch: submit a batch script.
#include "cli/submit/sbatch.hpp"

#include "cli/common/job_text.hpp"
#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/submit/common.hpp"
#include "cli/submit/request.hpp"
#include "cli/submit/script_file.hpp"
#include "core/text/timefmt.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <thread>

namespace spur::cli {
namespace {

using namespace submit;

// Everything about the request but the conversation: command line, script, environment.
std::expected<v1::SubmitRequest, int> build_request(Invocation& self, std::vector<SubmitOptions>& components) {
    auto split = split_command_line(sbatch, self.words);
    if (split.outcome.end != ParseEnd::go_on) return std::unexpected(leave(self.console, sbatch, split.outcome));
    // --ignore-pbs may come from the environment, before the script is looked at.
    SubmitOptions early = split.first;
    if (std::getenv("SBATCH_IGNORE_PBS")) static_cast<void>(apply_environment(sbatch, early));
    auto script = load_script(split.first, split.line.command);
    if (!script) {
        self.console.error_lines(script.error().text);
        return std::unexpected(error_exit_code(1));
    }
    auto read = read_components(sbatch, split.line, script->text, early.ignore_pbs);
    if (read.outcome.end != ParseEnd::go_on) return std::unexpected(leave(self.console, sbatch, read.outcome));

    v1::SubmitRequest request;
    const auto submitter = Submitter::here(self.words);
    for (std::size_t i = 0; i < read.components.size(); ++i) {
        auto& options = read.components[i];
        if (const auto completed = complete(sbatch, options, submitter); !completed) {
            self.console.error_lines(completed.error().text);
            return std::unexpected(error_exit_code(1));
        }
        auto& spec = options.spec;
        spec.set_kind(v1::JobSpec::BATCH);
        spec.set_het_offset(static_cast<std::uint32_t>(i));
        spec.set_script(script->text);
        spec.set_command(script->path);
        for (const auto& argument : script->arguments) spec.add_argv(argument);
        if (spec.name().empty()) spec.set_name(script->default_name);
        *request.add_components() = spec;
    }
    request.set_test_only(read.components.front().test_only);
    request.set_request_id(new_request_id());
    components = std::move(read.components);
    return request;
}

// --wait: polls rarely and a little less often each time; the exit code is the highest of the job's own.
int wait_for(Session& session, const Console& console, std::uint32_t id) {
    using namespace std::chrono_literals;
    v1::ListJobsRequest request;
    request.add_ids(fmt::format("{}", id));
    request.add_states("all");
    request.set_all_partitions(true);
    int code = 0;
    for (auto pause = 50ms;; pause = std::min(pause * 3 / 2, std::chrono::milliseconds(2000))) {
        const auto reply = session.call<v1::ListJobsReply>("ListJobs", request);
        if (!reply && reply.error().code == ErrorCode::unavailable) {
            std::this_thread::sleep_for(pause);  // a controller that is restarting has not lost the job
            continue;
        }
        if (!reply || reply->jobs().empty()) {
            console.error("Job no longer found");
            return 1;
        }
        bool ended = true;
        for (const auto& job : reply->jobs()) {
            const auto state = job_state(job);
            ended = ended && state.is_finished() && (state.flags & job_flag::completing) == 0;
            const auto status = job.exit_status();
            const int own = (status & 0x7f) != 0 || (state.is_finished() && state.state != JobState::completed &&
                                                     ((status >> 8) & 0xff) == 0)
                                ? 1
                                : static_cast<int>((status >> 8) & 0xff);
            if (state.is_finished()) code = std::max(code, own);
        }
        if (ended) return code;
        std::this_thread::sleep_for(pause);
    }
}

}  // namespace

int run_sbatch(Invocation& self) {
    std::vector<SubmitOptions> components;
    auto request = build_request(self, components);
    if (!request) return request.error();
    const auto& options = components.front();

    auto session = Session::open(self.controller, &self.console);
    const auto refuse = [&](const Failure& failure) {
        explain_refusal(self.console, failure, options.spec);
        if (request->test_only())
            fmt::print(stderr, "allocation failure: {}\n", failure.text);
        else
            self.console.error("Batch job submission failed: {}", failure.text);
        return error_exit_code(1);
    };
    if (!session) return refuse(session.error());
    std::string cluster;  // where it was asked for
    if (!options.clusters.empty()) {
        const auto chosen = session->choose_cluster(options.clusters);
        if (!chosen) return self.console.error("{}", chosen.error().text), error_exit_code(1);
        cluster = *chosen;
    }
    auto call = Session::write_options();
    call.idempotent = true;  // the request's id makes a second sending harmless
    const auto reply = session->call<v1::SubmitReply>("Submit", *request, call);
    if (!reply) return refuse(reply.error());
    for (const auto& warning : reply->warnings()) self.console.error("{}", warning);
    if (request->test_only()) return self.console.info("{}", test_report(*reply)), 0;

    if (options.parsable)
        print_out(fmt::format("{}{}{}\n", reply->job_id(), cluster.empty() ? "" : ";", cluster));
    else if (!options.quiet)
        print_out(fmt::format("Submitted batch job {}{}{}\n", reply->job_id(), cluster.empty() ? "" : " on cluster ",
                              cluster));
    return options.wait ? wait_for(*session, self.console, reply->job_id()) : 0;
}

}  // namespace spur::cli
