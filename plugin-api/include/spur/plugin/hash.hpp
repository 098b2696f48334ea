// spur/plugin/hash.hpp - digests of what jobs ask for. With 64 bits, collisions between different requests can be
// ignored. Header only, C++20.
#pragma once

#include <spur/plugin/view.h>
#include <spur/plugin/plugin.hpp>

#include <cstdint>

namespace spur::plugin {

class Hash {
public:
    template <class... T>
    Hash& operator()(T... values) {
        (mix(static_cast<std::uint64_t>(values)), ...);
        return *this;
    }
    // By address: the host shares them. Equal ones at two addresses only count as two.
    Hash& set(const spur_bits& bits) { return (*this)(reinterpret_cast<std::uintptr_t>(bits.words), bits.count); }
    Hash& span(const spur_span& span) { return (*this)(reinterpret_cast<std::uintptr_t>(span.data), span.count); }
    std::uint64_t value() const { return value_ ^ (value_ >> 29); }

private:
    void mix(std::uint64_t next) {
        value_ ^= next + 0x9e3779b97f4a7c15ULL + (value_ << 6) + (value_ >> 2);
        value_ *= 0xff51afd7ed558ccdULL;
        value_ ^= value_ >> 32;
    }
    std::uint64_t value_{17};
};

// Everything that a selector may look at and that is neither an amount nor a set of nodes.
inline Hash& hash_rest(Hash& hash, const spur_job_view& job) {
    hash(job.flags, job.reservation, job.tasks_per_node, job.tasks_per_socket, job.tasks_per_core, job.tasks_per_gpu,
         job.cpus_per_gpu, job.min_sockets, job.min_cores_per_socket, job.min_threads_per_core, job.spread_nodes,
         job.spread_sockets, job.plane_size, job.max_switches);
    if (job.max_switches != 0) hash(job.switches_until);
    hash(job.partitions.count, job.licenses.count);
    for (const auto partition : Records<std::uint32_t>{job.partitions}) hash(partition);
    for (const auto& license : Records<spur_license_request>{job.licenses}) hash(license.license, license.count);
    return hash;
}

}  // namespace spur::plugin
