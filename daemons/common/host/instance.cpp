// Making, checking and ending instances.
#include "daemons/common/host/instance.hpp"

#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>

#include "daemons/common/host/crash.hpp"
#include "daemons/common/host/options.hpp"
#include "daemons/common/host/process_state.hpp"
#include "daemons/common/host/secrets.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

// Keeps every instance reachable for ever.
void remember(Instance* instance) {
    static auto* const all = new std::vector<Instance*>;
    static auto* const mutex = new std::mutex;
    const std::lock_guard lock{*mutex};
    all->push_back(instance);
}

// create() may block briefly. While it does not come back, this says for whom the daemon is waiting.
class Waiting {
public:
    explicit Waiting(const std::string& type)
        : thread_{[type](const std::stop_token& stop) {
              std::mutex mutex;
              std::unique_lock lock{mutex};
              std::condition_variable_any ended;
              std::chrono::seconds waited{0};
              for (std::chrono::seconds next{5};; next = waited) {
                  if (ended.wait_for(lock, stop, next, [&] { return stop.stop_requested(); })) return;
                  waited += next;
                  log::error(
                      "plugin {} has been in create() for {} s and nothing goes on until it returns; if it does not, "
                      "choose another plugin",
                      type, waited.count());
              }
          }} {}

private:
    std::jthread thread_;
};

}  // namespace

Error error_of(spur_status status, std::string text) { return {code_of(status), std::move(text)}; }

Instance::Instance(Wanted wanted, const OlderInterface* older)
    : wanted_{std::move(wanted)},
      services_{wanted_.setup, wanted_.executor, wanted_.notices},
      secrets_{secret_stamp(wanted_.options)},
      first_op_{wanted_.axis->ops.front().offset},
      older_{older} {}

Result<Instance*> Instance::make(Wanted wanted) {
    SPUR_TRY(const auto* const older, choose_interface(*wanted.axis, *wanted.info, wanted.setup.program));
    auto* const instance = new Instance{std::move(wanted), older};
    remember(instance);
    SPUR_CHECK(instance->create());
    if (auto good = instance->check_ops(); !good) {
        instance->retire(std::chrono::seconds{5});
        return std::unexpected(std::move(good).error());
    }
    return instance;
}

Result<void> Instance::create() {
    if (wanted_.isolated) {
        self_ = wanted_.isolated->self();
        return {};
    }
    SPUR_TRY(const auto config, PluginConfig::make(info(), without_host_keys(wanted_.options), wanted_.config_source));
    const auto view = config.view();
    spur_error error{sizeof(error), SPUR_OK, {}};
    spur_status status = SPUR_OK;
    arm_this_thread();
    const ProcessState before;
    try {
        const Waiting waiting{type()};
        const Frame frame{name(), "create", Role::main};
        status = wanted_.desc->create(services_.host(), &view, &self_, &error);
        check_left("create", before);
    } catch (...) {
        check_left("create", before);
        self_ = nullptr;
        services_.drain(std::chrono::seconds{5});
        services_.close();
        return std::unexpected(thrown({"create", 0, true, Role::main}));
    }
    if (status == SPUR_OK && self_ != nullptr) return {};
    services_.drain(std::chrono::seconds{5});
    services_.close();
    if (status == SPUR_OK)
        return fail(ErrorCode::internal, "plugin {} refused: its create() succeeded without making an instance",
                    type());
    self_ = nullptr;
    return std::unexpected(failure({"create", 0, true, Role::main}, status, error));
}

Result<void> Instance::check_ops() {
    const void* answered = nullptr;
    try {
        const Frame frame{name(), "query", Role::any};
        answered = wanted_.isolated ? wanted_.isolated->ops() : wanted_.desc->query(self_, interface());
    } catch (...) {
        return std::unexpected(thrown({"query", 0, true, Role::any}));
    }
    SPUR_TRY(table_, OpsTable::make(axis(), older_, type(), wanted_.setup.program, answered, self_));
    return {};
}

std::vector<OpStats> Instance::stats() const {
    std::vector<OpStats> all;
    for (const auto& op : axis().ops) {
        auto one = counters_[number_of(op.offset)].read(op.name);
        if (one.calls > 0 || one.running > 0 || find_op(op.offset) != nullptr) all.push_back(std::move(one));
    }
    if (auto tasks = services_.task_stats(); tasks.calls > 0) all.push_back(std::move(tasks));
    return all;
}

std::vector<Metric> Instance::metrics() const {
    return wanted_.isolated ? wanted_.isolated->metrics() : services_.metrics();
}

std::optional<Isolated::Status> Instance::isolation() const {
    if (!wanted_.isolated) return std::nullopt;
    return wanted_.isolated->status();
}

bool Instance::retire(std::chrono::milliseconds patience) {
    if (destroyed_) return true;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (in_flight_.load() != 0) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::microseconds{200});
    }
    if (!services_.drain(std::max(patience, std::chrono::milliseconds{1}))) return false;
    destroy();
    return true;
}

void Instance::destroy() {
    destroyed_ = true;
    arm_this_thread();
    const ProcessState before;
    try {
        const Frame frame{name(), "destroy", Role::main};
        if (wanted_.isolated)
            wanted_.isolated->close();
        else if (self_ != nullptr)
            wanted_.desc->destroy(self_);
    } catch (...) {
        log::error("{}", thrown({"destroy", 0, true, Role::main}).text);
    }
    check_left("destroy", before);
    self_ = nullptr;
    services_.close();
}

void Instance::check_left(const char* op, const ProcessState& before) {
    if (before.is_in_copy()) {  // a daemon with one thread, and with the sockets of the real one
        fmt::print(stderr, "plugin {} came back from {}() in a fork of {}; that copy ends\n", type(), op,
                   wanted_.setup.program);
        ::_exit(EX_SOFTWARE);
    }
    if (const auto changed = before.restore(); !changed.empty())
        services_.report_violation(fmt::format("{}() changed {} of {}; put back", op, changed, wanted_.setup.program));
}

void Instance::begin_cycle_call(const OpInfo& op) {
    if (in_cycle_.fetch_add(1) == 0) return;
    services_.report_violation(fmt::format("{}() was called while another call in the {} role had not returned",
                                           op.name, to_string(Role::cycle)));
}

Error Instance::failure(const OpInfo& op, spur_status status, const spur_error& error) const {
    return failure_of(type(), op.name, status, error);
}

Error Instance::thrown(const OpInfo& op) const { return thrown_out_of(type(), op.name); }

Error Instance::missing(const OpInfo& op) const {
    return {ErrorCode::invalid, fmt::format("plugin {} does not do {}()", type(), op.name)};
}

}  // namespace spur::host
