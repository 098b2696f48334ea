#include "daemons/spurctld/options.hpp"

#include <getopt.h>

namespace spur::ctld {

Result<Options> Options::parse(int argc, const char* const* argv) {
    enum : int { state_dir_option = 256, listen_option, pid_file_option, rename_option };
    static const option table[] = {{"config", required_argument, nullptr, 'f'},
                                   {"state-dir", required_argument, nullptr, state_dir_option},
                                   {"listen", required_argument, nullptr, listen_option},
                                   {"pid-file", required_argument, nullptr, pid_file_option},
                                   {"rename-cluster", no_argument, nullptr, rename_option},
                                   {"foreground", no_argument, nullptr, 'D'},
                                   {"test", no_argument, nullptr, 't'},
                                   {"verbose", no_argument, nullptr, 'v'},
                                   {"version", no_argument, nullptr, 'V'},
                                   {"help", no_argument, nullptr, 'h'},
                                   {nullptr, 0, nullptr, 0}};
    Options options;
    optind = 1;
    opterr = 0;
    for (int found = 0; (found = getopt_long(argc, const_cast<char* const*>(argv), "f:DtvVh", table, nullptr)) != -1;)
        switch (found) {
            case 'f':
                options.config_path = optarg;
                break;
            case state_dir_option:
                options.state_dir = optarg;
                break;
            case listen_option:
                options.listen = optarg;
                break;
            case pid_file_option:
                options.pid_file = optarg;
                break;
            case rename_option:
                options.rename_cluster = true;
                break;
            case 'D':
                options.foreground = true;
                break;
            case 't':
                options.test_only = true;
                break;
            case 'v':
                ++options.verbosity;
                break;
            case 'V':
                options.version = true;
                break;
            case 'h':
                options.help = true;
                break;
            default:
                return fail(ErrorCode::invalid, "unknown option or missing value: {}; see spurctld --help",
                            argv[optind - 1]);
        }
    if (optind < argc) return fail(ErrorCode::invalid, "unexpected argument {}; see spurctld --help", argv[optind]);
    return options;
}

std::string help_text() {
    return "usage: spurctld [options]\n"
           "The controller: owns the cluster's state and asks plugins what to do with it.\n\n"
           "  -f, --config FILE       configuration; else $SPUR_CONF, /etc/spur/spur.conf\n"
           "      --state-dir DIR     where the state is kept, instead of [controller] state_dir\n"
           "      --listen HOST:PORT  where to serve, instead of [controller] listen_addr; port 0: any free one\n"
           "      --pid-file FILE     write the process id there once it serves\n"
           "      --rename-cluster    take the state of a cluster of another name for this one's; else that is "
           "refused\n"
           "  -D, --foreground        stay in the foreground, log to stderr\n"
           "  -t, --test              check the configuration and every plugin it names, and exit: with 0 if it can "
           "be\n"
           "                          used (warnings are on stderr), else with all that is wrong with it\n"
           "  -v, --verbose           say more; twice: much more\n"
           "  -V, --version\n"
           "  -h, --help\n\n"
           "Signals: TERM and INT stop it gracefully, HUP reads the configuration again (as scontrol reconfigure "
           "does).\n";
}

}  // namespace spur::ctld
