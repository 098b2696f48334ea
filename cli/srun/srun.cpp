// srun: run tasks on allocated nodes, and wait for them.
#include "cli/srun/srun.hpp"

#include "cli/common/job_text.hpp"
#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/srun/step_environment.hpp"
#include "cli/srun/step_run.hpp"
#include "cli/srun/terminal.hpp"
#include "cli/submit/allocation.hpp"
#include "cli/submit/common.hpp"
#include "cli/submit/request.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/gres.hpp"
#include "core/model/gres_kind.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace spur::cli {
namespace {

using namespace submit;
using namespace std::chrono_literals;

// One component's part of the request: what it asks, and what it runs.
struct Component {
    SubmitOptions options;
    std::vector<std::string> command;
};

class Srun {
public:
    Srun(Invocation& self, Session& session, std::vector<Component> components, Submitter submitter)
        : self_(self),
          console_(self.console),
          session_(session),
          components_(std::move(components)),
          submitter_(std::move(submitter)) {}

    int run() {
        if (first().test_only) return test();
        const bool own = !first().step.job_id;
        const auto job = own ? allocate_own() : join(*first().step.job_id);
        if (!job) return job.error();
        const auto places = own ? own_places(*job) : chosen_places(*job);
        const int code = places ? run_in(*job, *places) : places.error();
        if (own) release(session_, job->id(), release_status_);
        return code;
    }

private:
    // Where a part of the step runs: a component of the job, and which of ours says what.
    struct Place {
        v1::Job job;
        Component component;
    };

    const SubmitOptions& first() const { return components_.front().options; }

    int refuse(std::string_view what, const Failure& failure) {
        failure.print_details(console_);
        console_.error("{}: {}", what, failure.text);
        return error_exit_code(1);
    }

    v1::JobSpec& complete_spec(Component& component, std::size_t offset) {
        auto& spec = component.options.spec;
        spec.set_kind(v1::JobSpec::STEP_ALLOCATION);
        spec.set_het_offset(static_cast<std::uint32_t>(offset));
        const auto& program = component.command.front();
        if (spec.name().empty()) spec.set_name(program.substr(program.rfind('/') + 1));
        spec.clear_argv();
        for (const auto& word : component.command) spec.add_argv(word);
        return spec;
    }

    v1::SubmitRequest submit_request() {
        v1::SubmitRequest request;
        for (std::size_t i = 0; i < components_.size(); ++i)
            *request.add_components() = complete_spec(components_[i], i);
        request.set_request_id(new_request_id());
        return request;
    }

    int test() {
        for (std::size_t i = 0; i < components_.size(); ++i) {
            v1::SubmitRequest request;
            *request.add_components() = complete_spec(components_[i], i);
            request.set_test_only(true);
            const auto reply = session_.call<v1::SubmitReply>("Submit", request);
            if (!reply) return refuse("allocation failure", reply.error());
            console_.info("{}", test_report(*reply));
        }
        return 0;
    }

