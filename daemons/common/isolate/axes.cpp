// Which axes cross, and what is said where a call did not come through.
#include "daemons/common/isolate/axes.hpp"

#include <cstdio>

#include "daemons/common/isolate/axis_table.hpp"

namespace spur::isolate {

namespace detail {

spur_status tell(spur_error* error, spur_status status, std::string_view sentence) noexcept {
    if (error == nullptr || !SPUR_HAS(spur_error, error, text)) return status;
    error->code = status;
    std::snprintf(error->text, sizeof(error->text), "%.*s", static_cast<int>(sentence.size()), sentence.data());
    return status;
}

}  // namespace detail

const AxisCrossing* find_crossing(std::string_view axis) {
    if (axis == "auth") return &auth_crossing();
    if (axis == "gpu") return &gpu_crossing();
    if (axis == "accounting") return &accounting_crossing();
    return nullptr;
}

}  // namespace spur::isolate
