// The health that a file gives to made-up devices: lines such as "1 failed". Read again at every question.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace spur::gpu_sim {

// By number: SPUR_GPU_HEALTHY, _DEGRADED, _FAILED. Lines that say nothing known are passed over; no file: nobody is
// named.
using Health = std::map<std::uint32_t, std::uint32_t>;
Health read_health(const std::string& file);

const char* name_of_health(std::uint32_t health);

}  // namespace spur::gpu_sim
