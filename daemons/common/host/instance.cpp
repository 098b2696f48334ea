// Making, checking and ending instances.
#include "daemons/common/host/instance.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "daemons/common/host/crash.hpp"
#include "daemons/common/host/memory.hpp"
#include "daemons/common/host/options.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

constexpr std::uint32_t most_table_bytes = 64U * 1024;

std::string words_of(spur_status status) {
    switch (status) {
        case SPUR_E_INVALID:
            return "invalid";
        case SPUR_E_UNAVAILABLE:
            return "unavailable";
        case SPUR_E_IO:
            return "I/O failed";
        case SPUR_E_BUSY:
            return "busy";
        case SPUR_E_DENIED:
            return "denied";
        case SPUR_E_CORRUPT:
            return "corrupt";
        case SPUR_E_UNSUPPORTED:
            return "unsupported";
        case SPUR_E_STOPPED:
            return "stopped";
        case SPUR_E_NOT_FOUND:
            return "not found";
        case SPUR_E_INTERNAL:
            return "internal error";
        default:
            return fmt::format("status {}", status);
    }
}

std::string text_of(const spur_error& error) {
    std::string text{error.text, ::strnlen(error.text, sizeof(error.text))};
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return text;
}

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

std::uint64_t major_of(std::string_view id) {
    const auto slash = id.rfind('/');
    return slash == std::string_view::npos ? 0 : std::strtoull(std::string{id.substr(slash + 1)}.c_str(), nullptr, 10);
}

// The newest interface that both sides speak: nullptr stands for the axis's own. Where there is none, which side is the
// older one?
Result<const OlderInterface*> choose_interface(const Instance::Wanted& wanted) {
    const auto& listed = wanted.info->interfaces;
    const auto lists = [&](const char* id) { return std::ranges::find(listed, id) != listed.end(); };
    const std::string_view newest_of_ours = wanted.axis->interface;
    if (lists(wanted.axis->interface)) return nullptr;
    std::string ours{newest_of_ours};
    for (const auto& older : wanted.axis->older) {
        if (lists(older.id)) return &older;
        ours += fmt::format(" and {}", older.id);
    }
    const auto family = newest_of_ours.substr(0, newest_of_ours.rfind('/') + 1);
    std::string theirs;
    std::uint64_t newest = 0;
    for (const auto& id : listed) {
        if (!std::string_view{id}.starts_with(family)) continue;
        theirs += (theirs.empty() ? "" : " and ") + id;
        newest = std::max(newest, major_of(id));
    }
    const auto& type = wanted.info->type;
    const auto& program = wanted.setup.program;
    if (theirs.empty())
        return fail(ErrorCode::invalid,
                    "plugin {} refused: it lists {} and this {} needs {}; choose a plugin for the axis {}", type,
                    fmt::join(listed, ", "), program, ours, wanted.axis->name);
    return fail(
        ErrorCode::invalid, "plugin {} refused: it speaks {}, this {} speaks {}; install {}", type, theirs, program,
        ours,
        newest > major_of(newest_of_ours) ? "a release of the plugin for Spur 1.x" : "a newer release of the plugin");
}

}  // namespace

ErrorCode code_of(spur_status status) {
    switch (status) {
        case SPUR_E_INVALID:
        case SPUR_E_UNSUPPORTED:
            return ErrorCode::invalid;
        case SPUR_E_UNAVAILABLE:
        case SPUR_E_STOPPED:
        case SPUR_E_BUSY:
            return ErrorCode::unavailable;
        case SPUR_E_DENIED:
            return ErrorCode::denied;
        case SPUR_E_CORRUPT:
            return ErrorCode::corrupt;
        case SPUR_E_NOT_FOUND:
            return ErrorCode::not_found;
        default:
            return ErrorCode::internal;
    }
}

Error error_of(spur_status status, std::string text) { return {code_of(status), std::move(text)}; }

Instance::Instance(Wanted wanted, const OlderInterface* older)
    : wanted_{std::move(wanted)},
      services_{wanted_.setup, wanted_.executor},
      first_op_{wanted_.axis->ops.front().offset},
      older_{older} {}

Result<Instance*> Instance::make(Wanted wanted) {
    SPUR_TRY(const auto* const older, choose_interface(wanted));
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
    SPUR_TRY(const auto config, PluginConfig::make(info(), wanted_.options, wanted_.config_source));
    const auto view = config.view();
    spur_error error{sizeof(error), SPUR_OK, {}};
    spur_status status = SPUR_OK;
    arm_this_thread();
    try {
        const Waiting waiting{type()};
        const Frame frame{name(), "create", Role::main};
        status = wanted_.desc->create(services_.host(), &view, &self_, &error);
    } catch (...) {
        self_ = nullptr;
        services_.drain(std::chrono::seconds{5});
        services_.close();
        return std::unexpected(thrown({"create", 0, true, Role::main}));
    }
    if (status == SPUR_OK && self_ != nullptr) {
        called_with_ = self_;
        return {};
    }
    services_.drain(std::chrono::seconds{5});
    services_.close();
    if (status == SPUR_OK)
        return fail(ErrorCode::internal, "plugin {} refused: its create() succeeded without making an instance",
                    type());
    self_ = nullptr;
    return std::unexpected(failure({"create", 0, true, Role::main}, status, error));
}

