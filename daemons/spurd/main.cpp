// spurd - the agent of one node: registers with the controller, runs jobs, reports what became of them.
#include <sysexits.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "daemons/common/config/config.hpp"
#include "daemons/common/log/log.hpp"
#include "daemons/spurd/agent.hpp"

namespace {

using namespace spur;

Result<Config> read_config(const agent::Options& options) {
    const std::filesystem::path path =
        options.config_path.empty() ? config::default_config_path() : std::filesystem::path{options.config_path};
    // Without a file an agent can still join: the controller tells it what matters.
    std::error_code error;
    if (options.config_path.empty() && !std::filesystem::exists(path, error)) return Config{};
    return config::load_config({.path = path});
}

Result<void> start_log(const agent::Options& options, const Config& config) {
    auto level = log::find_level(config.logging.level).value_or(log::Level::info);
    if (options.verbosity > 0) level = options.verbosity > 1 ? log::Level::trace : log::Level::debug;
    return log::start({.program = "spurd",
                       .level = level,
                       .file = config.logging.file,
                       .to_stderr = options.foreground || config.logging.file.empty(),
                       .json = config.logging.json});
}

Result<void> run(const agent::Options& options) {
    SPUR_TRY(const auto config, read_config(options));
    SPUR_CHECK(start_log(options, config));
    if (options.test_only) {
        SPUR_TRY(const auto agent, agent::Agent::make(options, config));
        std::fputs(agent->describe().c_str(), stdout);
        return {};
    }
    if (!options.foreground && ::daemon(0, config.logging.file.empty() ? 1 : 0) != 0)
        return fail(ErrorCode::internal, "cannot go to the background; use -D");
    SPUR_TRY(const auto agent, agent::Agent::make(options, config));
    agent->run();
    return {};
}

int complain(const Error& error, int status) {
    std::fprintf(stderr, "spurd: error: %s\n", error.text.c_str());
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    const auto options = agent::Options::parse(argc, argv);
    if (!options) return complain(options.error(), EX_USAGE);
    if (options->help) return std::fputs(agent::help_text().c_str(), stdout), EXIT_SUCCESS;
    if (options->version) return std::puts("spurd 1.0.0"), EXIT_SUCCESS;
    if (const auto ran = run(*options); !ran) return complain(ran.error(), EX_SOFTWARE);
    return EXIT_SUCCESS;
}
