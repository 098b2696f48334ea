// Running a step.
#include "cli/srun/step_run.hpp"

#include "cli/srun/terminal.hpp"
#include "daemons/common/wire/members.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace spur::cli::srun {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t input_piece = 64 * 1024;
constexpr std::size_t input_backlog = 1 << 20;  // unsent bytes at an agent beyond which stdin is left unread
constexpr std::size_t inputs_kept = 4 << 20;    // more than can be under way
constexpr std::uint64_t confirm_messages = 64;  // received before they are confirmed
constexpr std::size_t confirm_bytes = 256 * 1024;
constexpr auto agent_patience = 60s;  // for an agent to be restarted
constexpr auto look_again = 250ms;
constexpr auto interrupt_notice = 200ms;  // from Ctrl-C's SIGINT to SIGKILL: enough to clean up a little

constexpr int forwarded[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGURG};

}  // namespace

namespace {

google::protobuf::RepeatedPtrField<v1::TaskLayout> whole_layout(const std::vector<StepPart>& parts) {
    google::protobuf::RepeatedPtrField<v1::TaskLayout> layout;
    for (const auto& part : parts) layout.MergeFrom(part.step.layout());
    return layout;
}

}  // namespace

StepRun::StepRun(Session& session, const Console& console, std::vector<StepPart> parts, RunSettings settings)
    : session_(session),
      console_(console),
      step_id_(fmt::format("{}.{}", parts.front().step.step().job_id(), parts.front().step.step().step_id())),
      parts_(std::move(parts)),
      settings_(std::move(settings)),
      tasks_(whole_layout(parts_)) {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH, SIGCONT}) ::sigaddset(&signals, number);
    for (const int number : forwarded) ::sigaddset(&signals, number);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    signal_fd_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGTTIN, SIG_IGN);
}

StepRun::~StepRun() {
    if (signal_fd_ >= 0) ::close(signal_fd_);
    if (owns_input_ && input_fd_ >= 0) ::close(input_fd_);
}

void StepRun::connect(const StepPart& part, const v1::TaskLayout& layout) {
    auto& added = agents_.emplace_back();
    added.part = &part;
    added.node = layout.node();
    added.address = layout.addr();
    added.tasks.assign(layout.tasks().begin(), layout.tasks().end());
    v1::StepInput first;
    *first.mutable_launch() = part.launch;
    first.mutable_launch()->set_node(layout.node());
    open_stream(added, first, 10s);
    if (!added.stream) lose(added, added.why);
}

// Where that fails, agent.why says why.
void StepRun::open_stream(Agent& agent, const v1::StepInput& first, Clock::duration patience) {
    agent.stream.reset();
    const auto endpoint = wire::resolve({agent.node, agent.address});
    if (!endpoint) {
        agent.why = endpoint.error().text;
        return;
    }
    agent.channel = std::make_unique<wire::Channel>(session_.channel_to(*endpoint, agent.node));
    const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
    auto stream =
        agent.channel->open("/spur.v1.Agent/RunStep", {.timeout = limit, .idempotent = false, .metadata = {}});
    if (!stream) {
        agent.why = stream.error().text;
        return;
    }
    agent.stream.emplace(std::move(*stream));
    static_cast<void>(agent.stream->write(first.SerializeAsString()));  // its end shows when it is next read
}

// ---- an agent that is restarted ------------------------------------------------------------------------------------

void StepRun::Inputs::add(const std::string& message) {
    bytes += message.size();
    kept.push_back(message);
    while (bytes > inputs_kept) forget_before(first + 1);
}

void StepRun::Inputs::forget_before(std::uint64_t number) {
    for (; first < number && !kept.empty(); ++first) {
        bytes -= kept.front().size();
        kept.pop_front();
    }
}

// Its stream broke. Steps outlive their spurd, so it is looked for again for a while.
void StepRun::miss(Agent& agent, std::string why) {
    const auto now = Clock::now();
    if (!agent.lost_at) agent.lost_at = now;
    agent.stream.reset();
    if (agent.received == 0 || now - *agent.lost_at > agent_patience) return lose(agent, why);
    agent.look_again_at = now + look_again;
}

