// Lines of numbers and words.
#include "health.hpp"

#include <spur/plugin/draft/gpu.h>

#include <fstream>
#include <sstream>

namespace spur::gpu_sim {
namespace {
constexpr std::pair<const char*, std::uint32_t> words[] = {
    {"healthy", SPUR_GPU_HEALTHY}, {"degraded", SPUR_GPU_DEGRADED}, {"failed", SPUR_GPU_FAILED}};
}

Health read_health(const std::string& file) {
    Health health;
    if (file.empty()) return health;
    std::ifstream in{file};
    for (std::string line; std::getline(in, line);) {
        std::istringstream parts{line};
        std::uint32_t number{};
        std::string word;
        if (!(parts >> number >> word)) continue;
        for (const auto& [name, value] : words)
            if (word == name) health[number] = value;
    }
    return health;
}

const char* name_of_health(std::uint32_t health) {
    for (const auto& [name, value] : words)
        if (value == health) return name;
    return "unknown";
}

}  // namespace spur::gpu_sim
