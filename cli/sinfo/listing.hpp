// sinfo's output as text: nodes grouped into lines by the columns asked for. No I/O.
#pragma once

#include "cli/sinfo/options.hpp"
#include "spur/v1/controller.pb.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spur::cli::sinfo {

struct Snapshot {
    v1::ListPartitionsReply partitions;
    v1::ListNodesReply nodes;
    std::int64_t now = 0;
};

struct Printed {
    std::string text;
    std::vector<std::string> complaints;  // unknown format letters, ready to print
};
Printed print_listing(const Options& options, const Snapshot& snapshot);

std::string print_reservations(const Options& options, const v1::ListReservationsReply& reply, std::int64_t now);

}  // namespace spur::cli::sinfo