    // The job we are in, or the one --jobid names.
    std::expected<v1::Job, int> join(std::uint32_t id) {
        v1::AwaitAllocationRequest request;
        request.set_job_id(id);
        request.set_timeout_ms(60'000);
        for (;;) {
            const auto reply = session_.call<v1::AwaitAllocationReply>(
                "AwaitAllocation", request, {.timeout = 90s, .idempotent = true, .metadata = {}, .long_poll = true});
            if (!reply) {
                const int code = refuse(fmt::format("Unable to confirm allocation for job {}", id), reply.error());
                if (reply.error().code == ErrorCode::not_found)
                    console_.info("Check SLURM_JOB_ID environment variable. Expired or invalid job {}", id);
                return std::unexpected(code);
            }
            if (job_state(reply->job()).is_finished()) {
                console_.error("Unable to confirm allocation for job {}: {}", id, refusal::already_done.sentence);
                console_.info("Check SLURM_JOB_ID environment variable. Expired or invalid job {}", id);
                return std::unexpected(error_exit_code(1));
            }
            if (reply->ready()) return reply->job();
        }
    }

    std::expected<v1::Job, int> allocate_own() {
        AllocationRequest request{submit_request(), submit::srun, first().quiet, first().immediate_s,
                                  "Unable to allocate resources"};
        return allocate(session_, console_, request);
    }

    // The components of the job, in order; the job itself where it has none.
    std::expected<std::vector<v1::Job>, int> jobs_of(const v1::Job& job) {
        if (job.het_job_id() == 0) return std::vector{job};
        v1::ListJobsRequest request;
        request.add_ids(fmt::format("{}", job.het_job_id()));
        const auto reply = session_.call<v1::ListJobsReply>("ListJobs", request);
        if (!reply) return std::unexpected(refuse("Unable to confirm allocation", reply.error()));
        std::vector<v1::Job> jobs(reply->jobs().begin(), reply->jobs().end());
        std::ranges::sort(jobs, {}, &v1::Job::het_offset);
        return jobs;
    }

    std::expected<std::vector<Place>, int> own_places(const v1::Job& job) {
        auto jobs = jobs_of(job);
        if (!jobs) return std::unexpected(jobs.error());
        std::vector<Place> places;
        for (std::size_t i = 0; i < std::min(jobs->size(), components_.size()); ++i)
            places.push_back({(*jobs)[i], components_[i]});
        return places;
    }

    // --het-group, or one component of the job for each of ours.
    std::expected<std::vector<Place>, int> chosen_places(const v1::Job& job) {
        auto jobs = jobs_of(job);
        if (!jobs) return std::unexpected(jobs.error());
        std::vector<Place> places;
        for (std::uint32_t i = 0; i < components_.size(); ++i) {
            const auto& typed = components_[i].options.step.het_group;
            const auto groups = ArraySpec::parse(typed.empty() ? fmt::format("{}", i) : typed, highest_max_array_size);
            if (!groups) {
                console_.error("Invalid --het-group specification: {}", typed);
                return std::unexpected(error_exit_code(1));
            }
            for (const auto group : groups->tasks.ids()) {
                const auto place = std::ranges::find(*jobs, group, &v1::Job::het_offset);
                if (place == jobs->end()) {
                    const auto highest = jobs->empty() ? 0 : jobs->back().het_offset();
                    console_.error("Requested het-group offset exceeds highest hetjob index ({} > {})", group, highest);
                    return std::unexpected(error_exit_code(1));
                }
                places.push_back({*place, components_[i]});
                if (job.het_job_id() != 0) srun::adopt_size(places.back().component.options, *place);
            }
        }
        return places;
    }

    std::expected<v1::CreateStepReply, int> create_step(const v1::CreateStepRequest& wanted) {
        auto request = wanted;
        request.set_timeout_ms(300);
        for (bool told = false;;) {
            const auto reply = session_.call<v1::CreateStepReply>(
                "CreateStep", request, {.timeout = 90s, .idempotent = false, .metadata = {}, .long_poll = true});
            if (!reply)
                return std::unexpected(
                    refuse(fmt::format("Unable to create step for job {}", request.job_id()), reply.error()));
            if (!reply->wait()) {
                if (told && !first().quiet) console_.info("Step created for job {}", request.job_id());
                return *reply;
            }
            if (first().immediate_s) {
                console_.error("Unable to create step for job {}: {}", request.job_id(), refusal::nodes_busy.sentence);
                return std::unexpected(immediate_exit_code(1));
            }
            if (!told && !first().quiet)
                console_.info("Job {} step creation temporarily disabled, retrying ({})", request.job_id(),
                              refusal::nodes_busy.sentence);
            told = true;
            request.set_timeout_ms(60'000);
        }
    }

    // The step in each of its components: one number, and tasks counted through.
    std::expected<std::vector<srun::StepPart>, int> create_parts(const std::vector<Place>& places) {
        std::vector<srun::StepPart> parts;
        const auto give_up = [&](int code) {
            finish(parts, 1 << 8, {});
            return std::unexpected(code);
        };
        std::uint32_t tasks = 0;
        for (const auto& place : places) {
            const bool own = !first().step.job_id;
            auto wanted = srun::step_request(place.component.options, place.job, own, place.component.command.front());
            if (!wanted) {
                console_.error("{}", wanted.error().text);
                return give_up(error_exit_code(1));
            }
            for (const auto& warning : wanted->warnings) console_.info("{}", warning);
            if (!parts.empty()) wanted->request.set_step_id(parts.front().step.step().step_id());
            wanted->request.set_first_task(tasks);
            auto made = create_step(wanted->request);
            if (!made) return give_up(made.error());
            tasks += made->step().tasks();
            parts.push_back({std::move(*made), {}});
        }
        return parts;
    }

    int run_in(const v1::Job& job, const std::vector<Place>& places) {
        auto parts = create_parts(places);
        if (!parts) return parts.error();
        const auto& made = parts->front().step;
        if (!run_here(first().step.prolog, made, "prolog_srun")) return finish(*parts, 1 << 8, {}), error_exit_code(1);

        auto settings = run_settings(job, *parts, places);
        if (!settings) {
            console_.error_lines(settings.error().text);
            finish(*parts, 1 << 8, {});
            return error_exit_code(1);
        }
        srun::StepRun run(session_, console_, *parts, std::move(*settings));
        const int code = run.run();
        release_status_ = run.tasks().wait_status();
        finish(*parts, release_status_, run.begun());
        run_here(first().step.epilog, made, "epilog_srun");
        return code;
    }

    // The agents report how the step ended where it began.
    void finish(const std::vector<srun::StepPart>& parts, std::uint32_t status, const srun::JobNodes& begun) {
        for (const auto& part : parts) {
            v1::FinishStepRequest request;
            request.set_job_id(part.step.step().job_id());
            request.set_step_id(part.step.step().step_id());
            request.set_exit_status(status);
            for (const auto& layout : part.step.layout())
                if (!begun.contains({request.job_id(), layout.node()})) request.add_not_begun(layout.node());
            static_cast<void>(session_.call<v1::Ack>("FinishStep", request));
        }
    }

    // --prolog and --epilog run where srun runs, and are told about the step.
    bool run_here(const std::string& program, const v1::CreateStepReply& made, const char* context) {
        if (program.empty() || equal_nocase(program, "none")) return true;
        const auto ping = session_.call<v1::PingReply>("Ping", v1::PingRequest{});
        const auto cluster = ping ? ping->cluster() : std::string{};
        const auto variables = srun::script_variables(first(), made, submitter_, cluster, context);
        for (const auto& [name, value] : variables.pairs()) ::setenv(name.c_str(), value.c_str(), 1);
        if (::access(program.substr(0, program.find(' ')).c_str(), R_OK | X_OK) != 0) {
            console_.info("Access denied for {}: {}", program, std::strerror(errno));
            return true;
        }
        const int status = std::system(program.c_str());
        if (status == 0) return true;
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : status;
        if (std::string_view(context) == "prolog_srun")
            console_.error("srun prolog failed rc = {}. Aborting step.", code);
        else
            console_.error("srun epilog failed status={}", code);
        return false;
    }

    Result<srun::RunSettings> run_settings(const v1::Job& job, std::vector<srun::StepPart>& parts,
                                           const std::vector<Place>& places);
    Result<void> fill_launch(srun::StepPart& part, const Component& component, bool in_component);

    Invocation& self_;
    const Console& console_;
    Session& session_;
    std::vector<Component> components_;
    Submitter submitter_;
    std::uint32_t release_status_ = 0;
};

Result<void> Srun::fill_launch(srun::StepPart& part, const Component& component, bool in_component) {
    const auto& options = component.options;
    const auto& step = options.step;
    auto& launch = part.launch;
    SPUR_TRY(auto environment, exported(options, submitter_.environment));
    if (!step.job_id) {
        environment.push_back("SLURM_SUBMIT_DIR=" + submitter_.directory);
        environment.push_back("SLURM_SUBMIT_HOST=" + submitter_.host);
        if (in_component) environment.push_back(fmt::format("SLURM_HET_SIZE={}", components_.size()));
    }
    environment.push_back(fmt::format("SLURM_PRIO_PROCESS={}", submitter_.nice));
    environment.push_back(fmt::format("SRUN_DEBUG={}", 3 + options.verbose - (options.quiet ? 1 : 0)));
    for (auto& variable : srun::option_variables(options, part.step, !step.job_id))
        environment.push_back(std::move(variable));
    launch.set_preserve_size(step.preserve_env);
    if (options.spec.has_sample_s()) launch.set_sample_s(options.spec.sample_s());
    launch.set_credential(part.step.credential());
    for (const auto& word : component.command) launch.add_argv(word);
    for (auto& pair : environment) launch.add_environment(std::move(pair));
    launch.set_work_dir(options.spec.work_dir());
    launch.set_append(options.spec.open_mode_append());
    launch.set_unbuffered(step.unbuffered);
    launch.set_umask(options.spec.umask());
    for (const auto& limit : options.spec.rlimits()) {
        auto& entry = *launch.add_rlimits();
        entry.set_name(limit.name());
        entry.set_soft(limit.soft());
        entry.set_hard(limit.hard());
    }
    launch.set_task_prolog(step.task_prolog);
    launch.set_task_epilog(step.task_epilog);
    launch.set_label(step.label);
    launch.set_kill_on_bad_exit(step.kill_on_bad_exit.value_or(false) ? 1 : 0);
    launch.set_cpu_bind(options.spec.cpu_bind());
    launch.set_gpu_bind(options.spec.gpu_bind());
    if (const auto wanted = parse_gres(options.spec.gres_per_task()))  // each task sees its own
        launch.set_gpus_per_task(static_cast<std::uint32_t>(gres_count(*wanted, gpu_gres)));
    if (options.spec.gpu_bind().empty() && options.spec.has_tasks_per_gpu())
        launch.set_gpu_bind(fmt::format("single:{}", options.spec.tasks_per_gpu()));
    launch.set_srun_pid(static_cast<std::uint32_t>(::getpid()));
    launch.set_srun_host(submitter_.host);
    return {};
}

Result<std::string> whole_file(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) return fail(ErrorCode::invalid, "Could not open multi_prog config file {}", path);
    std::string text;
    char buffer[8192];
    for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, count);
    std::fclose(file);
    return text;
}

PatternValues pattern_values(const v1::Job& job, const v1::Step& step) {
    PatternValues values;
    values.job = job.id();
    if (job.array_job_id() != 0) values.array_job = job.array_job_id();
    if (job.has_array_task_id()) values.array_task = job.array_task_id();
    values.step = step.step_id();
    values.node = batch_host(job);
    values.user = user_name(job);
    values.job_name = job.spec().name();
    return values;
}

Result<srun::RunSettings> Srun::run_settings(const v1::Job& job, std::vector<srun::StepPart>& parts,
                                             const std::vector<Place>& places) {
    using Kind = srun::StreamPlan::Kind;
    const auto& options = first();
    const auto& wanted = options.step;
    srun::RunSettings settings;
    std::uint32_t tasks = 0, nodes = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        SPUR_CHECK(fill_launch(parts[i], places[i].component, parts.size() > 1));
        parts[i].launch.set_het_first_node(nodes);
        tasks += parts[i].step.step().tasks();
        nodes += static_cast<std::uint32_t>(parts[i].step.layout_size());
    }
    if (parts.size() > 1)
        for (auto& part : parts) {
            part.launch.set_het_tasks(tasks);
            part.launch.set_het_nodes(nodes);
        }

