// The thread with the user's rights that opens and writes files, and the queue to it.
#include "daemons/spurstepd/user_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace spur::step {

namespace {

constexpr std::size_t thread_stack = 256 * 1024;

// A thread that nobody waits for. What it uses must live as long as it does.
Result<void> start_thread(std::function<void()> work) {
    auto owned = std::make_unique<std::function<void()>>(std::move(work));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, thread_stack);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const auto run = [](void* argument) -> void* {
        const std::unique_ptr<std::function<void()>> mine{static_cast<std::function<void()>*>(argument)};
        (*mine)();
        return nullptr;
    };
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes, run, owned.get());
    pthread_attr_destroy(&attributes);
    if (error != 0) return fail(ErrorCode::unavailable, "cannot start a thread: {}", std::strerror(error));
    static_cast<void>(owned.release());
    return {};
}

// Files are opened with the user's rights and umask from here on, by this thread alone: the C library's setgroups()
// would change the others too.
void take_user_rights(const LaunchSpec& spec) {
    if (unshare(CLONE_FS) == 0) umask(static_cast<mode_t>(spec.umask));
    if (geteuid() != 0 || spec.uid == 0) return;
    const std::vector<gid_t> groups{spec.groups.begin(), spec.groups.end()};
    syscall(SYS_setgroups, groups.size(), groups.data());
    setfsgid(spec.gid);
    setfsuid(spec.uid);
}

void tell(int news) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto told = ::write(news, &one, sizeof one);
}

// To the end, or as far as the file takes it.
void write_all(int file, std::string_view left) {
    while (!left.empty()) {
        const auto count = ::write(file, left.data(), left.size());
        if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
        if (count >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN) return;
        pollfd room{file, POLLOUT, 0};  // its description is the task's too, and the task does not block
        poll(&room, 1, -1);
    }
}

}  // namespace

// ---- opening -------------------------------------------------------------------------------------------------------

struct UserFiles::Opening {
    struct Wanted {
        std::string path;
        const char* stream;             // "stdout", for the error
        std::optional<std::size_t> in;  // the task whose input it is; none: output
        Descriptor file;
    };
    LaunchSpec rights;
    Descriptor news;
    std::vector<Wanted> wanted;  // the thread's until it is done

    std::mutex mutex;
    bool is_done{false};
    Result<void> result;

    Result<void> open_all() {
        take_user_rights(rights);
        const int writing = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (rights.append ? O_APPEND : O_TRUNC);
        for (auto& each : wanted) {
            each.file =
                Descriptor{::open(each.path.c_str(), each.in ? O_RDONLY | O_CLOEXEC | O_NOCTTY : writing, 0666)};
            if (!each.file)
                return fail(ErrorCode::invalid, "Could not open {} file {}: {}", each.stream, each.path,
                            std::strerror(errno));
        }
        return {};
    }
};

UserFiles::UserFiles(const LaunchSpec& spec) : spec_{spec}, news_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}

UserFiles::~UserFiles() = default;

void UserFiles::take_news() {
    std::uint64_t count{};
    [[maybe_unused]] const auto taken = read(news_.get(), &count, sizeof count);
    finish_opening();
}

