// A plugin's ops, checked and copied: what the checks saw is what is called, whatever becomes of the plugin's own table. Used
// by the daemons' host and by the step daemon's small one, as are the sentences for what went wrong in a call.
#pragma once

#include <spur/plugin/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/common/host/axes.hpp"
#include "daemons/common/host/module_info.hpp"

namespace spur::host {

// The newest interface that both sides speak: nullptr stands for the axis's own. `program` is named in refusals.
Result<const OlderInterface*> choose_interface(const AxisInfo& axis, const DescriptorInfo& plugin,
                                               const std::string& program);

class OpsTable {
public:
    // From what query() answered for `self`, be it what it may.
    static Result<OpsTable> make(const AxisInfo& axis, const OlderInterface* older, const std::string& type,
                                 const std::string& program, const void* answered, spur_plugin* self);

    // The op at this offset of the axis's own table, or nullptr where the plugin has none.
    [[nodiscard]] const void* find(std::uint32_t offset) const;
    [[nodiscard]] const void* data() const { return ops_; }
    [[nodiscard]] spur_plugin* self() const { return self_; }  // what they are called with

private:
    std::vector<std::uint64_t> copy_;  // zeros behind
    std::unique_ptr<Adapter> adapter_;
    const void* ops_{nullptr};
    std::uint32_t size_{};
    spur_plugin* self_{nullptr};
};

ErrorCode code_of(spur_status status);
// What a call that failed says, and in which words an op that says nothing is reported.
Error failure_of(const std::string& type, const char* op, spur_status status, const spur_error& error);
// Inside of a catch block: what was thrown out of `op`.
Error thrown_out_of(const std::string& type, const char* op);

}  // namespace spur::host
