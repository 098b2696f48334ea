// The plugin host: opens what the configuration names, keeps it, swaps it while the daemon runs, and tells how it is
// doing.
//
//   PluginHost plugins{options};
//   SPUR_TRY(auto sched, plugins.open<SchedAxis>(config));
//   ...
//   SPUR_TRY(auto report, plugins.reconfigure(new_config));
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"
#include "core/version.hpp"
#include "daemons/common/host/axes.hpp"
#include "daemons/common/host/bound.hpp"
#include "daemons/common/host/crash.hpp"
#include "daemons/common/host/isolation.hpp"
#include "daemons/common/host/metrics.hpp"
#include "daemons/common/host/notices.hpp"
#include "daemons/common/host/stats.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {

struct HostOptions {
    std::string program{"spurctld"};
    std::string version{program_version};
    std::map<std::string, std::string> facts;  // what "spur.config/1" answers: "cluster_name", "state_dir", ...
    std::filesystem::path crash_journal;       // empty: no quarantine
    bool check_owner{true};                    // refuse files that others could have written
#ifdef NDEBUG
    bool check_roles{false};
#else
    bool check_roles{true};
#endif
    unsigned executor_threads{4};
    // Calls that others wait for (all but a worker's) and that have not returned after this long are named in the log.
    // 0: nobody looks.
    std::chrono::milliseconds slow_call{0};
    Isolate isolate;  // for plugins with `isolate = true`; empty: this program has no processes for them
    std::function<std::int64_t()> unix_ns, monotonic_ns;  // for tests; empty: the system's clocks
};

// One plugin of this daemon, as `spur plugin stats` shows it.
struct PluginStatus {
    std::string type, version, vendor, path;
    std::string state;   // "active", "quarantined", "failed"
    std::string detail;  // why not active; rules it broke
    std::vector<OpStats> ops;
    std::optional<Isolated::Status> isolated{};  // lives in a process of its own
};

struct Change {
    std::string axis, from, to;  // types; empty: none
    std::string what;            // "plugin", "options", "added", "removed", "order", "restart needed", "file changed"
    bool operator==(const Change&) const = default;
};

template <class Axis>
class Group;
template <class Axis>
class Chain;

class PluginHost {
public:
    explicit PluginHost(HostOptions options);
    ~PluginHost();  // stop()
    PluginHost(const PluginHost&) = delete;
    PluginHost& operator=(const PluginHost&) = delete;

    // Called with each instance before it is put in force, now and at every later reconfiguration; a failure keeps the
    // old one.
    template <class Axis>
    using Prepare = std::function<Result<void>(const Pin<Axis>&)>;

    // The plugin the configuration chooses for this axis. A list is tried in its order; where nothing is configured,
    // the defaults are. Fails with the sentence of every choice that could not be used. [main-thread]
    template <class Axis>
    Result<Bound<Axis>> open(const Config& config, Prepare<Axis> prepare = {}) {
        SPUR_TRY(Slot* const slot, open_slot(Axis::info, config, erased<Axis>(std::move(prepare))));
        return Bound<Axis>{slot};
    }

    // One named plugin with these options, whatever the configuration says. [main-thread]
    template <class Axis>
    Result<Bound<Axis>> open(const std::string& type, std::vector<ConfigOption> options = {},
                             Prepare<Axis> prepare = {}) {
        Config config;
        config.path = "spur.conf";
        config.plugin_dirs = dirs_;
        config.plugins[Axis::info.name] = {type};
        config.plugin_options[type] = std::move(options);
        return open<Axis>(config, std::move(prepare));
    }

    // The same for an axis the daemon can do without: what went wrong is logged, and the answer is empty.
    template <class Axis>
    Bound<Axis> open_optional(const Config& config, Prepare<Axis> prepare = {}) {
        auto bound = open<Axis>(config, std::move(prepare));
        if (bound) return *bound;
        report_missing(Axis::info, bound.error());
        return {};
    }

    // Every plugin the configuration names for an axis that may have several. Those that cannot be used are left out
    // and logged.
    template <class Axis>
    Group<Axis> open_group(const Config& config) {
        for (const auto& mistake : open_members(Axis::info, config)) report_missing(Axis::info, mistake);
        return Group<Axis>{*this};
    }

    // The plugins the configuration names for an axis that is a chain, in its order. Those that cannot be used are the
    // axis's rule. [main-thread]
    template <class Axis>
    Result<Chain<Axis>> open_chain(const Config& config) {
        for (auto& mistake : open_members(Axis::info, config)) {
            if (Axis::info.chain->needs_all) return std::unexpected(std::move(mistake));
            report_missing(Axis::info, mistake);
        }
        return Chain<Axis>{*this};
    }

    // Make what is open match `config`: new instances are made and checked first, then all are swapped, each between
    // two calls. On any failure every old one stays and the error says why. [main-thread]
    Result<std::vector<Change>> reconfigure(const Config& config);

    // What `-t` does: opens, checks and lets go again what `config` names for these axes. All sentences, one a line.
    Result<void> check(const Config& config, const std::vector<const AxisInfo*>& axes);
    // Sections [plugin."axis/name"] whose plugin is nowhere to be found, a sentence each. `axes`: of these only, or of
    // all but these.
    static std::vector<std::string> stray_options(const Config& config, const std::vector<const AxisInfo*>& axes,
                                                  bool is_of_these);

    std::vector<PluginStatus> list() const;
    // What plugins defined, and what calls into them cost.
    std::vector<Metric> metrics() const;

