// --mail-type: Slurm's names for when a job's user gets mail, in the order scontrol shows them.
#pragma once

#include <cstdint>
#include <string_view>

namespace spur {

struct MailType {
    std::string_view name;
    std::uint32_t bit;
};
inline constexpr MailType mail_types[] = {
    {"INVALID_DEPEND", 1U << 10},
    {"ARRAY_TASKS", 1U << 9},
    {"BEGIN", 1U << 0},
    {"END", 1U << 1},
    {"FAIL", 1U << 2},
    {"REQUEUE", 1U << 3},
    {"STAGE_OUT", 1U << 8},
    {"TIME_LIMIT_50", 1U << 7},
    {"TIME_LIMIT_80", 1U << 6},
    {"TIME_LIMIT_90", 1U << 5},
    {"TIME_LIMIT", 1U << 4},
};
inline constexpr std::uint32_t all_mail = 0x1U | 0x2U | 0x4U | 0x8U | 0x100U | 0x400U;  // --mail-type=ALL

}  // namespace spur
