// One instance of a plugin: made, checked, counted, and destroyed when its last call has ended. The object itself is
// never freed; that is what makes pinning it two atomic additions.
#pragma once

#include <spur/plugin/module.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"
#include "daemons/common/host/axes.hpp"
#include "daemons/common/host/library.hpp"
#include "daemons/common/host/services.hpp"
#include "daemons/common/host/stats.hpp"

namespace spur::host {

Error error_of(spur_status status, std::string text);  // the plugin's failure in our words
ErrorCode code_of(spur_status status);

class Instance {
public:
    struct Wanted {
        const AxisInfo* axis;
        const Library* library;
        const spur_plugin_desc* desc;
        const DescriptorInfo* info;
        std::vector<ConfigOption> options;
        std::string config_source;
        ServiceSetup setup;
        std::shared_ptr<Executor> executor;
    };
    // create(), query() and a look at the ops table. On failure nothing is left but this sentence. [main-thread]
    static Result<Instance*> make(Wanted wanted);

    const std::string& type() const { return wanted_.info->type; }
    const AxisInfo& axis() const { return *wanted_.axis; }
    const DescriptorInfo& info() const { return *wanted_.info; }
    const Library& library() const { return *wanted_.library; }
    const std::vector<ConfigOption>& options() const { return wanted_.options; }
    spur_plugin* self() const { return self_; }
    const void* ops() const { return ops_; }
    Services& services() { return services_; }
    const char* name() const { return services_.type(); }  // terminated, for frames

    // The op at this offset, or nullptr where the plugin has none.
    const void* find_op(std::uint32_t offset) const;
    OpCounter& counter(std::uint32_t offset) { return counters_[(offset - 8) / sizeof(void*)]; }
    const OpInfo& op(std::uint32_t offset) const { return wanted_.axis->ops[(offset - 8) / sizeof(void*)]; }
    std::vector<OpStats> stats() const;

    // An instance is kept alive by whoever is inside of it.
    void enter() noexcept { in_flight_.fetch_add(1); }
    void leave() noexcept { in_flight_.fetch_sub(1); }
    std::uint32_t in_flight() const noexcept { return in_flight_.load(); }

    // No new call comes; wait for those inside, then destroy(). False if one stays too long: try again later.
    // [main-thread]
    bool retire(std::chrono::milliseconds patience);

    // Sentences for what went wrong in a call.
    Error failure(const OpInfo& op, spur_status status, const spur_error& error) const;
    Error thrown(const OpInfo& op) const;  // inside of a catch block
    Error missing(const OpInfo& op) const;

    // Calls in the cycle-thread role never overlap; checked where roles are.
    void begin_cycle_call(const OpInfo& op);
    void end_cycle_call() { in_cycle_.fetch_sub(1); }
    bool checks_roles() const { return wanted_.setup.checks_roles; }

private:
    explicit Instance(Wanted wanted);
    Result<void> create();
    Result<void> check_ops();
    void destroy();

    Wanted wanted_;
    Services services_;
    spur_plugin* self_{nullptr};
    const void* ops_{nullptr};
    std::uint32_t ops_size_{};
    std::array<OpCounter, most_ops> counters_;
    std::atomic<std::uint32_t> in_flight_{0};
    std::atomic<std::uint32_t> in_cycle_{0};
    bool destroyed_{false};
};

}  // namespace spur::host
