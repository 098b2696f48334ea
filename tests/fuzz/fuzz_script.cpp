// Batch scripts: directives of any kind are read or refused.
#include "core/slurm/script.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    const auto script = as_text(data, size);
    (void)check_script(script);
    const auto directives = script_directives(script);
    if (!directives) return 0;
    for (const auto& directive : *directives) {
        must(!directive.words.empty());
        (void)sbatch_words(directive);
    }
    return 0;
}
