// One instance of a plugin: made, checked, counted, and destroyed when its last call has ended. The object itself is
// never freed; that is what makes pinning it two atomic additions.
#pragma once

#include <spur/plugin/module.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"
#include "daemons/common/host/axes.hpp"
#include "daemons/common/host/isolation.hpp"
#include "daemons/common/host/library.hpp"
#include "daemons/common/host/ops_table.hpp"
#include "daemons/common/host/services.hpp"
#include "daemons/common/host/stats.hpp"

namespace spur::host {

class ProcessState;

Error error_of(spur_status status, std::string text);  // the plugin's failure in our words

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
        std::shared_ptr<NoticeBoard> notices;
        std::shared_ptr<Isolated> isolated;  // then there is no desc: its process creates and destroys it
    };
    // create(), query() and a look at the ops table. On failure nothing is left but this sentence. [main-thread]
    static Result<Instance*> make(Wanted wanted);

    const std::string& type() const { return wanted_.info->type; }
    const AxisInfo& axis() const { return *wanted_.axis; }
    const DescriptorInfo& info() const { return *wanted_.info; }
    const Library& library() const { return *wanted_.library; }
    const std::vector<ConfigOption>& options() const { return wanted_.options; }
    const std::string& secrets() const { return secrets_; }  // secret_stamp() of the options when it was made
    spur_plugin* self() const { return table_.self(); }
    const char* interface() const { return older_ != nullptr ? older_->id : axis().interface; }  // what it speaks
    const void* ops() const { return table_.data(); }
    Services& services() { return services_; }
    const char* name() const { return services_.type(); }  // terminated, for frames

    // The op at this offset, or nullptr where the plugin has none.
    const void* find_op(std::uint32_t offset) const { return table_.find(offset); }
    OpCounter& counter(std::uint32_t offset) { return counters_[number_of(offset)]; }
    const OpInfo& op(std::uint32_t offset) const { return wanted_.axis->ops[number_of(offset)]; }
    std::vector<OpStats> stats() const;
    std::vector<Metric> metrics() const;
    std::optional<Isolated::Status> isolation() const;  // nothing: it lives in this process

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

    // After `op`: what it changed of the process and its thread is put back, and told.
    void check_left(const char* op, const ProcessState& before);

    // Calls in the cycle-thread role never overlap; checked where roles are.
    void begin_cycle_call(const OpInfo& op);
    void end_cycle_call() { in_cycle_.fetch_sub(1); }
    bool checks_roles() const { return wanted_.setup.checks_roles; }

private:
    explicit Instance(Wanted wanted, const OlderInterface* older);
    std::size_t number_of(std::uint32_t offset) const { return (offset - first_op_) / sizeof(void*); }
    Result<void> create();
    Result<void> check_ops();
    void destroy();

    Wanted wanted_;
    Services services_;
    std::string secrets_;
    std::uint32_t first_op_;       // offset in the axis's table
    const OlderInterface* older_;  // nullptr: it speaks the axis's own
    spur_plugin* self_{nullptr};
    OpsTable table_;
    std::array<OpCounter, most_ops> counters_;
    std::atomic<std::uint32_t> in_flight_{0};
    std::atomic<std::uint32_t> in_cycle_{0};
    bool destroyed_{false};
};

}  // namespace spur::host
