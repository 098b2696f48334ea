// The process limits that a job takes along (--propagate), by Slurm's names.
#pragma once

#include <sys/resource.h>

#include <string_view>

namespace spur {

struct ProcessLimitName {
    std::string_view name;
    int resource;
};
inline constexpr ProcessLimitName process_limits[] = {
    {"CPU", RLIMIT_CPU},         {"FSIZE", RLIMIT_FSIZE}, {"DATA", RLIMIT_DATA},   {"STACK", RLIMIT_STACK},
    {"CORE", RLIMIT_CORE},       {"RSS", RLIMIT_RSS},     {"NPROC", RLIMIT_NPROC}, {"NOFILE", RLIMIT_NOFILE},
    {"MEMLOCK", RLIMIT_MEMLOCK}, {"AS", RLIMIT_AS},
};

}  // namespace spur
