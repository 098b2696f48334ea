// One thread reads what the daemon wants; others run it, as many as there are calls at a time.
#include "daemons/common/isolate/serve.hpp"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "daemons/common/host/module_codec.hpp"
#include "daemons/common/isolate/axes.hpp"
#include "daemons/common/isolate/metric_codec.hpp"
#include "daemons/common/isolate/opening.hpp"
#include "daemons/common/isolate/record.hpp"

namespace spur::isolate {
namespace {

constexpr std::size_t most_workers = 64;
constexpr std::size_t most_unanswered = 256 << 10;  // bytes of a call: a slow reader of a long answer is waited for

// Lines go to the daemon, which knows where they belong.
class ToDaemon final : public log::Sink {
public:
    explicit ToDaemon(std::shared_ptr<Socket> socket) : socket_{std::move(socket)} {}
    void write(log::Level level, std::string_view line) override {
        Pack packed;
        packed.raw(level);
        packed.text(line);
        socket_->write(Kind::log, 0, packed.bytes());
    }

private:
    std::shared_ptr<Socket> socket_;
};

class Server {
public:
    explicit Server(int fd) : socket_{std::make_shared<Socket>(fd)} {}

    int run() {
        const auto first = socket_->read();
        if (!first || first->kind != Kind::open) return 2;
        log::use(std::make_shared<ToDaemon>(socket_));
        std::thread{[this, bytes = first->bytes] { open(bytes); }}.detach();  // create() may hang; we must not
        while (auto record = socket_->read()) {
            if (record->kind == Kind::call || record->kind == Kind::metrics)
                enqueue(*std::move(record));
            else if (record->kind == Kind::stop)
                stop(record->call);
            else if (record->kind == Kind::reply)
                take_reply(*record);
        }
        // The daemon is gone, or does not want us any more. A plugin that is stuck in a call has had its time.
        return end();
    }

private:
    struct Running final : Callee {
        Running(Socket& to, std::uint64_t number) : socket{to}, id{number} {}
        spur_status push(unsigned parameter, unsigned function, bool asks, const Pack& arguments) override {
            const std::lock_guard one_at_a_time{pushing};
            unanswered += arguments.bytes().size();
            if (unanswered > most_unanswered) asks = true;
            Pack packed;
            packed.raw(parameter);
            packed.raw(function);
            packed.raw(asks);
            packed.bytes() += arguments.bytes();
            if (!socket.write(Kind::push, id, packed.bytes())) return SPUR_E_UNAVAILABLE;
            if (!asks) return SPUR_OK;
            unanswered = 0;
            std::unique_lock lock{mutex};
            replied.wait(lock, [this] { return reply.has_value(); });
            return std::exchange(reply, std::nullopt).value();
        }
        void take_reply(spur_status status) {
            const std::lock_guard lock{mutex};
            reply = status;
            replied.notify_one();
        }
        Socket& socket;
        std::uint64_t id;
        std::mutex pushing, mutex;
        std::size_t unanswered{0};  // bytes that the daemon may not have taken yet
        std::condition_variable replied;
        std::optional<spur_status> reply;
    };

    Opened load(const Opening& opening) {
        Opened opened;
        const auto refuse = [&](Error error) {
            opened.refusal = std::move(error);
            return opened;
        };
        crossing_ = find_crossing(opening.axis);
        if (crossing_ == nullptr) return refuse({ErrorCode::invalid, "no plugin of this axis is isolated"});
        const auto& wanted = opening.wanted;
        host::HostOptions options;
        options.program = wanted.program;
        options.version = wanted.version;
        options.facts = wanted.facts;
        options.check_owner = wanted.check_owner;
        host_ = std::make_unique<host::PluginHost>(std::move(options));
        for (auto what = SPUR_CHANGED_PLAN; what <= SPUR_CHANGED_STORAGE; ++what)
            host_->on_changed(what, [this](const host::Notice& notice) { send_notice(notice); });
        Config config;
        config.path = wanted.config_source;
        config.plugin_dirs = wanted.dirs;
        config.plugins[opening.axis] = {wanted.type};
        config.plugin_options[wanted.type] = wanted.options;
        auto instance = crossing_->open(*host_, config);
        if (!instance) return refuse(instance.error());
        instance_ = *instance;
        opened.module = host::encode_module(instance_->library().info);
        std::memcpy(&opened.header, static_cast<const char*>(instance_->ops()) + sizeof(std::uint32_t),
                    sizeof(opened.header));
        for (std::size_t i = 0; i < crossing_->ops.size(); ++i)
            if (instance_->find_op(crossing_->axis->ops[i].offset) != nullptr) opened.ops |= std::uint64_t{1} << i;
        return opened;
    }

