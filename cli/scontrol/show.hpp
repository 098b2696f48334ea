// scontrol show: each kind of record as text. No I/O.
#pragma once

#include "cli/scontrol/record.hpp"
#include "spur/v1/controller.pb.h"

#include <string>

namespace spur::cli::scontrol {

std::string job_text(const v1::Job& job, const Style& style);
std::string step_text(const v1::Job& job, const v1::Step& step, const Style& style);
std::string node_text(const v1::Node& node, const Style& style);
std::string partition_text(const v1::Partition& partition, const Style& style);
std::string reservation_text(const v1::Reservation& reservation, const Style& style);
std::string license_text(const v1::License& license, const Style& style);
std::string config_text(const v1::GetConfigReply& reply, const Style& style);

}  // namespace spur::cli::scontrol
