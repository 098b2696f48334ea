// The life of a plugin's process, and the calls that wait for it.
#include "daemons/common/isolate/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "daemons/common/host/module_codec.hpp"
#include "daemons/common/isolate/metric_codec.hpp"
#include "daemons/common/isolate/opening.hpp"
#include "daemons/common/log/log.hpp"

extern char** environ;

namespace spur::isolate {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int child_fd = 3;

// The program with one end of the socket as descriptor 3 and nothing else of ours. Signals of the daemon's terminal are
// not for it.
Result<int> spawn(const std::string& program, const std::string& type, int fd) {
    const auto name = "spur-plugin-child: " + type;
    char* words[] = {const_cast<char*>(name.c_str()), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, fd, child_fd);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, child_fd + 1);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, words, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return fail(ErrorCode::unavailable, "cannot start {}: {}", program, std::strerror(failed));
    return pid;
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("died of signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    if (WIFEXITED(status)) return fmt::format("called exit({})", WEXITSTATUS(status));
    return "ended";
}

}  // namespace

Process::Process(host::IsolationWanted wanted, const AxisCrossing& crossing, std::string program, Patience patience)
    : wanted_{std::move(wanted)}, crossing_{crossing}, program_{std::move(program)}, patience_{patience} {}

Process::~Process() { close(); }

Result<std::shared_ptr<host::Isolated>> Process::open(host::IsolationWanted wanted, const std::string& program,
                                                      Patience patience) {
    const auto* const crossing = find_crossing(wanted.axis->name);
    if (crossing == nullptr)
        return fail(ErrorCode::invalid,
                    "plugin {} refused: isolate is not for the axis {}, whose plugins run inside of the daemon; take "
                    "the line out of [plugin.\"{}\"]",
                    wanted.type, wanted.axis->name, wanted.type);
    const std::shared_ptr<Process> process{new Process{std::move(wanted), *crossing, program, patience}};
    process->thread_ = std::jthread{[raw = process.get()] { raw->keep_alive(); }};
    std::unique_lock lock{process->mutex_};
    process->changed_.wait(lock, [&] { return process->has_opened_ || process->refusal_; });
    if (!process->refusal_) return process;
    auto refusal = *process->refusal_;
    lock.unlock();
    process->close();
    return std::unexpected(std::move(refusal));
}

void Process::close() {
    {
        const std::lock_guard lock{mutex_};
        if (state_ == State::closed) return;
        state_ = State::closed;
        if (socket_) socket_->shut_down();  // it ends when nobody is there any more
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

host::Isolated::Status Process::status() const {
    const std::lock_guard lock{mutex_};
    return {state_ == State::running ? pid_ : 0, restarts_, last_end_};
}

// ---- the thread ----------------------------------------------------------------------------------------------------

void Process::keep_alive() {
    auto pause = patience_.first_pause;
    for (;;) {
        const auto begun = Clock::now();
        if (start_child()) {
            read_until_end();
            bury();
        }
        std::unique_lock lock{mutex_};
        if (!has_opened_ && !refusal_ && state_ != State::closed)
            refusal_ = Error{
                ErrorCode::unavailable,
                fmt::format("plugin {} in a process of its own: it {} before it was ready", wanted_.type, last_end_)};
        changed_.notify_all();
        if (refusal_ || state_ == State::closed) return;
        if (Clock::now() - begun >= patience_.calm) pause = patience_.first_pause;
        log::warning("plugin {}: its process {}; it is started again in {} ms", wanted_.type, last_end_, pause.count());
        if (changed_.wait_for(lock, pause, [this] { return state_ == State::closed; })) return;
        pause = std::min(2 * pause, patience_.longest_pause);
        ++restarts_;
        state_ = State::starting;
    }
}

bool Process::start_child() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        const std::lock_guard lock{mutex_};
        last_end_ = fmt::format("could not be given a socket ({})", std::strerror(errno));
        return false;
    }
    auto socket = std::make_shared<Socket>(ends[0]);
    const auto pid = spawn(program_, wanted_.type, ends[1]);
    ::close(ends[1]);
    const std::lock_guard lock{mutex_};
    if (!pid) {
        last_end_ = fmt::format("could not be started ({})", pid.error().text);
        return false;
    }
    pid_ = *pid;
    ended_for_.clear();
    socket_ = socket;
    if (state_ == State::closed) socket->shut_down();
    return true;
}

