// Choosing, opening and listing plugins. Swapping them is in reconfigure.cpp.
#include "daemons/common/host/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "core/text/lexical.hpp"
#include "core/text/suggest.hpp"
#include "daemons/common/host/options.hpp"
#include "daemons/common/host/process_state.hpp"
#include "daemons/common/host/search.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

std::int64_t unix_seconds(std::filesystem::file_time_type time) {
    const auto system = std::chrono::file_clock::to_sys(time);
    return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

// What calls into plugins cost, as series by plugin and op.
std::vector<Metric> call_metrics(const std::vector<PluginStatus>& plugins) {
    constexpr double ns_per_second = 1e9;
    struct Column {
        const char *name, *help;
        double (*value)(const OpStats&);
    };
    static constexpr Column columns[] = {
        {"spur_plugin_calls_total", "calls into a plugin", [](const OpStats& op) { return double(op.calls); }},
        {"spur_plugin_call_seconds_total", "time spent in them",
         [](const OpStats& op) { return double(op.total_ns) / ns_per_second; }},
        {"spur_plugin_failures_total", "calls that failed", [](const OpStats& op) { return double(op.failures); }},
        {"spur_plugin_overruns_total", "calls that took longer than they may",
         [](const OpStats& op) { return double(op.overruns); }},
    };
    std::vector<Metric> metrics;
    for (const auto& column : columns) {
        Metric metric{column.name, column.help, SPUR_METRIC_COUNTER, {"plugin", "op"}, {}, {}};
        for (const auto& plugin : plugins)
            for (const auto& op : plugin.ops) metric.series.push_back({{plugin.type, op.op}, column.value(op), 0, {}});
        metrics.push_back(std::move(metric));
    }
    return metrics;
}

std::string isolation_text(const Isolated::Status& status) {
    auto text = status.pid == 0 ? std::string{"in a process of its own, which is being started"}
                                : fmt::format("in a process of its own, pid {}", status.pid);
    if (status.restarts > 0)
        text += fmt::format(", started again {} time{}: the last one {}", status.restarts,
                            status.restarts == 1 ? "" : "s", status.last_end);
    return text;
}

}  // namespace

PluginHost::PluginHost(HostOptions options)
    : options_{std::move(options)},
      executor_{std::make_shared<Executor>(options_.executor_threads)},
      notices_{std::make_shared<NoticeBoard>(executor_)},
      janitor_{executor_->add_client("the plugin host")} {
    if (!options_.crash_journal.empty()) crashes_ = load_crash_journal(options_.crash_journal);
    if (options_.slow_call.count() > 0) watch_calls();
}

PluginHost::~PluginHost() { stop(); }

std::vector<std::string> PluginHost::choices(const AxisInfo& axis, const Config& config, bool& configured) const {
    const auto named = config.plugins.find(axis.name);
    configured = named != config.plugins.end() && !named->second.empty();
    if (configured) return named->second;
    return {axis.defaults.begin(), axis.defaults.end()};
}

void PluginHost::note_failure(const std::string& type, const std::string& path, const char* state,
                              const std::string& detail) {
    std::erase_if(refused_, [&](const auto& known) { return known.type == type; });
    refused_.push_back({type, {}, {}, path, state, detail, {}});
}

bool PluginHost::is_in_quarantine(const std::string& type) const {
    return std::ranges::any_of(refused_,
                               [&](const auto& known) { return known.type == type && known.state == "quarantined"; });
}

Result<void> PluginHost::check_quarantine(const std::string& type, const std::filesystem::path& file) {
    std::error_code error;
    const auto written = std::filesystem::last_write_time(file, error);
    if (error || !is_quarantined(crashes_, type, unix_seconds(written), std::time(nullptr))) return {};
    const auto sentence = fmt::format(
        "plugin {} is quarantined: it crashed {} at least {} times within {} minutes; install a repaired {}, or remove "
        "{} to try it again",
        type, options_.program, quarantine_crashes, quarantine_window_s / 60, file.native(),
        options_.crash_journal.native());
    note_failure(type, file.native(), "quarantined", sentence);
    return fail(ErrorCode::conflict, "{}", sentence);
}

