// What one line of squeue is about: a job (or one task of an array) or a step, and what the listing as a whole knows.
#pragma once

#include "cli/common/format.hpp"
#include "spur/v1/job.pb.h"

#include <cstdint>
#include <span>
#include <string>

namespace spur::cli::squeue {

struct Listing {
    std::int64_t now = 0;
    std::string cluster;
    std::size_t array_text_limit = 64;
    bool convert_units = true;
};

struct JobRow {
    const v1::Job* job;
    const Listing* listing;
};

struct StepRow {
    const v1::Step* step;
    const v1::Job* job;
    const Listing* listing;
};

std::span<const Field<JobRow>> job_fields();
std::span<const Field<StepRow>> step_fields();
std::string step_id_text(const v1::Job& job, const v1::Step& step);

// The letters of "%all", in Slurm's order.
inline constexpr std::string_view all_job_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
inline constexpr std::string_view all_step_letters = "bijluAMNPSU";

}  // namespace spur::cli::squeue
