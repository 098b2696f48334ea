#include "daemons/spurd/options.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

namespace spur::agent {

namespace {

struct Valued {
    std::string_view short_name, long_name;
    std::string Options::*field;
};
struct Flag {
    std::string_view short_name, long_name;
    bool Options::*field;
};

constexpr Valued valued[] = {{"-f", "--config", &Options::config_path},  {"-N", "--node", &Options::node_name},
                             {"-d", "--state-dir", &Options::state_dir}, {"", "--listen", &Options::listen},
                             {"", "--advertise", &Options::advertise},   {"", "--controller", &Options::controller},
                             {"", "--stepd", &Options::stepd},           {"", "--boot-id", &Options::boot_id}};
constexpr Flag flags[] = {{"-D", "--foreground", &Options::foreground},
                          {"-t", "--test", &Options::test_only},
                          {"", "--virtual", &Options::is_virtual},
                          {"-h", "--help", &Options::help},
                          {"-V", "--version", &Options::version}};

// -v, -vv, --verbose
bool take_verbosity(std::string_view word, Options& options) {
    if (word == "--verbose") return ++options.verbosity, true;
    if (word.size() < 2 || word[0] != '-' || word.find_first_not_of('v', 1) != std::string_view::npos) return false;
    options.verbosity += static_cast<unsigned>(word.size() - 1);
    return true;
}

bool take_flag(std::string_view word, Options& options) {
    for (const auto& flag : flags)
        if (word == flag.long_name || (!flag.short_name.empty() && word == flag.short_name))
            return options.*flag.field = true, true;
    return take_verbosity(word, options);
}

}  // namespace

Result<Options> Options::parse(int argc, const char* const* argv) {
    Options options;
    if (const char* boot = std::getenv("SPUR_TEST_BOOT_ID")) options.boot_id = boot;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word{argv[i]};
        if (take_flag(word, options)) continue;
        bool taken = false;
        for (const auto& option : valued) {
            const auto equals = std::string{option.long_name} + "=";
            if (word.starts_with(equals)) {
                options.*option.field = word.substr(equals.size());
                taken = true;
            } else if (word == option.long_name || (!option.short_name.empty() && word == option.short_name)) {
                if (i + 1 == argc) return fail(ErrorCode::invalid, "{} needs a value; see spurd --help", word);
                options.*option.field = argv[++i];
                taken = true;
            } else if (!option.short_name.empty() && word.size() > 2 && word.starts_with(option.short_name)) {
                options.*option.field = word.substr(2);
                taken = true;
            }
            if (taken) break;
        }
        if (!taken) return fail(ErrorCode::invalid, "unknown option {}; see spurd --help", word);
    }
    return options;
}

std::string help_text() {
    return "usage: spurd [options]\n"
           "The agent of one node: registers with the controller, runs jobs, reports what became of them.\n\n"
           "  -f, --config FILE       configuration; else $SPUR_CONF, /etc/spur/spur.conf\n"
           "  -N, --node NAME         this node's name in the cluster; else this host's short name\n"
           "  -d, --state-dir DIR     where jobs are kept track of\n"
           "      --listen HOST:PORT  where srun is served (default port 6818)\n"
           "      --advertise H:P     what others are told, if not where it listens\n"
           "      --controller LIST   host:port, several separated by commas\n"
           "      --stepd FILE        spurstepd, if not beside spurd\n"
           "      --virtual           one of several nodes on this machine, with the hardware its configuration "
           "claims\n"
           "      --boot-id ID        pretend to be this boot of the machine (for tests; also $SPUR_TEST_BOOT_ID)\n"
           "  -D, --foreground        stay in the foreground, log to stderr\n"
           "  -t, --test              check the configuration, say what was found, and exit\n"
           "  -v, --verbose           say more; twice: much more\n"
           "  -V, --version\n"
           "  -h, --help\n";
}

}  // namespace spur::agent
