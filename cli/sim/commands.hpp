// The commands under `spur sim`; sim.cpp is the table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/common/invocation.hpp"
#include "cli/sim/simulation.hpp"
#include "cli/sim/synth.hpp"
#include "core/base/result.hpp"
#include "core/model/config.hpp"

namespace spur::cli::sim {

struct RunOptions {
    std::string config;                                         // empty: the cluster's own spur.conf
    std::vector<std::pair<std::string, std::string>> plugins;   // axis -> type, over what the file says
    std::vector<std::pair<std::string, std::string>> settings;  // "sched/backfill.window" -> value
    std::vector<std::string> dirs;                              // plugins are looked for here first
    SimulationOptions simulation;
    bool json{false};
    std::string page;      // --html
    std::string schedule;  // --schedule
};

Result<int> run(const RunOptions& options, const std::vector<std::string>& words);
Result<int> compare(const RunOptions& options, const std::vector<std::string>& words);
Result<int> synth(const SynthOptions& options, const std::string& config, const std::string& output);

struct RecordOptions {
    std::string output;
    std::int64_t for_s{};  // 0: until it is interrupted
};
Result<int> record(const RecordOptions& options, const Invocation& self);

// The configuration to simulate: `path`, with what the command line says over it.
Result<Config> load_simulated(const std::string& path, const RunOptions& options);
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace spur::cli::sim
