// scontrol update, create and delete: what the user typed, as requests. No I/O.
#pragma once

#include "core/base/result.hpp"
#include "spur/v1/controller.pb.h"

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spur::cli::scontrol {

// Jobs named by their name are looked up first; the ids are then filled in.
struct JobUpdate {
    v1::UpdateJobsRequest request;
    std::string by_name;
};
using Update =
    std::variant<JobUpdate, v1::UpdateNodesRequest, v1::UpdatePartitionRequest, v1::UpdateReservationRequest>;

// Errors are the lines Slurm prints, without a prefix.
Result<Update> parse_update(std::span<const std::string> words);
Result<Update> parse_create(std::span<const std::string> words);
Result<Update> parse_delete(std::span<const std::string> words);

}  // namespace spur::cli::scontrol
