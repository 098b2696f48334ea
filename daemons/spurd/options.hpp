// spurd's command line.
#pragma once

#include <string>

#include "core/base/result.hpp"

namespace spur::agent {

struct Options {
    std::string config_path;  // -f; empty: the usual places
    std::string node_name;    // -N; empty: this host's short name
    std::string state_dir;    // --state-dir
    std::string listen;       // --listen host:port
    std::string advertise;    // --advertise host:port: what others are told, if not where it listens
    std::string controller;   // --controller host:port[,host:port]
    std::string stepd;        // --stepd; empty: beside spurd
    std::string boot_id;      // --boot-id: pretend to be this boot of the machine (tests)
    bool foreground{false};   // -D
    bool test_only{false};    // -t: check the configuration and say what was found
    bool is_virtual{
        false};  // --virtual: one of several nodes on this machine, with the hardware its configuration claims
    bool help{false}, version{false};
    unsigned verbosity{0};  // -v, -vv

    // Errors say which option and how to find out more.
    static Result<Options> parse(int argc, const char* const* argv);
};

std::string help_text();

}  // namespace spur::agent
