// Choosing, opening and listing plugins. Swapping them is in reconfigure.cpp.
#include "daemons/common/host/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "core/text/lexical.hpp"
#include "core/text/suggest.hpp"
#include "daemons/common/host/search.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {
namespace {

std::int64_t unix_seconds(std::filesystem::file_time_type time) {
    const auto system = std::chrono::file_clock::to_sys(time);
    return std::chrono::duration_cast<std::chrono::seconds>(system.time_since_epoch()).count();
}

}  // namespace

PluginHost::PluginHost(HostOptions options)
    : options_{std::move(options)},
      executor_{std::make_shared<Executor>(options_.executor_threads)},
      janitor_{executor_->add_client("the plugin host")} {
    if (!options_.crash_journal.empty()) crashes_ = load_crash_journal(options_.crash_journal);
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
    SPUR_TRY(const Library* const library,
             load_library(file.path, {options_.program, options_.check_owner, ::geteuid()}));
    const auto* const desc = library->find(type);
    if (desc == nullptr)
        return fail(ErrorCode::invalid, "plugin file {} refused: it holds {} and not {}; rename the file or its type",
                    file.path.native(), library->info.plugins.front().type, type);
    Instance::Wanted wanted{};
    wanted.axis = &axis;
    wanted.library = library;
    wanted.desc = desc;
    wanted.info = &library->info.plugins[static_cast<std::size_t>(desc - library->descriptors.data())];
    if (const auto given = config.plugin_options.find(type); given != config.plugin_options.end())
        wanted.options = given->second;
    wanted.config_source = config.path;
    wanted.setup = {options_.program, options_.version,      type,           options_.facts,
                    options_.unix_ns, options_.monotonic_ns, axis.is_policy, options_.check_roles};
    wanted.setup.facts["plugin.file"] = library->info.path;
    wanted.executor = executor_;
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

void PluginHost::open_members(const AxisInfo& axis, const Config& config) {
    const std::lock_guard lock{main_};
    groups_.push_back(&axis);
    bool configured = false;
    for (const auto& type : choices(axis, config, configured)) {
        auto instance = make(axis, type, config, {});
        if (!instance) {
            if (configured)
                report_missing(axis, instance.error());
            else
                log::debug("{}", instance.error().text);
            continue;
        }
        auto slot = std::make_unique<Slot>(axis);
        slot->exchange(*instance);
        members_.push_back({std::move(slot), true});
    }
}

void PluginHost::report_missing(const AxisInfo& axis, const Error& error) {
    log::warning("{}; {} goes on without {}", error.text, options_.program, axis.name);
}

std::vector<Slot*> PluginHost::group_slots(const AxisInfo& axis) const {
    const std::lock_guard lock{main_};
    std::vector<Slot*> slots;
    for (const auto& member : members_)
        if (member.in_group && &member.slot->axis() == &axis) slots.push_back(member.slot.get());
    return slots;
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
            for (auto& metric : instance->services().metrics()) all.push_back(std::move(metric));
    return all;
}

void PluginHost::stop() {
    executor_->drain(janitor_, std::chrono::seconds{5});
    const std::lock_guard lock{main_};
    if (std::exchange(stopped_, true)) return;
    for (auto member = members_.rbegin(); member != members_.rend(); ++member)
        if (auto* const instance = member->slot->exchange(nullptr)) retire(instance);
    sweep();
    for (const auto* const instance : leaving_)
        log::warning("plugin {} is still inside a call and is not destroyed", instance->type());
}

}  // namespace spur::host
