// The fields of sacct, as Slurm writes them. No I/O but looking up a user's number where that was asked for.
#pragma once

#include "cli/common/columns.hpp"
#include "daemons/common/records/record.hpp"
#include "spur/v1/accounting.pb.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spur::cli::sacct {

// How values are to look, and what only the controller knows.
struct Look {
    std::optional<char> units;  // K, M, G, T, P: sizes in this one
    bool convert = true;        // false: sizes as they are stored
    bool with_steps = true;     // false: -X, which counts no CPU time
    bool local_uids = false;
    std::map<std::string, std::uint32_t> qos_ids;
};

// A line: a run of a job, or a step of it.
struct Line {
    const v1::HistoryJob& run;
    const v1::Step* step;  // nullptr: the job itself
    const records::Context& in;
    const Look& look;
    const v1::Job& job() const { return run.job(); }
};

struct SacctField {
    const char* name;
    int width;                                        // negative: to the left
    std::string (*job)(const Line& line) = nullptr;   // nullptr: nothing
    std::string (*step)(const Line& line) = nullptr;  // nullptr: what was measured under this name, if anything
    TooLong too_long = TooLong::plus;
};

std::span<const SacctField> fields();                 // in the order of --helpformat
const SacctField* find_field(std::string_view name);  // any case; as few letters as tell it apart
std::string text_of(const SacctField& field, const Line& line);

// For other forms of the same facts.
std::string state_text(const Line& line);
std::uint32_t exit_status_of(const Line& line);  // of a job that was ended by somebody 0: how is in its steps
std::int64_t elapsed_s(const Line& line);
std::uint64_t cpu_used_us(const Line& line);

}  // namespace spur::cli::sacct
