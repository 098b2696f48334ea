// File name patterns and signals.
#include "core/slurm/signal.hpp"
#include "core/text/pattern.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    const auto text = as_text(data, size);
    const PatternValues values{.job = 128, .step = 0, .node = "n1", .user = "ann", .job_name = "a/b"};
    const auto path = expand_path(text, values, "/home/ann");
    must(path.empty() || path.front() == '/');
    (void)differs_by_task(text);
    (void)differs_by_node(text);
    if (const auto warning = WarningSignal::parse(text)) must(WarningSignal::parse(warning->str()) == *warning);
    return 0;
}