void StepRun::look_for(Agent& agent) {
    agent.look_again_at.reset();
    v1::ListNodesRequest request;  // it may listen elsewhere now
    request.set_names(agent.node);
    if (const auto reply = session_.call<v1::ListNodesReply>("ListNodes", request); reply && reply->nodes_size() == 1)
        if (const auto& node = reply->nodes(0); !node.addr().empty() && node.port() != 0)
            agent.address = fmt::format("{}:{}", node.addr(), node.port());
    v1::StepInput first;
    first.mutable_attach()->set_credential(agent.part->launch.credential());
    first.mutable_attach()->set_node(agent.node);
    first.mutable_attach()->set_received(agent.received);
    open_stream(agent, first, 2s);
    if (!agent.stream) miss(agent, agent.why);
}

void StepRun::resume(Agent& agent, std::uint64_t inputs) {
    agent.lost_at.reset();
    agent.inputs.forget_before(inputs);
    for (const auto& message : agent.inputs.kept) static_cast<void>(agent.stream->write(message));
    for (const auto& message : std::exchange(agent.held, {})) static_cast<void>(agent.stream->write(message));
}

// What has arrived need not be kept over there any longer.
void StepRun::count(Agent& agent, std::size_t bytes, bool at_once) {
    ++agent.received;
    agent.unconfirmed_bytes += bytes;
    if (!at_once && agent.received - agent.confirmed < confirm_messages && agent.unconfirmed_bytes < confirm_bytes)
        return;
    agent.confirmed = agent.received;
    agent.unconfirmed_bytes = 0;
    v1::StepInput message;
    message.mutable_received()->set_count(agent.received);
    static_cast<void>(agent.stream->write(message.SerializeAsString()));
}

void StepRun::send(Agent& agent, const v1::StepInput& message) {
    if (agent.over) return;
    const auto bytes = message.SerializeAsString();
    if (message.has_input()) agent.inputs.add(bytes);
    if (!agent.lost_at)
        static_cast<void>(agent.stream->write(bytes));
    else if (!message.has_input())
        agent.held.push_back(bytes);
}

// ---- starting ------------------------------------------------------------------------------------------------------

void StepRun::connect() {
    for (const auto& part : parts_)
        for (const auto& layout : part.step.layout()) connect(part, layout);
    if (settings_.input.kind == StreamPlan::Kind::one_task) end_input_of_others();
}

// -i N: every task but N finds its input at an end.
void StepRun::end_input_of_others() {
    for (auto& agent : agents_)
        for (const auto task : agent.tasks) {
            if (task == settings_.input.task) continue;
            v1::StepInput message;
            message.mutable_input()->set_task(task);
            message.mutable_input()->set_eof(true);
            send(agent, message);
        }
}

void StepRun::open_input() {
    using Kind = StreamPlan::Kind;
    const auto& plan = settings_.input;
    if (plan.kind == Kind::none || plan.kind == Kind::remote_files) return;
    if (plan.kind == Kind::local_file) {
        const auto path = expand_path(plan.pattern, settings_.values, settings_.work_dir);
        input_fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        owns_input_ = true;
        return;
    }
    input_fd_ = STDIN_FILENO;
}

int StepRun::run() {
    auto output = TaskOutput::open(settings_.output, settings_.values, settings_.work_dir);
    if (!output) {
        console_.error("{}", output.error().text);
        return 1;
    }
    output_.emplace(std::move(*output));
    open_input();
    if (settings_.input.kind == StreamPlan::Kind::local_file && input_fd_ < 0) {
        console_.error("Could not open stdin file: {}", std::strerror(errno));
        return 1;
    }
    connect();
    std::optional<RawTerminal> raw;
    if (settings_.pty && ::isatty(STDIN_FILENO)) raw.emplace(STDIN_FILENO);
    while (!is_over()) {
        pump();
        check_timers();
        if (abort_at_ && Clock::now() - *abort_at_ > std::chrono::seconds(settings_.kill_wait_s + 2)) break;
    }
    output_->flush();
    raw.reset();
    tell_exits();
    if (tasks_.was_killed() && !aborted_) console_.info("Force Terminated StepId={}", step_id_);
    return failed_to_launch_ && tasks_.exit_code() == 0 ? 1 : tasks_.exit_code();
}

// Not when the last task has exited: what it wrote last may still be on its way. Each agent says when that was all.
bool StepRun::is_over() const { return std::ranges::all_of(agents_, &Agent::over); }

bool StepRun::input_may_flow() const {
    if (input_fd_ < 0) return false;
    for (const auto& agent : agents_)
        if (!agent.over && (agent.lost_at || agent.stream->unsent() > input_backlog)) return false;
    return true;
}

