// The options every daemon understands, and room for its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::daemon {

// An option of one daemon besides the common ones: {"node", 'N', "NAME", "the name of this node"}.
struct OwnOption {
    std::string_view name;
    char letter{};              // 0: none
    std::string_view argument;  // what it takes; empty: a switch
    std::string_view help;
};

struct DaemonOptions {
    std::string config_path;                              // -f; empty: the default
    std::string state_dir;                                // --state-dir
    std::string listen;                                   // --listen
    std::string log_file;                                 // -L
    std::string pid_file;                                 // --pid-file
    bool foreground{false};                               // -D
    bool test_only{false};                                // -t
    bool wants_help{false};                               // -h
    bool wants_version{false};                            // -V
    unsigned verbosity{};                                 // -v, several times
    std::map<std::string, std::string, std::less<>> own;  // by name; "" for a switch that was given

    bool has(std::string_view name) const { return own.contains(name); }
    std::string_view get(std::string_view name, std::string_view fallback = {}) const;
    log::Level level(std::string_view configured) const;  // the configured one and what -v adds

    // A mistake is one sentence that ends with "try <program> -h".
    static Result<DaemonOptions> parse(std::string_view program, int argc, const char* const* argv,
                                       const std::vector<OwnOption>& own = {});
};

std::string usage(std::string_view program, std::string_view summary, const std::vector<OwnOption>& own,
                  std::string_view notes);

}  // namespace spur::daemon