    const auto plan_of = [&](const std::string& text) {
        auto plan = srun::stream_plan(text);
        if (plan.kind == Kind::one_task && plan.task >= tasks) plan.kind = Kind::local_file;
        return plan;
    };
    settings.input = plan_of(wanted.std_in);
    settings.output = {plan_of(wanted.std_out), plan_of(wanted.std_err),         wanted.label,
                       wanted.unbuffered,       options.spec.open_mode_append(), tasks};
    // Without -e, of one task's output its errors are part.
    if (wanted.std_err.empty() && settings.output.out.kind == Kind::one_task) settings.output.err = settings.output.out;
    const auto remote = [](const srun::StreamPlan& plan) {
        return plan.kind == Kind::remote_files || plan.kind == Kind::none ? plan.pattern : std::string();
    };
    for (auto& part : parts) {
        part.launch.set_std_in(remote(settings.input));
        part.launch.set_std_out(remote(settings.output.out));
        part.launch.set_std_err(wanted.std_err.empty() && settings.output.out.kind != Kind::one_task
                                    ? remote(settings.output.out)
                                    : remote(settings.output.err));
    }
    settings.work_dir = options.spec.work_dir();
    settings.values = pattern_values(job, parts.front().step.step());

    settings.pty = wanted.pty;
    if (wanted.pty) {
        if (const auto size = srun::window_size(STDIN_FILENO)) {
            auto& launch = parts.front().launch;
            launch.set_pty(true);
            launch.mutable_window()->set_rows(size->rows);
            launch.mutable_window()->set_columns(size->columns);
            launch.add_environment(fmt::format("SLURM_PTY_WIN_ROW={}", size->rows));
            launch.add_environment(fmt::format("SLURM_PTY_WIN_COL={}", size->columns));
        } else {
            console_.error("ioctl(TIOCGWINSZ): Inappropriate ioctl for device");
            console_.error("Not using a pseudo-terminal, disregarding --pty option");
            settings.pty = false;
        }
    }
    if (wanted.multi_prog) {
        const std::span<const std::string> command = components_.front().command;
        SPUR_TRY(const auto text, whole_file(command.front()));
        SPUR_TRY(const auto lines, srun::multi_prog_commands(text, tasks, command.front(), command.subspan(1)));
        for (auto& part : parts)
            for (const auto& line : lines) part.launch.add_multi_prog(line);
    }
    settings.kill_on_bad_exit = wanted.kill_on_bad_exit.value_or(false);
    settings.forward_interrupt = wanted.disable_status;
    settings.quit_on_interrupt = wanted.quit_on_interrupt;
    settings.wait_s = wanted.wait_s.value_or(0);
    settings.kill_wait_s = parts.front().step.kill_wait_s();
    return settings;
}

}  // namespace

