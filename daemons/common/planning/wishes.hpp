// What jobs ask for that a policy plugin may not know, and the words for it.
#pragma once

#include <spur/plugin/view.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace spur::planning {

// SPUR_WISH_* of a job whose record is filled but for them.
std::uint64_t wishes_of(const spur_job_view& job);

// "select/linear does not know --mem-per-gpu": the first of the wishes in `unknown`.
std::string say_unknown(std::uint64_t unknown, std::string_view select, std::string_view sched);

}  // namespace spur::planning
