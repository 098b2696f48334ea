// srun: run tasks on allocated nodes, and wait for them.
#include "cli/srun/srun.hpp"

#include "cli/common/job_text.hpp"
#include "cli/common/session.hpp"
#include "cli/srun/step_run.hpp"
#include "cli/srun/terminal.hpp"
#include "cli/submit/allocation.hpp"
#include "cli/submit/common.hpp"
#include "cli/submit/request.hpp"
#include "core/array_spec.hpp"
#include "core/gres.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace spur::cli {
namespace {

using namespace submit;
using namespace std::chrono_literals;

class Srun {
public:
    Srun(Invocation& self, Session& session, SubmitOptions options, std::vector<std::string> command,
         Submitter submitter)
        : self_(self),
          console_(self.console),
          session_(session),
          options_(std::move(options)),
          command_(std::move(command)),
          submitter_(std::move(submitter)) {}

    int run() {
        if (options_.test_only) return test();
        const auto job = options_.step.job_id ? join(*options_.step.job_id) : allocate_own();
        if (!job) return job.error();
        const int code = run_in(*job);
        if (!options_.step.job_id) release(session_, job->id(), release_status_);
        return code;
    }

private:
    int refuse(std::string_view what, const Failure& failure) {
        failure.print_details(console_);
        console_.error("{}: {}", what, failure.text);
        return error_exit_code(1);
    }

    v1::SubmitRequest submit_request() {
        v1::SubmitRequest request;
        auto& spec = options_.spec;
        spec.set_kind(v1::JobSpec::STEP_ALLOCATION);
        if (spec.name().empty()) spec.set_name(command_.front().substr(command_.front().rfind('/') + 1));
        for (const auto& word : command_) spec.add_argv(word);
        *request.add_components() = spec;
        request.set_request_id(new_request_id());
        return request;
    }

    int test() {
        auto request = submit_request();
        request.set_test_only(true);
        const auto reply = session_.call<v1::SubmitReply>("Submit", request);
        if (!reply) return refuse("allocation failure", reply.error());
        console_.info("{}", test_report(*reply));
        return 0;
    }

