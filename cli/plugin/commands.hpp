// What the commands under `spur plugin` share.
#pragma once

#include "cli/common/console.hpp"
#include "cli/common/invocation.hpp"
#include "core/base/result.hpp"
#include "daemons/common/host/module_info.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace spur::cli::plugin {

// Options of all the commands; each takes those it knows.
struct Options {
    bool json = false, dry_run = false;
    std::vector<std::string> dirs;  // --dir: look here first
    std::string language;           // new --lang
    std::vector<std::string> words;
};

// Each prints its result and gives the exit code, or an error to print.
Result<int> list(const Options& options, Invocation& self);
Result<int> info(const Options& options, Invocation& self);
Result<int> create(const Options& options, Invocation& self);
Result<int> debug(const Options& options, Invocation& self);
Result<int> stats(const Options& options, Invocation& self);
Result<int> metrics(const Options& options, Invocation& self);
int check(const std::vector<std::string>& words);  // hands over to spur-plugin-check

// Where plugins are looked for, and which of them spur.conf selects.
struct Surroundings {
    std::vector<std::filesystem::path> dirs;
    std::set<std::string> selected;              // "sched/backfill"
    std::map<std::string, std::string> running;  // type -> "in force", "quarantined", "failed", as the controller says
};
Result<Surroundings> find_surroundings(const Options& options);

std::filesystem::path program_dir();  // where this program is

// Rows of text in columns as wide as needed; the last column is not padded.
std::string in_columns(const std::vector<std::vector<std::string>>& rows, std::string_view indent = {});

}  // namespace spur::cli::plugin
