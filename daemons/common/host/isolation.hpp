// A plugin in a process of its own, as the host sees it. What makes one is in daemons/common/isolate; daemons that want
// it hand that over in HostOptions, so that the commands do not carry it.
#pragma once

#include <spur/plugin/module.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"
#include "daemons/common/host/axes.hpp"
#include "daemons/common/host/metrics.hpp"
#include "daemons/common/host/module_info.hpp"

namespace spur::host {

class Isolated {
public:
    virtual ~Isolated() = default;
    virtual const ModuleInfo& module() const = 0;
    // A table of the axis's own interface, and what its ops are called with. Its calls cross over; they fail with a
    // sentence when the process is gone or does not come back in time, and never take longer than that.
    virtual const void* ops() const = 0;
    virtual spur_plugin* self() = 0;
    virtual void close() = 0;  // ends the process; calls that wait fail

    struct Status {
        int pid{};  // 0: being started
        std::uint64_t restarts{};
        std::string last_end;  // how the last one ended
    };
    virtual Status status() const = 0;
    virtual std::vector<Metric> metrics() = 0;  // what the plugin defined; the last known where it does not answer
};

struct IsolationWanted {
    const AxisInfo* axis;
    std::string type;
    std::string file;
    std::string program, version;
    std::map<std::string, std::string> facts;
    std::vector<ConfigOption> options;
    std::vector<std::string> dirs;
    std::string config_source;
    bool check_owner{true};
    // Something that the plugin answers for changed: what (SPUR_CHANGED_*), of which subject, why.
    std::function<void(std::uint32_t, std::string_view, std::string_view)> changed{};
};
// Fails where the axis cannot be isolated, or with the sentence of the plugin itself.
using Isolate = std::function<Result<std::shared_ptr<Isolated>>(IsolationWanted)>;

}  // namespace spur::host
