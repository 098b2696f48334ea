// spurctld's command line.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace spur::ctld {

struct Options {
    std::string config_path;     // -f; empty: $SPUR_CONF, /etc/spur/spur.conf
    std::string state_dir;       // --state-dir: instead of the configuration's
    std::string listen;          // --listen host:port: instead of the configuration's
    std::string pid_file;        // --pid-file
    bool foreground{false};      // -D
    bool test_only{false};       // -t
    bool rename_cluster{false};  // --rename-cluster
    bool help{false}, version{false};
    unsigned verbosity{0};

    static Result<Options> parse(int argc, const char* const* argv);
};

std::string help_text();

}  // namespace spur::ctld
