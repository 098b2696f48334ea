// `spur history`: jobs for people, with how well they used what they had. No I/O.
#pragma once

#include "cli/sacct/listing.hpp"

namespace spur::cli::sacct {

// How much of what it had a job used, in percent; nothing where that was not measured.
struct Efficiency {
    std::optional<int> cpu, memory;
};
Efficiency efficiency_of(const v1::HistoryJob& run, UnixSeconds now);

std::string ago(UnixSeconds then, UnixSeconds now);  // "just now", "5 min ago", "yesterday 14:02", "3 Nov"
std::string bar(int percent);                        // ten characters

// The newest last. Colours and bars are for a terminal; elsewhere it is plain text.
std::string history_of(const Runs& runs, bool without_steps, bool is_terminal, UnixSeconds now);

}  // namespace spur::cli::sacct