    void open(const std::string& bytes) {
        const auto opening = unpack_opening(bytes);
        if (opening) log::set_level(opening->level);
        Pack answer;
        Opened unreadable;
        unreadable.refusal = Error{ErrorCode::internal, "the daemon said something that makes no sense"};
        pack(answer, opening ? load(*opening) : unreadable);
        socket_->write(Kind::opened, 0, answer.bytes());
    }

    void enqueue(Record record) {
        const std::lock_guard lock{mutex_};
        queue_.push_back(std::move(record));
        if (queue_.size() > idle_ && workers_ < most_workers) {
            ++workers_;
            std::thread{[this] { work(); }}.detach();
        }
        wake_.notify_one();
    }

    void stop(std::uint64_t call) {
        const std::lock_guard lock{mutex_};
        if (const auto found = running_.find(call); found != running_.end()) found->second->stopped = true;
    }

    void take_reply(const Record& record) {
        Unpack in{record.bytes};
        const auto status = in.get<spur_status>();
        const std::lock_guard lock{mutex_};
        if (const auto found = running_.find(record.call); found != running_.end()) found->second->take_reply(status);
    }

    void send_notice(const host::Notice& notice) {
        Pack packed;
        packed.raw(notice.what);
        packed.text(notice.subject);
        packed.text(notice.reason);
        socket_->write(Kind::notice, 0, packed.bytes());
    }

    void work() {
        std::unique_lock lock{mutex_};
        for (;;) {
            ++idle_;
            wake_.wait(lock, [this] { return !queue_.empty(); });
            --idle_;
            const auto record = std::move(queue_.front());
            queue_.pop_front();
            Running running{*socket_, record.call};
            running_[record.call] = &running;
            lock.unlock();
            const auto answer = call(record, running);
            lock.lock();
            running_.erase(record.call);
            lock.unlock();
            socket_->write(Kind::answer, record.call, answer);
            lock.lock();
        }
    }

    std::string call(const Record& record, Running& running) {
        Unpack in{record.bytes};
        Pack answer;
        if (record.kind == Kind::metrics) {
            pack(answer, instance_->services().metrics());
            return std::move(answer.bytes());
        }
        const auto op = in.get<unsigned>();
        if (!in.good() || op >= crossing_->ops.size()) return {};
        const auto* const function = instance_->find_op(crossing_->axis->ops[op].offset);
        if (function == nullptr) return {};
        try {
            crossing_->ops[op].invoke(function, instance_->self(), in, running, answer);
        } catch (...) {
            log::error("plugin {} threw an exception out of {}()", instance_->type(), crossing_->axis->ops[op].name);
            return {};
        }
        return std::move(answer.bytes());
    }

    // destroy() gets a moment; whatever still runs then ends with the process.
    int end() {
        std::thread{[] {
            std::this_thread::sleep_for(std::chrono::milliseconds{800});
            ::_exit(0);
        }}.detach();
        log::use(nullptr);
        log::set_level(log::Level::error);
        bool is_busy = false;
        {
            const std::lock_guard lock{mutex_};
            is_busy = !running_.empty();
        }
        if (!is_busy && host_) host_->stop();
        ::_exit(0);
    }

    std::shared_ptr<Socket> socket_;
    std::unique_ptr<host::PluginHost> host_;
    const AxisCrossing* crossing_{nullptr};
    host::Instance* instance_{nullptr};
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Record> queue_;
    std::size_t idle_{0}, workers_{0};
    std::map<std::uint64_t, Running*> running_;
};

}  // namespace

int serve(int fd) {
    auto* const server = new Server{fd};  // its threads end with the process
    return server->run();
}

}  // namespace spur::isolate
