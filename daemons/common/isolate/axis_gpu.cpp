// How gpu crosses.
#include "daemons/common/isolate/axis_table.hpp"

namespace spur::isolate {

template <>
struct Flat<spur_gpu_load> : std::true_type {};
template <>
struct Fields<spur_gpu_device>
    : Members<&spur_gpu_device::size, &spur_gpu_device::index, &spur_gpu_device::numa_node, &spur_gpu_device::health,
              &spur_gpu_device::memory_mib, &spur_gpu_device::key, &spur_gpu_device::parent, &spur_gpu_device::type,
              &spur_gpu_device::model, &spur_gpu_device::pci, &spur_gpu_device::near_cpus,
              &spur_gpu_device::device_files, &spur_gpu_device::cdi, &spur_gpu_device::profile,
              &spur_gpu_device::clique> {};
template <>
struct Fields<spur_gpu_link> : Members<&spur_gpu_link::size, &spur_gpu_link::kind, &spur_gpu_link::weight,
                                       &spur_gpu_link::to_what, &spur_gpu_link::from, &spur_gpu_link::to> {};
template <>
struct Fields<spur_gpu_grant> : Members<&spur_gpu_grant::key, &spur_gpu_grant::units> {};
template <>
struct Fields<spur_gpu_binding>
    : Members<&spur_gpu_binding::size, &spur_gpu_binding::flags, &spur_gpu_binding::job, &spur_gpu_binding::attempt,
              &spur_gpu_binding::step, &spur_gpu_binding::task, &spur_gpu_binding::uid, &spur_gpu_binding::reserved,
              span_of<spur_gpu_grant>(&spur_gpu_binding::grants)> {};
template <>
struct Fields<spur_gpu_process> : Members<&spur_gpu_process::size, &spur_gpu_process::pid, &spur_gpu_process::busy,
                                          &spur_gpu_process::energy_joules, &spur_gpu_process::memory_mib> {};
template <>
struct Fields<spur_gpu_profile>
    : Members<&spur_gpu_profile::size, &spur_gpu_profile::most, &spur_gpu_profile::memory_mib, &spur_gpu_profile::name,
              &spur_gpu_profile::type> {};

template <>
struct Pushes<spur_gpu_sink> : Functions<&spur_gpu_sink::device, &spur_gpu_sink::link> {};
template <>
struct Pushes<spur_gpu_env_sink> : Functions<&spur_gpu_env_sink::variable, &spur_gpu_env_sink::device_file> {};
template <>
struct Pushes<spur_gpu_process_sink> : Functions<&spur_gpu_process_sink::process> {};
template <>
struct Pushes<spur_gpu_profile_sink> : Functions<&spur_gpu_profile_sink::profile> {};

template <>
inline constexpr bool may_last<&spur_gpu_ops::watch> = true;

const AxisCrossing& gpu_crossing() {
    using O = spur_gpu_ops;
    static const auto all =
        make_crossing<host::GpuAxis, Of<&O::scan>, Of<&O::bind>, Of<&O::release>, Of<&O::load>, Of<&O::processes>,
                      Of<&O::watch>, Of<&O::reset>, Of<&O::profiles>, Of<&O::partition, spur_str>>();
    return all;
}

}  // namespace spur::isolate
