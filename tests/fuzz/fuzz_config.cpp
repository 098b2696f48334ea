// spur.conf: any bytes give a configuration or sentences, and the sentences come in the order of their lines.
#include "daemons/common/config/config.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace spur;
    const auto text = as_text(data, size);
    const auto config = config::parse_config(text, "spur.conf");
    if (config) {
        must(!config->cluster.cluster_name.empty());
        must(config::parse_config(text, "spur.conf") == config);
        return 0;
    }
    must(!config.error().empty());
    std::uint32_t line = 0;
    for (const auto& problem : config.error()) {
        must(!problem.text.empty() && problem.text.find('\n') == std::string::npos);
        must(problem.line >= line);
        line = problem.line;
    }
    return 0;
}
