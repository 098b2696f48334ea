// salloc: allocate nodes, and run a command or a shell with them.
#include "cli/submit/salloc.hpp"

#include "cli/common/session.hpp"
#include "cli/submit/allocation.hpp"
#include "cli/submit/command_run.hpp"
#include "cli/submit/common.hpp"
#include "cli/submit/request.hpp"

#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace spur::cli {
namespace {

using namespace submit;

std::vector<std::string> shell() {
    const char* name = std::getenv("SHELL");
    if (name == nullptr || *name == '\0')
        if (const auto* user = ::getpwuid(::getuid())) name = user->pw_shell;
    return {name && *name ? name : "/bin/sh", "-i"};
}

// The job's components in order; just the job if they cannot be asked for.
std::vector<v1::Job> components_of(Session& session, const v1::Job& job) {
    v1::ListJobsRequest request;
    request.add_ids(fmt::format("{}", job.id()));
    const auto reply = session.call<v1::ListJobsReply>("ListJobs", request);
    if (!reply || reply->jobs().empty()) return {job};
    std::vector<v1::Job> jobs(reply->jobs().begin(), reply->jobs().end());
    std::ranges::sort(jobs, {}, &v1::Job::het_offset);
    return jobs;
}

}  // namespace

int run_salloc(Invocation& self) {
    auto split = split_command_line(salloc, self.words);
    if (split.outcome.end != ParseEnd::go_on) return leave(self.console, salloc, split.outcome);
    auto read = read_components(salloc, split.line, {}, true);
    if (read.outcome.end != ParseEnd::go_on) return leave(self.console, salloc, read.outcome);
    auto& options = read.components.front();
    if (options.quiet) self.console.quiet();

    const auto submitter = Submitter::here(self.words);
    AllocationRequest request{{}, salloc, options.quiet, options.immediate_s, "Job submit/allocate failed"};
    for (std::size_t i = 0; i < read.components.size(); ++i) {
        auto& component = read.components[i];
        static_cast<void>(complete(salloc, component, submitter));
        component.spec.set_kind(v1::JobSpec::ALLOCATION);
        component.spec.set_het_offset(static_cast<std::uint32_t>(i));
        if (component.spec.name().empty()) component.spec.set_name("interactive");
        *request.submit.add_components() = component.spec;
    }
    request.submit.set_request_id(new_request_id());

    auto session = Session::open(self.controller, &self.console);
    if (!session) {
        session.error().print_details(self.console);
        self.console.error("Job submit/allocate failed: {}", session.error().text);
        return error_exit_code(1);
    }
    if (!options.clusters.empty())
        if (const auto chosen = session->choose_cluster(options.clusters); !chosen)
            return self.console.error("{}", chosen.error().text), error_exit_code(1);
    const auto job = allocate(*session, self.console, request);
    if (!job) return job.error();
    self.console.info("Granted job allocation {}", job->id());
    if (options.bell && !options.no_bell && ::isatty(STDOUT_FILENO)) fmt::print(stderr, "\a");
    if (options.no_shell) return 0;

    const auto ping = session->call<v1::PingReply>("Ping", v1::PingRequest{});
    const auto cluster = ping ? ping->cluster() : std::string{};
    auto variables = allocation_variables(*job, options, cluster, submitter.directory, submitter.host);
    if (read.components.size() > 1)
        variables = component_variables(components_of(*session, *job), read.components, cluster, submitter.directory,
                                        submitter.host);
    for (const auto& [name, value] : variables.pairs()) ::setenv(name.c_str(), value.c_str(), 1);
    if (!options.chdir.empty() && ::chdir(options.chdir.c_str()) != 0)
        self.console.error("chdir({}): {}", options.chdir, std::strerror(errno));

    const auto end = run_command(*session, self.console, job->id(),
                                 split.line.command.empty() ? shell() : split.line.command, options.kill_command);
    if (end.revoked) return WIFEXITED(end.status) ? WEXITSTATUS(end.status) : 1;
    self.console.info("Relinquishing job allocation {}", job->id());
    release(*session, job->id(), static_cast<std::uint32_t>(end.status));
    if (end.hung_up) return 1;
    if (read.components.size() > 1) self.console.info("Job allocation {} has been revoked.", job->id());
    return WIFEXITED(end.status) ? WEXITSTATUS(end.status) : 0;
}

}  // namespace spur::cli