Result<Instance::Wanted> PluginHost::found(const AxisInfo&, const std::string& type, const Config&,
                                           const std::filesystem::path& file) {
    const ProcessState before;
    const auto loaded = load_library(file, {options_.program, options_.check_owner, ::geteuid()});
    if (const auto changed = before.restore(); !changed.empty())
        log::error("plugin file {} changed {} of {} while it was loaded; put back", file.native(), changed,
                   options_.program);
    SPUR_TRY(const Library* const library, loaded);
    const auto* const desc = library->find(type);
    if (desc == nullptr)
        return fail(ErrorCode::invalid, "plugin file {} refused: it holds {} and not {}; rename the file or its type",
                    file.native(), library->info.plugins.front().type, type);
    Instance::Wanted wanted{};
    wanted.library = library;
    wanted.desc = desc;
    wanted.info = &library->info.plugins[static_cast<std::size_t>(desc - library->descriptors.data())];
    return wanted;
}

// Nothing of the file is loaded here: its process says what is in it.
Result<Instance::Wanted> PluginHost::found_isolated(const AxisInfo& axis, const std::string& type, const Config& config,
                                                    const std::filesystem::path& file) {
    if (!options_.isolate)
        return fail(ErrorCode::invalid, "plugin {} refused: {} runs no plugins in processes of their own (isolate)",
                    type, options_.program);
    auto* const library = new Library;  // as long-lived as one that was opened
    library->name = file;
    library->stamp = stamp_of(file.c_str());
    auto facts = options_.facts;
    facts["plugin.file"] = file.native();
    Instance::Wanted wanted{};
    const auto changed = [notices = notices_, type](std::uint32_t what, std::string_view subject,
                                                    std::string_view reason) {
        notices->post(type, what, std::string{subject}, std::string{reason});
    };
    SPUR_TRY(wanted.isolated, options_.isolate({&axis, type, file.native(), options_.program, options_.version, facts,
                                                without_host_keys(options_for(config, type)), config.plugin_dirs,
                                                config.path, options_.check_owner, changed}));
    library->info = wanted.isolated->module();
    wanted.library = library;
    for (const auto& info : library->info.plugins)
        if (info.type == type) wanted.info = &info;
    if (wanted.info == nullptr)
        return fail(ErrorCode::invalid, "plugin file {} refused: it does not hold {}", file.native(), type);
    return wanted;
}

Result<Instance*> PluginHost::make(const AxisInfo& axis, const std::string& type, const Config& config,
                                   const Hook& prepare) {
    if (!is_plugin_type(type) || !type.starts_with(std::string{axis.name} + "/"))
        return fail(ErrorCode::invalid, "{} is not a plugin of the axis {}: write {}/name", spur::quoted(type),
                    axis.name, axis.name);
    SPUR_TRY(const auto file, find_plugin(type, plugin_search_path(config.plugin_dirs)));
    for (const auto& other : file.shadowed)
        log::warning("plugin {} is in two directories: {} is used and {} is not; the order of [plugins] dirs decides",
                     type, file.path.native(), other.native());
    SPUR_CHECK(check_quarantine(type, file.path));
    SPUR_TRY(const bool isolated, wants_isolation(options_for(config, type), type, config.path));
    SPUR_TRY(auto wanted,
             isolated ? found_isolated(axis, type, config, file.path) : found(axis, type, config, file.path));
    const auto* const library = wanted.library;
    wanted.axis = &axis;
    wanted.options = options_for(config, type);
    wanted.config_source = config.path;
    wanted.setup = {options_.program, options_.version,      type,           options_.facts,
                    options_.unix_ns, options_.monotonic_ns, axis.is_policy, options_.check_roles};
    wanted.setup.facts["plugin.file"] = library->info.path;
    wanted.executor = executor_;
    wanted.notices = notices_;
    SPUR_TRY(Instance* const instance, Instance::make(std::move(wanted)));
    if (!prepare) return instance;
    if (auto good = prepare(*instance); !good) {
        retire(instance);
        return std::unexpected(std::move(good).error());
    }
    return instance;
}

