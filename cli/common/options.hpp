// Options as tables: one row an option, one table a command. getopt_long does the reading, so abbreviations,
// clusters of letters, `--` and the error texts are those users know from every other program.
#pragma once

#include "cli/common/console.hpp"
#include "core/base/result.hpp"

#include <cstdlib>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli {

enum class Argument { none, required, optional };

// What the reader needs to know of one option; tables of richer rows provide it.
struct OptionShape {
    const char* name;  // long name, without dashes
    char letter;       // 0: none
    Argument argument;
};

enum class Order { permute, stop_at_first_word };  // may options follow words?

struct Seen {
    std::size_t row;    // index into the table
    const char* value;  // nullptr: none given
};

struct Parsed {
    std::vector<Seen> seen;         // in the order given
    std::vector<std::string> rest;  // words that are no options
};

// Reads `words` (words[0] is the program's name). On a wrong option getopt has already told the user; the caller
// adds "Try ... --help" and leaves.
struct BadOption {};
std::expected<Parsed, BadOption> read_options(std::span<const OptionShape> table, std::vector<std::string>& words,
                                              Order order);

// A row of a command's table: how it is spelled, what it does, how --help explains it.
template <class Target>
struct OptionRow {
    const char* name;
    char letter;
    Argument argument;
    const char* value_name;  // "job_id[,...]" in --help; nullptr: takes none
    const char* help;        // nullptr: accepted but not shown
    Result<void> (*set)(Target&, const char* value);
    const char* environment = nullptr;  // read before the command line
};

struct HelpLine {
    char letter;
    const char* name;
    const char* value_name;
    Argument argument;
    const char* help;
};
std::string help_text(std::string_view usage, std::span<const HelpLine> lines);

enum class ParseEnd { go_on, help, usage, version, wrong };

struct TableOutcome {
    ParseEnd end = ParseEnd::go_on;
    std::vector<std::string> rest;
    std::string error;  // wrong: what to print after "program: error: "; empty: already printed
};

// Options given by environment variables, each through its row's setter. Call before apply_words: the command line
// wins.
template <class Target>
TableOutcome apply_environment(std::span<const OptionRow<Target>> table, Target& target) {
    for (const auto& row : table) {
        const char* value = row.environment ? std::getenv(row.environment) : nullptr;
        if (value == nullptr) continue;
        if (const auto set = row.set(target, value); !set) return {ParseEnd::wrong, {}, set.error().text};
    }
    return {};
}

// Options given on the command line. --help, --usage and --version are recognised for every command.
template <class Target>
TableOutcome apply_words(std::span<const OptionRow<Target>> table, Target& target, std::vector<std::string>& words,
                         Order order = Order::permute) {
    std::vector<OptionShape> shapes;
    shapes.reserve(table.size() + 3);
    for (const auto& row : table) shapes.push_back({row.name, row.letter, row.argument});
    shapes.push_back({"help", 0, Argument::none});
    shapes.push_back({"usage", 0, Argument::none});
    shapes.push_back({"version", 'V', Argument::none});
    auto parsed = read_options(shapes, words, order);
    if (!parsed) return {ParseEnd::wrong, {}, {}};
    for (const auto& seen : parsed->seen) {
        if (seen.row == table.size()) return {ParseEnd::help, {}, {}};
        if (seen.row == table.size() + 1) return {ParseEnd::usage, {}, {}};
        if (seen.row == table.size() + 2) return {ParseEnd::version, {}, {}};
        if (const auto set = table[seen.row].set(target, seen.value); !set)
            return {ParseEnd::wrong, {}, set.error().text};
    }
    return {ParseEnd::go_on, std::move(parsed->rest), {}};
}

template <class Target>
std::string help_text(std::string_view usage, std::span<const OptionRow<Target>> table) {
    std::vector<HelpLine> lines;
    for (const auto& row : table)
        if (row.help) lines.push_back({row.letter, row.name, row.value_name, row.argument, row.help});
    return help_text(usage, lines);
}

// What --version prints: the Slurm release whose behaviour these commands keep, in the form tools parse.
inline constexpr std::string_view slurm_version_line = "slurm 22.05.8\n";

// Prints help, usage or version, or the error, and gives the exit code; for outcomes other than go_on.
struct HelpTexts {
    std::string help;
    std::string_view usage;
};
int finish_early(const TableOutcome& outcome, const Console& console, const HelpTexts& texts, int wrong_code = 1);

}  // namespace spur::cli
