// Batch scripts: what makes one acceptable, and the options in its comments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur {

// Refuses what sbatch refuses, in its words: empty, not starting with #!, NUL bytes, DOS line breaks.
// These sentences have more than one line; sbatch prefixes each.
Result<void> check_script(std::string_view script);

struct Directive {
    enum class Kind : std::uint8_t { sbatch, pbs, bsub };
    Kind kind{Kind::sbatch};
    std::size_t line{};              // 1-based, for error messages
    std::vector<std::string> words;  // quotes resolved, comment dropped: "--job-name=a b" is one word
    bool operator==(const Directive&) const = default;

    bool starts_component() const;  // #SBATCH hetjob (or packjob): what follows describes the next component
};

// Every directive above the first command, in the order they apply: within a component #SBATCH lines as written, then
// the others. The single error is an unmatched quote.
Result<std::vector<Directive>> script_directives(std::string_view script, bool ignore_pbs = false);

// The directive as sbatch options: "-l nodes=2:ppn=4" gives "--nodes=2" and "--ntasks=8". Like sbatch it skips what is
// only advice to PBS (-k, -S, -l place=...) and refuses options it does not know.
Result<std::vector<std::string>> sbatch_words(const Directive& directive);

}  // namespace spur