// The first of the choices that can be used. A quarantined one may be stood in for by a default where that is safe.
Result<Instance*> PluginHost::make_first(const AxisInfo& axis, const Config& config, const Hook& prepare) {
    bool configured = false;
    auto wanted = choices(axis, config, configured);
    std::string mistakes;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        auto instance = make(axis, wanted[i], config, prepare);
        if (instance) {
            if (!mistakes.empty()) log::warning("{}; {} is used instead", mistakes, wanted[i]);
            return instance;
        }
        mistakes += (mistakes.empty() ? "" : "\n") + instance.error().text;
        // A mistake in the file is the administrator's to mend: another plugin in its place would hide it.
        if (instance.error().code == ErrorCode::invalid && config.plugin_options.contains(wanted[i])) break;
        if (!axis.has_safe_defaults || !is_in_quarantine(wanted[i])) continue;
        for (const auto stand_in : axis.defaults)
            if (std::ranges::find(wanted, stand_in) == wanted.end()) wanted.emplace_back(stand_in);
    }
    return fail(ErrorCode::unavailable, "{}", mistakes);
}

Result<Slot*> PluginHost::open_slot(const AxisInfo& axis, const Config& config, Hook prepare) {
    const std::lock_guard lock{main_};
    SPUR_TRY(Instance* const instance, make_first(axis, config, prepare));
    auto slot = std::make_unique<Slot>(axis);
    slot->prepare = std::move(prepare);
    slot->exchange(instance);
    log::debug("plugin {} {} is in force, from {}", instance->type(), instance->info().version,
               instance->library().info.path);
    members_.push_back({std::move(slot), false});
    return members_.back().slot.get();
}

std::vector<Error> PluginHost::open_members(const AxisInfo& axis, const Config& config) {
    const std::lock_guard lock{main_};
    groups_.push_back(&axis);
    std::vector<Error> mistakes;
    bool configured = false;
    for (const auto& type : choices(axis, config, configured)) {
        auto instance = make(axis, type, config, {});
        if (!instance) {
            if (configured)
                mistakes.push_back(std::move(instance).error());
            else
                log::debug("{}", instance.error().text);
            continue;
        }
        auto slot = std::make_unique<Slot>(axis);
        slot->exchange(*instance);
        members_.push_back({std::move(slot), true});
    }
    order_group(axis, config);
    return mistakes;
}

// What is in force, in the order in which it is named.
void PluginHost::order_group(const AxisInfo& axis, const Config& config) {
    bool configured = false;
    std::vector<Slot*> ordered;
    for (const auto& type : choices(axis, config, configured))
        for (const auto& member : members_)
            if (const auto* const now = member.slot->current();
                member.in_group && &member.slot->axis() == &axis && now != nullptr && now->type() == type)
                ordered.push_back(member.slot.get());
    const std::lock_guard lock{lists_mutex_};
    lists_[&axis] = std::move(ordered);
}

void PluginHost::report_missing(const AxisInfo& axis, const Error& error) {
    log::warning("{}; {} goes on without {}", error.text, options_.program, axis.name);
}

std::vector<Slot*> PluginHost::group_slots(const AxisInfo& axis) const {
    const std::lock_guard lock{lists_mutex_};
    const auto found = lists_.find(&axis);
    return found == lists_.end() ? std::vector<Slot*>{} : found->second;
}

Result<void> PluginHost::check(const Config& config, const std::vector<const AxisInfo*>& axes) {
    const std::lock_guard lock{main_};
    std::string mistakes;
    for (const auto* const axis : axes) {
        bool configured = false;
        const auto wanted = choices(*axis, config, configured);
        if (!configured) {
            const auto instance = make_first(*axis, config, {});
            if (instance)
                retire(*instance);
            else if (!axis->several)
                mistakes += (mistakes.empty() ? "" : "\n") + instance.error().text;
            continue;
        }
        for (const auto& type : wanted) {
            const auto instance = make(*axis, type, config, {});
            if (instance)
                retire(*instance);
            else
                mistakes += (mistakes.empty() ? "" : "\n") + instance.error().text;
        }
    }
    if (mistakes.empty()) return {};
    return fail(ErrorCode::invalid, "{}", mistakes);
}

