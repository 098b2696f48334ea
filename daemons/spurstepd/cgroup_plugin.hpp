// The cgroup plugin inside the step daemon: opened once by the zygote, inherited by every step it forks.
//
// This is a host of the smallest kind. spurd, which has the full one, has already checked the file, its owner and its
// options; what it passes on the command line is taken as it is.
#pragma once

#include <spur/plugin/cgroup.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace spur::step {

struct CgroupOptions {
    std::string file;  // cgroup_v2.so; empty: no plugin
    std::string type;  // "cgroup/v2"
    std::string node, cluster, state_dir;
    std::uint32_t needed{};                                    // SPUR_CGROUP_* that spurd has seen work here
    std::vector<std::pair<std::string, std::string>> options;  // numbers in decimal, lists joined by unit separators
};

class CgroupPlugin {
public:
    static Result<std::unique_ptr<CgroupPlugin>> load(const CgroupOptions& options);
    ~CgroupPlugin();
    CgroupPlugin(const CgroupPlugin&) = delete;
    CgroupPlugin& operator=(const CgroupPlugin&) = delete;

    [[nodiscard]] const spur_cgroup_ops& ops() const { return *ops_; }
    [[nodiscard]] spur_plugin* self() const { return self_; }
    [[nodiscard]] bool can(std::uint32_t capability) const { return (capabilities_ & capability) != 0; }

private:
    CgroupPlugin() = default;
    struct Host;
    std::unique_ptr<Host> host_;
    const spur_plugin_desc* descriptor_{nullptr};
    spur_plugin* self_{nullptr};
    const spur_cgroup_ops* ops_{nullptr};
    std::uint32_t capabilities_{0};
};

// What steps are contained with: the plugin, nothing at all (none is configured), or why the one that is configured
// cannot be used; then no step is run.
struct CgroupChoice {
    std::unique_ptr<CgroupPlugin> plugin;
    std::string problem;

    static CgroupChoice make(const CgroupOptions& options);
};

}  // namespace spur::step