int run_srun(Invocation& self) {
    auto split = split_command_line(submit::srun, self.words);
    if (split.outcome.end != ParseEnd::go_on) return leave(self.console, submit::srun, split.outcome);
    auto read = read_components(submit::srun, split.line, {}, true);
    if (read.outcome.end != ParseEnd::go_on) return leave(self.console, submit::srun, read.outcome);
    auto& options = read.components.front();
    if (options.step.mpi_list) return print_out("MPI plugin types are...\n\tnone\n"), 0;
    if (split.line.command.empty()) {
        self.console.fatal("No command given to execute.");
        return error_exit_code(1);
    }
    if (options.quiet) self.console.quiet();
    const auto submitter = Submitter::here(self.words);
    std::vector<Component> components;
    for (std::size_t i = 0; i < read.components.size(); ++i) {
        auto& component = read.components[i];
        if (const auto completed = complete(submit::srun, component, submitter); !completed) {
            self.console.error_lines(completed.error().text);
            return error_exit_code(1);
        }
        components.push_back({std::move(component), split.line.commands[i]});
    }
    auto session = Session::open(self.controller, &self.console);
    if (!session) {
        session.error().print_details(self.console);
        self.console.error("Unable to allocate resources: {}", session.error().text);
        return error_exit_code(1);
    }
    if (const auto& names = components.front().options.clusters; !names.empty())
        if (const auto chosen = session->choose_cluster(names); !chosen)
            return self.console.error("{}", chosen.error().text), error_exit_code(1);
    return Srun(self, *session, std::move(components), submitter).run();
}

}  // namespace spur::cli