Result<void> UserFiles::begin() {
    const auto work = std::make_shared<Opening>();
    std::set<std::string_view> outputs;
    // The one path that is sure not to hang costs no thread: many a small job has no other.
    const auto want = [&](const std::string& path, const char* stream, std::optional<std::size_t> in) {
        if (path != "/dev/null")
            work->wanted.push_back({path, stream, in, {}});
        else
            (in ? inputs_[*in] : outputs_[path]) = Descriptor{::open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY)};
    };
    const auto want_output = [&](const std::string& path, const char* stream) {
        if (!path.empty() && outputs.insert(path).second) want(path, stream, std::nullopt);
    };
    for (std::size_t i = 0; i < spec_.tasks.size(); ++i) {
        const auto& task = spec_.tasks[i];
        if (spec_.pty && task.id == 0) continue;
        if (!task.std_in.empty()) want(task.std_in, "stdin", i);
        want_output(task.std_out, "stdout");
        want_output(task.std_err, "stderr");
    }
    if (work->wanted.empty()) return {};
    work->rights.uid = spec_.uid;
    work->rights.gid = spec_.gid;
    work->rights.groups = spec_.groups;
    work->rights.umask = spec_.umask;
    work->rights.append = spec_.append;
    work->news = Descriptor{fcntl(news_.get(), F_DUPFD_CLOEXEC, 3)};
    if (!work->news) return fail(ErrorCode::unavailable, "eventfd: {}", std::strerror(errno));
    SPUR_CHECK(start_thread([work] {
        auto result = work->open_all();
        {
            const std::lock_guard lock{work->mutex};
            work->result = std::move(result);
            work->is_done = true;
        }
        tell(work->news.get());
    }));
    opening_ = work;
    return {};
}

void UserFiles::finish_opening() {
    if (!opening_) return;
    {
        const std::lock_guard lock{opening_->mutex};
        if (!opening_->is_done) return;
    }
    opened_ = opening_->result;
    for (auto& each : opening_->wanted)
        if (each.in)
            inputs_[*each.in] = std::move(each.file);
        else
            outputs_[each.path] = std::move(each.file);
    opening_.reset();
}

int UserFiles::output(const std::string& path) const {
    const auto found = outputs_.find(path);
    return found == outputs_.end() ? -1 : found->second.get();
}

Descriptor UserFiles::take_input(std::size_t task) {
    auto found = inputs_.extract(task);
    return found.empty() ? Descriptor{} : std::move(found.mapped());
}

// ---- writing -------------------------------------------------------------------------------------------------------

// Texts for one file, and the thread that writes them.
class UserFiles::Writer {
public:
    Writer(int file, int news)
        : state_{std::make_shared<State>(Descriptor{fcntl(file, F_DUPFD_CLOEXEC, 3)},
                                         Descriptor{fcntl(news, F_DUPFD_CLOEXEC, 3)})} {}
    ~Writer() {
        const std::lock_guard lock{state_->mutex};
        state_->stops = true;
        state_->more.notify_one();
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    void add(std::string text) {
        const std::lock_guard lock{state_->mutex};
        if (!has_thread_) has_thread_ = start_thread([state = state_] { state->run(); }).has_value();
        if (!has_thread_) return;  // nothing more can be done for it
        state_->bytes += text.size();
        state_->texts.push_back(std::move(text));
        state_->more.notify_one();
    }
    [[nodiscard]] std::size_t unwritten() const {
        const std::lock_guard lock{state_->mutex};
        return state_->bytes;
    }

private:
    struct State {
        State(Descriptor to, Descriptor tell) : file{std::move(to)}, news{std::move(tell)} {}
        void run() {
            std::unique_lock lock{mutex};
            while (true) {
                more.wait(lock, [&] { return stops || !texts.empty(); });
                if (stops) return;
                const auto text = std::move(texts.front());
                texts.pop_front();
                lock.unlock();
                write_all(file.get(), text);
                lock.lock();
                bytes -= text.size();
                tell(news.get());
            }
        }
        Descriptor file, news;
        std::mutex mutex;
        std::condition_variable more;
        std::deque<std::string> texts;
        std::size_t bytes{0};
        bool stops{false};
    };
    std::shared_ptr<State> state_;
    bool has_thread_{false};
};

void UserFiles::write(int file, std::string text) {
    auto& writer = writers_[file];
    if (!writer) writer = std::make_unique<Writer>(file, news_.get());
    writer->add(std::move(text));
}

std::size_t UserFiles::unwritten(int file) const {
    const auto found = writers_.find(file);
    return found == writers_.end() ? 0 : found->second->unwritten();
}

std::size_t UserFiles::unwritten() const {
    std::size_t bytes = 0;
    for (const auto& [file, writer] : writers_) bytes += writer->unwritten();
    return bytes;
}

}  // namespace spur::step