void StepRun::pump() {
    // Writing to a stream reads from it too, so what has arrived is looked for before waiting for more.
    drain_agents();
    if (is_over()) return;
    std::vector<pollfd> waits{{signal_fd_, POLLIN, 0}};
    const bool reads = input_may_flow();
    if (reads) waits.push_back({input_fd_, POLLIN, 0});
    for (auto& agent : agents_)
        waits.push_back({agent.stream && !agent.over ? agent.stream->fd() : -1,
                         agent.stream ? agent.stream->events() : short{0}, 0});
    // Exits that came together are told together; a moment shows whether there are more.
    const bool timers = first_exit_ || abort_at_ || kill_at_ || std::ranges::any_of(agents_, [](const Agent& agent) {
                            return agent.look_again_at.has_value();
                        });
    const int ready = ::poll(waits.data(), waits.size(), tasks_.any_failed() ? 20 : timers ? 100 : -1);
    if (ready <= 0) tell_exits();
    if (waits[0].revents != 0) {
        signalfd_siginfo info{};
        while (::read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
            on_signal(static_cast<int>(info.ssi_signo));
    }
    if (reads && waits[1].revents != 0) read_input();
    for (auto& agent : agents_)
        if (agent.stream && !agent.over) agent.stream->pump();
}

void StepRun::drain_agents() {
    for (auto& agent : agents_) {
        if (!agent.stream || agent.over) continue;
        while (auto message = agent.stream->next()) {
            v1::StepOutput parsed;
            if (parsed.ParseFromString(*message)) take(agent, parsed, message->size());
            if (agent.over) break;
        }
        if (!agent.over && agent.stream->ended())
            miss(agent, agent.stream->error() ? agent.stream->error()->text : "the agent closed the stream");
    }
}

JobNodes StepRun::begun() const {
    JobNodes begun;
    for (const auto& agent : agents_)
        if (agent.begun) begun.emplace(agent.part->step.step().job_id(), agent.node);
    return begun;
}

void StepRun::take(Agent& agent, const v1::StepOutput& message, std::size_t bytes) {
    agent.begun = agent.begun || !message.has_failed();
    switch (message.body_case()) {
        case v1::StepOutput::kOutput:
        case v1::StepOutput::kStarted:
        case v1::StepOutput::kExited:
        case v1::StepOutput::kAborted:
            count(agent, bytes, message.has_exited() || message.output().eof());
            break;
        default:
            break;
    }
    switch (message.body_case()) {
        case v1::StepOutput::kOutput: {
            const auto& chunk = message.output();
            output_->write(chunk.task(), chunk.error_stream(), chunk.data(), chunk.eof());
            break;
        }
        case v1::StepOutput::kStarted:
            for (const auto task : message.started().tasks()) tasks_.started(task);
            break;
        case v1::StepOutput::kExited: {
            const auto& exit = message.exited();
            tasks_.exited(exit.task(), exit.status(), exit.oom());
            if (!first_exit_) first_exit_ = Clock::now();
            if (settings_.kill_on_bad_exit && tasks_.any_failed() && !terminating_) {
                tell_exits();
                terminate_step(SIGTERM);
            }
            break;
        }
        case v1::StepOutput::kResumed:
            resume(agent, message.resumed().inputs());
            break;
        case v1::StepOutput::kAborted:
            announce_abort();
            break;
        case v1::StepOutput::kEnd:
            for (const auto task : agent.tasks) tasks_.exited(task, message.end().exit_status(), false);
            agent.over = true;
            break;
        case v1::StepOutput::kFailed:
            lose(agent, message.failed().error(), 1);
            break;
        case v1::StepOutput::BODY_NOT_SET:
            break;
    }
}

// An agent that cannot be reached, refuses, or goes away while its tasks run.
void StepRun::lose(Agent& agent, std::string_view why, int exit_code) {
    if (agent.over) return;
    agent.over = true;
    failed_to_launch_ = true;
    console_.error("Task launch for StepId={} failed on node {}: {}", step_id_, agent.node, why);
    tasks_.lost(agent.node, exit_code);
    if (!tasks_.all_over()) terminate_step(SIGTERM);
}

void StepRun::read_input() {
    char buffer[input_piece];
    const auto count = ::read(input_fd_, buffer, sizeof buffer);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
    v1::StepInput message;
    auto& input = *message.mutable_input();
    if (settings_.input.kind == StreamPlan::Kind::one_task) input.set_task(settings_.input.task);
    if (count > 0) {
        input.set_data(buffer, static_cast<std::size_t>(count));
    } else {
        input.set_eof(true);
        if (owns_input_) ::close(input_fd_);
        owns_input_ = false;
        input_fd_ = -1;
    }
    send_all(message);
}

void StepRun::send_all(const v1::StepInput& message) {
    for (auto& agent : agents_) {
        const bool only_one = message.has_input() && message.input().has_task();
        if (only_one && std::find(agent.tasks.begin(), agent.tasks.end(), message.input().task()) == agent.tasks.end())
            continue;
        send(agent, message);
    }
}

void StepRun::send_signal(int number) {
    v1::StepInput message;
    message.mutable_signal()->set_signal(static_cast<std::uint32_t>(number));
    send_all(message);
}

void StepRun::send_window() {
    const auto size = window_size(STDIN_FILENO);
    if (!settings_.pty || !size) return;
    v1::StepInput message;
    message.mutable_window()->set_rows(size->rows);
    message.mutable_window()->set_columns(size->columns);
    send_all(message);
}

void StepRun::on_signal(int number) {
    switch (number) {
        case SIGINT:
            return interrupt();
        case SIGQUIT:
            console_.info("Quit");
            [[fallthrough]];
        case SIGTERM:
        case SIGHUP:
            return abort_step();
        case SIGCONT:
            return console_.info("got SIGCONT");
        case SIGWINCH:
            return send_window();
        default:
            return send_signal(number);
    }
}

// The first Ctrl-C asks how things stand; a second within a second means it.
void StepRun::interrupt() {
    const auto now = Clock::now();
    if (abort_at_) {
        console_.info("job abort in progress");
        send_signal(SIGKILL);
        abort_at_ = now - std::chrono::seconds(settings_.kill_wait_s + 2);  // a third time: leave
        return;
    }
    const bool again = last_interrupt_ != Clock::time_point{} && now - last_interrupt_ <= 1s;
    if (!again && !settings_.forward_interrupt && !settings_.quit_on_interrupt) {
        last_interrupt_ = now;
        console_.info("interrupt (one more within 1 sec to abort)");
        for (const auto& line : tasks_.states()) console_.info("StepId={} {}", step_id_, line);
        return;
    }
    console_.info("sending Ctrl-C to StepId={}", step_id_);
    send_signal(SIGINT);
    if (settings_.forward_interrupt && !again) {
        last_interrupt_ = now;
        return;
    }
    interrupted_ = true;
    console_.info("forcing job termination");
    announce_abort();
    abort_at_ = now;
    kill_at_ = now + interrupt_notice;
}

void StepRun::abort_step() {
    console_.info("forcing job termination");
    announce_abort();
    abort_at_ = Clock::now();
    send_signal(SIGCONT);
    send_signal(SIGKILL);
}

// By us, or by whoever cancelled the step or the job.
void StepRun::announce_abort() {
    if (std::exchange(aborted_, true)) return;
    console_.info("Job step aborted: Waiting up to {} seconds for job step to finish.", settings_.kill_wait_s + 2);
}

// The step as a whole has no more purpose: a task failed with -K, or the others waited long enough.
void StepRun::terminate_step(int number) {
    if (terminating_) return;
    terminating_ = true;
    console_.info("launch/slurm: _step_signal: Terminating StepId={}", step_id_);
    send_signal(SIGCONT);
    send_signal(number);
    kill_at_ = Clock::now() + std::chrono::seconds(settings_.kill_wait_s);
}

void StepRun::check_timers() {
    const auto now = Clock::now();
    for (auto& agent : agents_)
        if (agent.look_again_at && now >= *agent.look_again_at) look_for(agent);
    if (kill_at_ && now >= *kill_at_) {
        kill_at_.reset();
        send_signal(SIGKILL);
    }
    if (settings_.wait_s != 0 && first_exit_ && !terminating_ && !tasks_.all_over() &&
        now - *first_exit_ >= std::chrono::seconds(settings_.wait_s)) {
        console_.info("First task exited {}s ago", settings_.wait_s);
        for (const auto& line : tasks_.states()) console_.info("StepId={} {}", step_id_, line);
        terminate_step(SIGKILL);
    }
}

void StepRun::tell_exits() {
    for (const auto& line : tasks_.take_messages(!interrupted_)) console_.error("{}", line);
}

}  // namespace spur::cli::srun
