// The cgroup plugin inside the step daemon: opened once by the zygote, inherited by every step it forks.
//
// The file, its module, its options and its ops pass the same checks as in every daemon (daemons/common/host). What is left out is
// what an instance that is forked cannot use: threads, an executor, counters, another instance in its place.
#pragma once

#include <spur/plugin/cgroup.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.hpp"
#include "daemons/common/host/ops_table.hpp"
#include "daemons/spurstepd/call_guard.hpp"
#include "daemons/spurstepd/setup.hpp"
#include "daemons/spurstepd/site_limits.hpp"

namespace spur::step {

class CgroupPlugin {
public:
    static Result<std::unique_ptr<CgroupPlugin>> load(const Setup& setup);
    ~CgroupPlugin();
    CgroupPlugin(const CgroupPlugin&) = delete;
    CgroupPlugin& operator=(const CgroupPlugin&) = delete;

    [[nodiscard]] bool can(std::uint32_t capability) const { return (capabilities_ & capability) != 0; }
    [[nodiscard]] const SiteLimits& site() const { return site_; }
    // Why it is not called any more: it crashed or hung; empty: it is.
    [[nodiscard]] const std::string& broken() const { return guard_.broken(); }

    struct Answer {
        spur_status status{SPUR_OK};
        std::string text;  // what went wrong
        [[nodiscard]] bool is_ok() const { return status >= 0; }
    };
    // Calls an op with what stands between its instance and its error. One that the plugin does not have is unsupported.
    template <class... Parameters, class... Arguments>
    Answer call(spur_status (*spur_cgroup_ops::*op)(spur_plugin*, Parameters...), Arguments... arguments) const {
        const auto offset = offset_of(op);
        const auto function = reinterpret_cast<spur_status (*)(spur_plugin*, Parameters...)>(
            const_cast<void*>(table_.find(offset)));
        if (function == nullptr) return {SPUR_E_UNSUPPORTED, "it does not do that"};
        spur_error error{sizeof(spur_error), SPUR_OK, {}};
        spur_status status = SPUR_E_INTERNAL;
        const auto failure =
            guard_.run(name_of(offset), [&] { status = function(table_.self(), arguments..., &error); });
        return answer(offset, status, error, failure);
    }
    template <class Op>
    [[nodiscard]] bool has(Op spur_cgroup_ops::*op) const {
        return table_.find(offset_of(op)) != nullptr;
    }
    // The caller into the scope: async-signal-safe, and without a net.
    spur_status attach(const spur_cgroup_scope& scope, spur_error& error) const {
        return attach_(table_.self(), &scope, 0, &error);
    }
    // Ends calls that take a `stop` before they are given up on.
    [[nodiscard]] spur_stop stop() const;

    // Where its log lines go; before that, to stderr.
    using LogLine = std::function<void(std::uint32_t level, const std::string& line)>;
    void set_log(LogLine log) const;

private:
    explicit CgroupPlugin(const Setup& setup);
    Result<void> create(const spur_plugin_desc& desc, const Setup& setup, const host::DescriptorInfo& info);
    template <class Op>
    static std::uint32_t offset_of(Op spur_cgroup_ops::*op) {
        static constexpr spur_cgroup_ops table{};
        return static_cast<std::uint32_t>(reinterpret_cast<const char*>(&(table.*op)) -
                                          reinterpret_cast<const char*>(&table));
    }
    static const char* name_of(std::uint32_t offset);
    [[nodiscard]] Answer answer(std::uint32_t offset, spur_status status, const spur_error& error,
                                const std::string& failure) const;

    struct Services;
    std::unique_ptr<Services> services_;
    mutable CallGuard guard_;
    std::string type_;
    spur_plugin* self_{nullptr};
    void (*destroy_)(spur_plugin*){nullptr};
    host::OpsTable table_;
    decltype(spur_cgroup_ops::attach) attach_{nullptr};
    std::uint32_t capabilities_{0};
    SiteLimits site_;
};

// What steps are contained with: the plugin, nothing at all (none is configured), or why the one that is configured
// cannot be used; then no step is run.
struct CgroupChoice {
    std::unique_ptr<CgroupPlugin> plugin;
    std::string problem;

    static CgroupChoice make(const Setup& setup);
};

std::size_t count_threads();  // of this process

}  // namespace spur::step