std::vector<std::string> PluginHost::stray_options(const Config& config, const std::vector<const AxisInfo*>& axes,
                                                   bool is_of_these) {
    std::vector<std::string> sentences;
    const auto path = plugin_search_path(config.plugin_dirs);
    for (const auto& [type, options] : config.plugin_options) {
        const auto of_type = [&](const AxisInfo* axis) { return type.starts_with(std::string{axis->name} + "/"); };
        if (std::ranges::any_of(axes, of_type) != is_of_these) continue;
        const auto found = find_plugin(type, path);
        if (found) continue;
        const auto line = options.empty() ? std::string{} : fmt::format(" ({}:{})", config.path, options.front().line);
        sentences.push_back(fmt::format("[plugin.\"{}\"] has no effect: {}{}", type, found.error().text, line));
    }
    return sentences;
}

std::vector<PluginStatus> PluginHost::list() const {
    const std::lock_guard lock{main_};
    std::vector<PluginStatus> all;
    for (const auto& member : members_) {
        auto* const instance = member.slot->current();
        if (instance == nullptr) continue;
        const auto& info = instance->info();
        PluginStatus status{info.type, info.version, info.vendor,      instance->library().info.path,
                            "active",  {},           instance->stats()};
        if (const auto broken = instance->services().violations(); broken > 0)
            status.detail =
                fmt::format("broke rules of the ABI {} time{}; see the log", broken, broken == 1 ? "" : "s");
        status.isolated = instance->isolation();
        if (status.isolated) status.detail += (status.detail.empty() ? "" : "; ") + isolation_text(*status.isolated);
        all.push_back(std::move(status));
    }
    all.insert(all.end(), refused_.begin(), refused_.end());
    return all;
}

std::vector<Metric> PluginHost::metrics() const {
    const std::lock_guard lock{main_};
    std::vector<Metric> all;
    for (const auto& member : members_)
        if (auto* const instance = member.slot->current())
            for (auto& metric : instance->metrics()) all.push_back(std::move(metric));
    for (auto& metric : call_metrics(list())) all.push_back(std::move(metric));
    return all;
}

void PluginHost::stop() {
    notices_->close();
    executor_->drain(janitor_, std::chrono::seconds{5});
    const std::lock_guard lock{main_};
    if (std::exchange(stopped_, true)) return;
    for (auto member = members_.rbegin(); member != members_.rend(); ++member)
        if (auto* const instance = member->slot->exchange(nullptr)) retire(instance);
    sweep();
    for (const auto* const instance : leaving_)
        log::warning("plugin {} is still inside a call and is not destroyed", instance->type());
}

void PluginHost::watch_calls() {
    const auto look = [](void* self) {
        auto& host = *static_cast<PluginHost*>(self);
        const std::lock_guard lock{host.main_};
        for (const auto& member : host.members_)
            if (const auto* const instance = member.slot->current()) {
                host.name_slow_calls(*instance);
                host.name_written_over(instance->library());
            }
    };
    executor_->post_every(janitor_, std::chrono::nanoseconds{options_.slow_call}.count() / 2, look, nullptr, this,
                          nullptr);
}

void PluginHost::name_written_over(const Library& library) {
    const auto now = stamp_of(library.name.c_str());
    if (now == library.stamp || !now.is_same_file(library.stamp) || !named_files_.insert(library.name).second) return;
    log::error("plugin file {} {}", library.name.native(), find_change(library, options_.program));
}

// Nothing else can be done to a call inside of this process: whoever reads the log can.
void PluginHost::name_slow_calls(const Instance& instance) {
    const auto limit = static_cast<std::uint64_t>(std::chrono::nanoseconds{options_.slow_call}.count());
    for (const auto& op : instance.stats()) {
        const auto& ops = instance.axis().ops;
        const auto info = std::ranges::find_if(ops, [&](const OpInfo& each) { return op.op == each.name; });
        if (info == ops.end() || info->role == Role::worker || info->role == Role::main) continue;
        auto& named = named_slow_[instance.type() + "." + op.op];
        if (op.running_ns < limit) named = 0;
        if (op.running_ns < std::max(limit, 2 * named)) continue;
        named = op.running_ns;
        log::error(
            "plugin {} has been in {}() for {} s, and whoever waits for it goes on waiting; isolate = true in "
            "[plugin.\"{}\"] would let {} end such a call",
            instance.type(), op.op, op.running_ns / 1'000'000'000, instance.type(), options_.program);
    }
}

}  // namespace spur::host