void Process::read_until_end() {
    const auto socket = socket_;
    Pack opening;
    pack(opening, wanted_);
    if (!socket->write(Kind::open, 0, opening.bytes())) return;
    const auto deadline = Clock::now() + patience_.start;
    bool is_open = false;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        auto record = socket->read(is_open ? -1 : static_cast<int>(std::max<long>(left, 0)));
        if (!record && !is_open && Clock::now() >= deadline)
            end_child(fmt::format("was not ready within {} s", patience_.start.count() / 1000));
        if (!record) return;
        if (record->kind == Kind::opened) {
            take_opened(*record);
            is_open = true;
        } else {
            take(*std::move(record));
        }
    }
}

void Process::take_opened(const Record& record) {
    const auto opened = unpack_opened(record.bytes);
    const auto module = opened ? host::decode_module(opened->module) : std::nullopt;
    const std::lock_guard lock{mutex_};
    if (!opened || (!opened->refusal && !module)) {
        refusal_ = Error{ErrorCode::internal, "the plugin's process said something that makes no sense"};
    } else if (opened->refusal) {
        // The first time this is the answer; later it is one more reason to try again.
        if (!has_opened_) refusal_ = opened->refusal;
        ended_for_ = "could not bring the plugin up again (" + opened->refusal->text + ")";
    } else {
        if (!has_opened_) {
            module_ = *module;
            const auto size = crossing_.axis->ops.back().offset + sizeof(void*);
            table_.assign(size / sizeof(std::uint64_t), 0);
            auto* const bytes = reinterpret_cast<char*>(table_.data());
            const auto size32 = static_cast<std::uint32_t>(size);
            std::memcpy(bytes, &size32, sizeof(size32));
            std::memcpy(bytes + sizeof(size32), &opened->header, sizeof(opened->header));
            for (std::size_t i = 0; i < crossing_.ops.size(); ++i)
                if ((opened->ops >> i & 1U) != 0)
                    std::memcpy(bytes + crossing_.axis->ops[i].offset, &crossing_.ops[i].proxy, sizeof(void*));
        }
        has_opened_ = true;
        if (state_ != State::closed) state_ = State::running;
    }
    changed_.notify_all();
}

void Process::take(Record record) {
    if (record.kind == Kind::log) {
        Unpack in{record.bytes};
        const auto level = in.get<log::Level>();
        const auto line = in.text();
        if (in.good() && level <= log::Level::trace && log::is_enabled(level)) log::write(level, line.substr(0, 4096));
        return;
    }
    if (record.kind == Kind::notice) {
        Unpack in{record.bytes};
        const auto what = in.get<std::uint32_t>();
        const auto subject = in.text(), reason = in.text();
        if (in.good() && wanted_.changed) wanted_.changed(what, subject.substr(0, 256), reason.substr(0, 1024));
        return;
    }
    const std::lock_guard lock{mutex_};
    const auto found = waiting_.find(record.call);
    if (found == waiting_.end()) return;  // it did not wait so long
    found->second->records.push_back(std::move(record));
    found->second->news.notify_one();
}

