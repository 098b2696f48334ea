// Any bytes are a script or are refused, and words survive quoting.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/slurm/script.hpp"

namespace spur {
namespace {

RC_GTEST_PROP(T17ScriptLaws, AQuotedWordComesBackAsItWas, ()) {
    const auto word =
        *rc::gen::container<std::string>(rc::gen::element('a', ' ', '"', '\'', '\\', '#', '\t', '-', '='));
    std::string line = "#!/bin/sh\n#SBATCH \"";
    for (const char c : word) line += std::string{c == '"' || c == '\\' ? "\\" : ""} + c;
    const auto directives = script_directives(line + "\"\n").value();
    RC_ASSERT(directives.size() == 1U);
    RC_ASSERT(directives[0].words == std::vector<std::string>{word});
}

RC_GTEST_PROP(T17ScriptLaws, AnyBytesAreReadOrRefused, ()) {
    const auto tail = *rc::gen::container<std::string>(rc::gen::element(
        '#', 'P', 'B', 'S', ' ', '-', 'l', 'n', '=', ':', '+', '"', '\\', '\n', '4', 'b', ',', '\0', '\xff'));
    for (const auto* head : {"", "#PBS -l ", "#PBS -l nodes=", "#BSUB -", "#SBATCH "}) {
        const auto directives = script_directives(head + tail);
        if (!directives) continue;
        for (const auto& directive : *directives) (void)sbatch_words(directive);
    }
    (void)check_script(tail);
}

}  // namespace
}  // namespace spur