Result<void> Instance::check_ops() {
    const auto& program = wanted_.setup.program;
    try {
        const Frame frame{name(), "query", Role::any};
        ops_ = wanted_.desc->query(self_, interface());
    } catch (...) {
        return std::unexpected(thrown({"query", 0, true, Role::any}));
    }
    const auto size = ops_ == nullptr ? std::nullopt : copy_value(static_cast<const std::uint32_t*>(ops_));
    if (ops_ == nullptr)
        return fail(ErrorCode::invalid,
                    "plugin {} refused: it lists {} and its query() answers NULL for it; this {} needs the table",
                    type(), interface(), program);
    if (!size || reinterpret_cast<std::uintptr_t>(ops_) % alignof(void*) != 0)
        return fail(ErrorCode::invalid, "plugin {} refused: its query() answers with a pointer that cannot be read",
                    type());
    if (*size > most_table_bytes)
        return fail(ErrorCode::invalid,
                    "plugin {} refused: its {} table claims to be {} bytes long; its `size` was not set to sizeof",
                    type(), interface(), *size);
    // What was checked is what is called, whatever becomes of the plugin's own table.
    table_.assign(std::max<std::size_t>(*size / sizeof(std::uint64_t) + 1, most_ops + 2), 0);
    if (!copy_memory(table_.data(), ops_, *size))
        return fail(ErrorCode::invalid,
                    "plugin {} refused: its {} table claims {} bytes and not all of them can be read", type(),
                    interface(), *size);
    ops_ = table_.data();
    ops_size_ = *size;
    for (const auto& op : older_ != nullptr ? older_->ops : axis().ops) {
        const bool is_there = op.offset + sizeof(void*) <= ops_size_;
        if (op.required && !is_there)
            return fail(ErrorCode::invalid,
                        "plugin {} refused: its {} table is {} bytes and ends before {}(), which this {} requires; "
                        "build it with the "
                        "headers of Spur 1.0 or later",
                        type(), interface(), ops_size_, op.name, program);
        const void* const function = find_op(op.offset);
        if (op.required && function == nullptr)
            return fail(ErrorCode::invalid, "plugin {} refused: {}() of its {} table is NULL and this {} requires it",
                        type(), op.name, interface(), program);
        if (function != nullptr && !is_code(function))
            return fail(ErrorCode::invalid, "plugin {} refused: {}() of its {} table does not point to code", type(),
                        op.name, interface());
    }
    if (older_ == nullptr) return {};
    adapter_ = older_->adapt(ops_, self_);
    ops_ = adapter_->ops;
    ops_size_ = copy_value(static_cast<const std::uint32_t*>(ops_)).value_or(0);
    called_with_ = adapter_->self;
    return {};
}

const void* Instance::find_op(std::uint32_t offset) const {
    if (offset + sizeof(void*) > ops_size_) return nullptr;
    const void* function = nullptr;
    std::memcpy(&function, static_cast<const char*>(ops_) + offset, sizeof(function));
    return function;
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
    try {
        const Frame frame{name(), "destroy", Role::main};
        if (self_ != nullptr) wanted_.desc->destroy(self_);
    } catch (...) {
        log::error("{}", thrown({"destroy", 0, true, Role::main}).text);
    }
    self_ = nullptr;
    services_.close();
}

void Instance::begin_cycle_call(const OpInfo& op) {
    if (in_cycle_.fetch_add(1) == 0) return;
    services_.report_violation(fmt::format("{}() was called while another call in the {} role had not returned",
                                           op.name, to_string(Role::cycle)));
}

Error Instance::failure(const OpInfo& op, spur_status status, const spur_error& error) const {
    const auto text = text_of(error);
    if (!text.empty()) return error_of(status, fmt::format("plugin {}: {}", type(), text));
    return error_of(
        status, fmt::format("plugin {} failed in {}() and does not say why ({})", type(), op.name, words_of(status)));
}

Error Instance::thrown(const OpInfo& op) const {
    try {
        throw;
    } catch (const std::exception& exception) {
        return {ErrorCode::internal,
                fmt::format("plugin {} threw an exception out of {}(): {}", type(), op.name, exception.what())};
    } catch (...) {
        return {ErrorCode::internal,
                fmt::format("plugin {} threw an exception of unknown type out of {}()", type(), op.name)};
    }
}

Error Instance::missing(const OpInfo& op) const {
    return {ErrorCode::invalid, fmt::format("plugin {} does not do {}()", type(), op.name)};
}

}  // namespace spur::host