    // The job we are in, or the one --jobid names.
    std::expected<v1::Job, int> join(std::uint32_t id) {
        v1::AwaitAllocationRequest request;
        request.set_job_id(id);
        request.set_timeout_ms(60'000);
        for (;;) {
            const auto reply = session_.call<v1::AwaitAllocationReply>(
                "AwaitAllocation", request, {.timeout = 90s, .idempotent = true, .metadata = {}});
            if (!reply) {
                const int code = refuse(fmt::format("Unable to confirm allocation for job {}", id), reply.error());
                if (reply.error().code == ErrorCode::not_found)
                    console_.info("Check SLURM_JOB_ID environment variable. Expired or invalid job {}", id);
                return std::unexpected(code);
            }
            if (job_state(reply->job()).is_finished()) {
                console_.error("Unable to confirm allocation for job {}: Job/step already completing or completed", id);
                console_.info("Check SLURM_JOB_ID environment variable. Expired or invalid job {}", id);
                return std::unexpected(error_exit_code(1));
            }
            if (reply->ready()) return reply->job();
        }
    }

    std::expected<v1::Job, int> allocate_own() {
        AllocationRequest request{submit_request(), srun, options_.quiet, options_.immediate_s,
                                  "Unable to allocate resources"};
        return allocate(session_, console_, request);
    }

    std::expected<v1::CreateStepReply, int> create_step(const v1::CreateStepRequest& wanted) {
        auto request = wanted;
        request.set_timeout_ms(300);
        for (bool told = false;;) {
            const auto reply = session_.call<v1::CreateStepReply>(
                "CreateStep", request, {.timeout = 90s, .idempotent = false, .metadata = {}});
            if (!reply)
                return std::unexpected(
                    refuse(fmt::format("Unable to create step for job {}", request.job_id()), reply.error()));
            if (!reply->wait()) {
                if (told && !options_.quiet) console_.info("Step created for job {}", request.job_id());
                return *reply;
            }
            if (options_.immediate_s) {
                console_.error("Unable to create step for job {}: Requested nodes are busy", request.job_id());
                return std::unexpected(immediate_exit_code(1));
            }
            if (!told && !options_.quiet)
                console_.info("Job {} step creation temporarily disabled, retrying (Requested nodes are busy)",
                              request.job_id());
            told = true;
            request.set_timeout_ms(60'000);
        }
    }

    int run_in(const v1::Job& job) {
        const bool own = !options_.step.job_id;
        const auto wanted = step::step_request(options_, job, own, command_.front());
        if (!wanted) {
            console_.error("{}", wanted.error().text);
            return error_exit_code(1);
        }
        for (const auto& warning : wanted->warnings) console_.info("{}", warning);
        const auto made = create_step(wanted->request);
        if (!made) return made.error();
        if (!run_here(options_.step.prolog, *made)) return error_exit_code(1);

        auto settings = run_settings(job, *made);
        if (!settings) {
            console_.error("{}", settings.error().text);
            finish(*made, 1 << 8);
            return error_exit_code(1);
        }
        step::StepRun run(session_, console_, *made, std::move(*settings));
        const int code = run.run();
        release_status_ = run.book().wait_status();
        finish(*made, release_status_);
        run_here(options_.step.epilog, *made);
        return code;
    }

    void finish(const v1::CreateStepReply& made, std::uint32_t status) {
        v1::FinishStepRequest request;
        request.set_job_id(made.step().job_id());
        request.set_step_id(made.step().step_id());
        request.set_exit_status(status);
        static_cast<void>(session_.call<v1::Ack>("FinishStep", request));
    }

    // --prolog and --epilog run where srun runs, with the step's numbers in their environment.
    bool run_here(const std::string& program, const v1::CreateStepReply& made) {
        if (program.empty() || program == "none") return true;
        ::setenv("SLURM_JOB_ID", fmt::format("{}", made.step().job_id()).c_str(), 1);
        ::setenv("SLURM_STEP_ID", fmt::format("{}", made.step().step_id()).c_str(), 1);
        const int status = std::system(program.c_str());
        if (status == 0) return true;
        console_.error("{} failed with status {}", program, WIFEXITED(status) ? WEXITSTATUS(status) : status);
        return false;
    }

    Result<step::RunSettings> run_settings(const v1::Job& job, const v1::CreateStepReply& made);
    void fill_launch(v1::StepLaunch& launch, const v1::CreateStepReply& made, std::vector<std::string> environment);

    Invocation& self_;
    const Console& console_;
    Session& session_;
    SubmitOptions options_;
    std::vector<std::string> command_;
    Submitter submitter_;
    std::uint32_t release_status_ = 0;
};

void Srun::fill_launch(v1::StepLaunch& launch, const v1::CreateStepReply& made, std::vector<std::string> environment) {
    const auto& step = options_.step;
    launch.set_credential(made.credential());
    for (const auto& word : command_) launch.add_argv(word);
    for (auto& pair : environment) launch.add_environment(std::move(pair));
    launch.set_work_dir(options_.spec.work_dir());
    launch.set_append(options_.spec.open_mode_append());
    launch.set_unbuffered(step.unbuffered);
    launch.set_umask(options_.spec.umask());
    for (const auto& limit : options_.spec.rlimits()) {
        auto& entry = *launch.add_rlimits();
        entry.set_name(limit.name());
        entry.set_soft(limit.soft());
        entry.set_hard(limit.hard());
    }
    launch.set_task_prolog(step.task_prolog);
    launch.set_task_epilog(step.task_epilog);
    launch.set_label(step.label);
    launch.set_kill_on_bad_exit(step.kill_on_bad_exit.value_or(false) ? 1 : 0);
    launch.set_cpu_bind(options_.spec.cpu_bind());
    launch.set_gpu_bind(options_.spec.gpu_bind());
    if (const auto wanted = parse_gres(options_.spec.gres_per_task()))  // each task sees its own
        launch.set_gpus_per_task(static_cast<std::uint32_t>(gres_count(*wanted, "gpu")));
    if (options_.spec.gpu_bind().empty() && options_.spec.has_tasks_per_gpu())
        launch.set_gpu_bind(fmt::format("single:{}", options_.spec.tasks_per_gpu()));
    launch.set_srun_pid(static_cast<std::uint32_t>(::getpid()));
    launch.set_srun_host(submitter_.host);
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

Result<step::RunSettings> Srun::run_settings(const v1::Job& job, const v1::CreateStepReply& made) {
    using Kind = step::StreamPlan::Kind;
    const auto& wanted = options_.step;
    step::RunSettings settings;
    SPUR_TRY(auto environment, exported(options_, submitter_.environment));
    if (!wanted.job_id) {
        environment.push_back("SLURM_SUBMIT_DIR=" + submitter_.directory);
        environment.push_back("SLURM_SUBMIT_HOST=" + submitter_.host);
    }
    environment.push_back(fmt::format("SLURM_PRIO_PROCESS={}", submitter_.nice));
    environment.push_back(fmt::format("SRUN_DEBUG={}", 3 + options_.verbose - (options_.quiet ? 1 : 0)));
    fill_launch(settings.launch, made, std::move(environment));

    const auto tasks = made.step().tasks();
    const auto plan_of = [&](const std::string& text) {
        auto plan = step::stream_plan(text);
        if (plan.kind == Kind::one_task && plan.task >= tasks) plan.kind = Kind::local_file;
        return plan;
    };
    settings.input = plan_of(wanted.std_in);
    settings.output = {plan_of(wanted.std_out), plan_of(wanted.std_err),          wanted.label,
                       wanted.unbuffered,       options_.spec.open_mode_append(), tasks};
    const auto remote = [](const step::StreamPlan& plan) {
        return plan.kind == Kind::remote_files || plan.kind == Kind::none ? plan.pattern : std::string();
    };
    settings.launch.set_std_in(remote(settings.input));
    settings.launch.set_std_out(remote(settings.output.out));
    settings.launch.set_std_err(wanted.std_err.empty() && settings.output.out.kind != Kind::one_task
                                    ? remote(settings.output.out)
                                    : remote(settings.output.err));
    settings.work_dir = options_.spec.work_dir();
    settings.values = pattern_values(job, made.step());

    settings.pty = wanted.pty;
    if (wanted.pty) {
        if (const auto size = step::window_size(STDIN_FILENO)) {
            settings.launch.set_pty(true);
            settings.launch.mutable_window()->set_rows(size->rows);
            settings.launch.mutable_window()->set_columns(size->columns);
        } else {
            console_.error("ioctl(TIOCGWINSZ): Inappropriate ioctl for device");
            console_.error("Not using a pseudo-terminal, disregarding --pty option");
            settings.pty = false;
        }
    }
    if (wanted.multi_prog) {
        SPUR_TRY(const auto text, whole_file(command_.front()));
        SPUR_TRY(const auto lines, step::multi_prog_commands(text, tasks, command_.front()));
        for (const auto& line : lines) settings.launch.add_multi_prog(line);
    }
    settings.kill_on_bad_exit = wanted.kill_on_bad_exit.value_or(false);
    settings.forward_interrupt = wanted.disable_status;
    settings.quit_on_interrupt = wanted.quit_on_interrupt;
    settings.wait_s = wanted.wait_s.value_or(0);
    return settings;
}

}  // namespace

int run_srun(Invocation& self) {
    auto split = split_command_line(srun, self.words);
    if (split.outcome.end != ParseEnd::go_on) return leave(self.console, srun, split.outcome);
    auto read = read_components(srun, split.line, {}, true);
    if (read.outcome.end != ParseEnd::go_on) return leave(self.console, srun, read.outcome);
    if (split.line.components.size() > 1) {
        self.console.error("steps over several components (`:`) are not supported yet; run one srun for each");
        return error_exit_code(1);
    }
    auto& options = read.components.front();
    if (!options.step.het_group.empty() && options.step.het_group != "0") {
        self.console.error("--het-group={} is not supported yet", options.step.het_group);
        return error_exit_code(1);
    }
    if (split.line.command.empty()) {
        self.console.fatal("No command given to execute.");
        return error_exit_code(1);
    }
    if (options.quiet) self.console.quiet();
    const auto submitter = Submitter::here(self.words);
    if (const auto completed = complete(srun, options, submitter); !completed) {
        self.console.error_lines(completed.error().text);
        return error_exit_code(1);
    }
    auto session = Session::open(self.controller);
    if (!session) {
        session.error().print_details(self.console);
        self.console.error("Unable to allocate resources: {}", session.error().text);
        return error_exit_code(1);
    }
    return Srun(self, *session, std::move(options), std::move(split.line.command), submitter).run();
}

}  // namespace spur::cli