void Process::bury() {
    int pid = 0;
    {
        const std::lock_guard lock{mutex_};
        socket_->shut_down();  // it goes, if it has not gone
        pid = pid_;
    }
    // It leaves when its socket does. One that is stuck is made to, and so is whatever it started; WNOWAIT keeps the
    // number taken until then.
    siginfo_t gone{};
    for (int tries = 0; tries < 100 && gone.si_pid == 0; ++tries) {
        if (::waitid(P_PID, static_cast<id_t>(pid), &gone, WEXITED | WNOHANG | WNOWAIT) != 0) break;
        if (gone.si_pid == 0) std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    ::kill(-pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    const std::lock_guard lock{mutex_};
    last_end_ = ended_for_.empty() ? how_it_ended(status) : ended_for_;
    pid_ = 0;
    socket_.reset();
    if (state_ != State::closed) state_ = State::down;
    for (auto& [id, waiting] : waiting_) {
        waiting->is_lost = true;
        waiting->news.notify_one();
    }
    changed_.notify_all();
}

// With mutex_ held or on the thread: the process is not reaped before the socket has ended.
void Process::end_child(const std::string& why) {
    if (pid_ == 0 || !ended_for_.empty()) return;
    ended_for_ = why;
    if (state_ == State::running) state_ = State::down;  // the next call waits for another one
    ::kill(pid_, SIGKILL);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<Socket>> Process::running_socket(std::unique_lock<std::mutex>& lock) {
    changed_.wait_for(lock, patience_.again, [this] { return state_ == State::running || state_ == State::closed; });
    if (state_ == State::running) return socket_;
    return fail(ErrorCode::unavailable, "its process {} and is being started again; ask again in a moment",
                last_end_.empty() ? "ended" : last_end_);
}

Result<std::string> Process::call(unsigned op, const std::string& arguments, const spur_stop* stop, const Push& push) {
    Waiting waiting;
    std::unique_lock lock{mutex_};
    SPUR_TRY(const auto socket, running_socket(lock));
    const auto id = next_call_++;
    waiting_[id] = &waiting;
    lock.unlock();
    Pack request;
    request.raw(op);
    request.bytes() += arguments;
    const bool is_sent = socket->write(Kind::call, id, request.bytes());
    lock.lock();
    if (!is_sent && !socket->is_gone())
        end_child("took no more calls");  // how one that is gone ended is seen when it is buried
    auto answer = await_answer(lock, waiting, id, op, stop, push);
    waiting_.erase(id);
    return answer;
}

Result<std::string> Process::await_answer(std::unique_lock<std::mutex>& lock, Waiting& waiting, std::uint64_t id,
                                          unsigned op, const spur_stop* stop, const Push& push) {
    const auto begun = Clock::now();
    const auto& crossing = crossing_.ops[op];
    auto deadline = stop == nullptr     ? begun + patience_.call
                    : crossing.may_last ? Clock::time_point::max()
                                        : begun + patience_.silence;
    bool is_stopped = false;
    for (;;) {
        while (!waiting.records.empty()) {
            const auto record = std::move(waiting.records.front());
            waiting.records.pop_front();
            if (record.kind == Kind::answer) return record.bytes;
            lock.unlock();
            Unpack in{record.bytes};
            const auto parameter = in.get<unsigned>(), function = in.get<unsigned>();
            const bool asks = in.get<bool>();
            const auto said = push(parameter, function, in);
            if (asks) reply(id, said);
            lock.lock();
            if (stop != nullptr && !is_stopped && !crossing.may_last) deadline = Clock::now() + patience_.silence;
        }
        if (waiting.is_lost)
            return fail(ErrorCode::unavailable, "its process {} during {}()", last_end_, crossing_.axis->ops[op].name);
        if (!is_stopped && stop != nullptr && stop->stopped(stop) != 0) {
            is_stopped = true;
            deadline = Clock::now() + patience_.grace;
            if (socket_) {
                const auto socket = socket_;
                lock.unlock();
                socket->write(Kind::stop, id, {});
                lock.lock();
            }
            continue;
        }
        if (Clock::now() >= deadline) {
            const std::chrono::duration<double> waited = Clock::now() - begun;
            end_child(fmt::format("did not come back from {}() within {:.1f} s and was ended",
                                  crossing_.axis->ops[op].name, waited.count()));
            return fail(ErrorCode::unavailable,
                        "its process did not come back from {}() within {:.1f} s and is started again",
                        crossing_.axis->ops[op].name, waited.count());
        }
        // A stop without a descriptor is asked after now and then.
        waiting.news.wait_until(lock, std::min(deadline, Clock::now() + std::chrono::milliseconds{100}));
    }
}

void Process::reply(std::uint64_t id, spur_status said) {
    std::unique_lock lock{mutex_};
    const auto socket = socket_;
    lock.unlock();
    Pack packed;
    packed.raw(said);
    if (socket) socket->write(Kind::reply, id, packed.bytes());
}

std::vector<host::Metric> Process::metrics() {
    Waiting waiting;
    std::unique_lock lock{mutex_};
    if (state_ != State::running) return last_metrics_;
    const auto id = next_call_++;
    const auto socket = socket_;
    waiting_[id] = &waiting;
    lock.unlock();
    socket->write(Kind::metrics, id, {});
    lock.lock();
    waiting.news.wait_for(lock, patience_.grace, [&] { return !waiting.records.empty() || waiting.is_lost; });
    waiting_.erase(id);
    if (waiting.records.empty()) return last_metrics_;
    if (auto read = unpack_metrics(waiting.records.front().bytes)) last_metrics_ = std::move(*read);
    return last_metrics_;
}

host::Isolate isolator(std::string program, Patience patience) {
    if (program.empty()) {
        std::error_code error;
        program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "spur-plugin-child";
    }
    return [program, patience](host::IsolationWanted wanted) {
        return Process::open(std::move(wanted), program, patience);
    };
}

}  // namespace spur::isolate
