// The daemons of a cluster that one user runs on one machine: where they keep things, how they are started and stopped.
#pragma once

#include "core/base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spur::cli {

struct LocalPlan {
    unsigned nodes{1};
    std::string dir;      // everything lives below it
    std::string bin_dir;  // spurctld, spurd and spurstepd
    std::string listen{"127.0.0.1"};
    std::uint16_t port{};  // 0: 6817 if it is free, else any
    std::string gpu_type;  // simulated GPUs of each node; empty: none
    unsigned gpus{};
};

struct Process {
    pid_t pid{};
    std::string program;  // "spurctld"
};

class LocalCluster {
public:
    // Makes the directories and the configuration; refuses if one is running there already, or if others than this user
    // could change what is there.
    static Result<LocalCluster> prepare(const LocalPlan& plan);
    // The one recorded in `dir`; fails if there is none.
    static Result<LocalCluster> find(const std::string& dir);

    Result<void> start_controller();
    Result<void> start_history();  // after the controller, whose key it shares
    Result<void> start_agents();
    // Ends the daemons (agents first); running jobs are ended with them.
    void stop();
    // A daemon that has ended by itself: its name and where its log is. Empty: all are well.
    std::string find_dead() const;

    const std::string& dir() const { return dir_; }
    std::string config_path() const { return dir_ + "/spur.conf"; }
    std::string log_path(const std::string& name) const { return dir_ + "/log/" + name + ".log"; }
    std::uint16_t port() const { return port_; }
    unsigned node_count() const { return nodes_; }

private:
    Result<void> spawn(const std::string& program, const std::string& log_name, std::vector<std::string> arguments);
    Result<void> record() const;
    std::string pid_path() const { return dir_ + "/daemons.pid"; }

    std::string dir_, bin_dir_;
    std::uint16_t port_{};
    unsigned nodes_{};
    std::vector<Process> processes_;
};

}  // namespace spur::cli
