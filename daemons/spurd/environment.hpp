// All variables of a script, a step and a task on one node: the user's, what daemons/common/environment says of the
// job, and what only the node knows. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spur/v1/agent.pb.h"
#include "spur/v1/controller.pb.h"

namespace spur::agent {

using Variables = std::vector<std::string>;  // KEY=VALUE

// What the node adds to what the job says.
struct NodeFacts {
    std::string node;  // its name in the cluster
    std::string cluster;
    std::string controllers;  // "ctrl1:6817,ctrl2:6817"; commands inside the job find the controller by this
    std::string config_file;  // empty: none
    std::string topology_address, topology_pattern;  // "top.leaf1.n1", "switch.switch.node"; empty: the network is flat
};

// A batch script's environment: the user's own variables with the job's over them. `gpu` comes from the gpu plugins.
Variables batch_environment(const v1::LaunchBatch& batch, const NodeFacts& facts, const Variables& gpu);

// Where a step's tasks run and how they were cut up: one node's view of a StepCredential.
struct StepView {
    const v1::StepCredential& credential;
    const v1::StepLaunch& launch;
    int node{};                    // index into the credential's layout
    std::string launcher_address;  // srun's, as its connection shows it: "10.0.0.7:41822"
    std::uint32_t umask{};
};

// What all tasks of a step have in common on one node.
Variables step_environment(const StepView& view, const NodeFacts& facts, const Variables& gpu);

// What makes one task differ from the others.
Variables task_environment(std::uint32_t task, std::uint32_t local);

// Prolog and epilog see the job, not the user's variables. `context` is "prolog_slurmd" or "epilog_slurmd".
Variables script_environment(const v1::JobLaunch& job, const NodeFacts& facts, const Variables& gpu,
                             const std::string& context);

}  // namespace spur::agent