    // From now on `handler` is called when a plugin says that this (SPUR_CHANGED_*) changed, on a thread of its own,
    // one at a time; until stop_listening() or stop().
    void on_changed(std::uint32_t what, NoticeBoard::Handler handler) { notices_->on(what, std::move(handler)); }
    void stop_listening() { notices_->close(); }  // before what the handlers use goes

    // Ends every instance, the last opened first. [main-thread]
    void stop();

    // For tests and tools: where open(type) looks.
    void set_dirs(std::vector<std::string> dirs) { dirs_ = std::move(dirs); }

private:
    template <class Axis>
    friend class Group;
    using Hook = std::function<Result<void>(Instance&)>;

    template <class Axis>
    static Hook erased(Prepare<Axis> prepare) {
        if (!prepare) return {};
        return [prepare = std::move(prepare)](Instance& instance) -> Result<void> {
            instance.enter();
            return prepare(Pin<Axis>{&instance});
        };
    }

    struct Member {
        std::unique_ptr<Slot> slot;
        bool in_group{false};
    };
    struct Swap {
        Slot* slot;
        Instance* fresh;  // nullptr: the slot becomes empty
        Change change;
    };

    Result<Slot*> open_slot(const AxisInfo& axis, const Config& config, Hook prepare);
    std::vector<Error> open_members(const AxisInfo& axis, const Config& config);  // those that cannot be used
    void order_group(const AxisInfo& axis, const Config& config);
    void report_missing(const AxisInfo& axis, const Error& error);
    std::vector<Slot*> group_slots(const AxisInfo& axis) const;

    std::vector<std::string> choices(const AxisInfo& axis, const Config& config, bool& configured) const;
    Result<Instance*> make(const AxisInfo& axis, const std::string& type, const Config& config, const Hook& prepare);
    Result<Instance*> make_first(const AxisInfo& axis, const Config& config, const Hook& prepare);
    Result<Instance::Wanted> found(const AxisInfo& axis, const std::string& type, const Config& config,
                                   const std::filesystem::path& file);
    Result<Instance::Wanted> found_isolated(const AxisInfo& axis, const std::string& type, const Config& config,
                                            const std::filesystem::path& file);
    bool is_in_quarantine(const std::string& type) const;
    Result<void> check_quarantine(const std::string& type, const std::filesystem::path& file);
    void plan_swap(Slot& slot, const Config& config, std::vector<Swap>& swaps, std::string& mistakes);
    void plan_group(const AxisInfo& axis, const Config& config, std::vector<Swap>& swaps, std::string& mistakes);
    void note_changed_files(std::vector<Change>& changes) const;
    void retire(Instance* instance);
    void sweep();
    void sweep_later();
    void watch_calls();  // again and again
    void name_slow_calls(const Instance& instance);
    void name_written_over(const Library& library);  // once each
    void note_failure(const std::string& type, const std::string& path, const char* state, const std::string& detail);

    HostOptions options_;
    std::vector<std::string> dirs_;
    std::shared_ptr<Executor> executor_;
    std::shared_ptr<NoticeBoard> notices_;
    std::vector<Crash> crashes_;
    mutable std::recursive_mutex main_;  // the main-thread role: one call at a time
    std::vector<Member> members_;
    std::vector<Instance*> leaving_;                       // replaced, still inside a call
    std::vector<const AxisInfo*> groups_;                  // axes opened with open_group() or open_chain()
    mutable std::mutex lists_mutex_;                       // never held while a plugin is made or called
    std::map<const AxisInfo*, std::vector<Slot*>> lists_;  // of groups_, in the order of the configuration
    std::vector<PluginStatus> refused_;
    std::shared_ptr<Executor::Client> janitor_;  // ends what is leaving_ once it has left
    std::set<std::filesystem::path> named_files_;
    std::map<std::string, std::uint64_t> named_slow_;  // by plugin and op: for how long it had been running
    bool stopped_{false};
};

// The active plugins of an axis that may have several; follows reconfiguration.
template <class Axis>
class Group {
public:
    explicit Group(PluginHost& host) : host_{&host} {}
    std::vector<Pin<Axis>> pins() const {
        std::vector<Pin<Axis>> all;
        for (auto* const slot : host_->group_slots(Axis::info))
            if (auto* const instance = slot->pin()) all.emplace_back(instance);
        return all;
    }

private:
    PluginHost* host_;
};

// The plugins of a chain, asked one after the other; follows reconfiguration.
template <class Axis>
class Chain {
public:
    using Ops = typename Axis::Ops;
    struct Answer {
        spur_status verdict{SPUR_OK};
        std::string by;        // who refused
        std::string sentence;  // in its words
    };
    explicit Chain(PluginHost& host) : members_{host} {}
    bool empty() const { return members_.pins().empty(); }

    // Calls `op` of each; `args` are without the error at the end. An error names the member that failed.
    template <class Fn, class... Args>
    Result<Answer> run(Fn Ops::*op, const Args&... args) const {
        for (const auto& member : members_.pins()) {
            spur_error error{};
            error.size = sizeof error;
            const auto verdict = member.call(op, args..., &error);
            if (verdict && *verdict == SPUR_OK) continue;
            if (verdict) return Answer{*verdict, member.type(), error.text};
            if (Axis::info.chain->failure_refuses) return std::unexpected(verdict.error());
            log::warning("{}; the next of {} is asked", verdict.error().text, Axis::info.name);
        }
        return Answer{};
    }

private:
    Group<Axis> members_;
};

}  // namespace spur::host
