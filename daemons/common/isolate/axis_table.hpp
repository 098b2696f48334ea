// For the files axis_<name>.cpp, which say what crosses for one axis: the members of its structs, the functions of its
// sinks, its ops.
#pragma once

#include "daemons/common/isolate/axes.hpp"

namespace spur::isolate {

namespace detail {

template <class Axis>
Result<host::Instance*> open(host::PluginHost& host, const Config& config) {
    SPUR_TRY(const auto bound, host.open<Axis>(config));
    return &bound.pin().instance();
}

}  // namespace detail

// `Ops`: all of the axis's, in its order.
template <class Axis, class... Ops>
AxisCrossing make_crossing() {
    return []<unsigned... Number>(std::integer_sequence<unsigned, Number...>) {
        return AxisCrossing{&Axis::info, {crossing<Number>(Ops{})...}, &detail::open<Axis>};
    }
    (std::make_integer_sequence<unsigned, sizeof...(Ops)>{});
}

const AxisCrossing& auth_crossing();
const AxisCrossing& gpu_crossing();
const AxisCrossing& accounting_crossing();

}  // namespace spur::isolate
