// spur sim synth: a trace for a cluster of this size.
#include <algorithm>

#include "cli/common/output.hpp"
#include "cli/sim/commands.hpp"
#include "core/model/gres_kind.hpp"

namespace spur::cli::sim {

Result<int> synth(const SynthOptions& options, const std::string& config_path, const std::string& output) {
    auto wanted = options;
    if (!config_path.empty()) {
        SPUR_TRY(const auto config, load_simulated(config_path, {}));
        std::uint64_t cpus = 0, most_gpus = 0, most_cpus = 0;
        for (const auto& nodes : config.cluster.nodes) {
            std::uint64_t gpus = 0;
            for (const auto& pool : nodes.gres)
                if (pool.name == gpu_gres) gpus += pool.count;
            cpus += std::uint64_t{nodes.cpus} * nodes.names.size();
            most_cpus = std::max<std::uint64_t>(most_cpus, nodes.cpus);
            most_gpus = std::max(most_gpus, gpus);
        }
        if (cpus == 0) return fail(ErrorCode::invalid, "{}: it has no [[nodes]]", config.path);
        wanted.cpus = static_cast<std::uint32_t>(cpus);
        wanted.cpus_per_node = static_cast<std::uint32_t>(most_cpus);
        wanted.gpus_per_node = static_cast<std::uint32_t>(most_gpus);
    }
    if (wanted.gpu_share.value_or(0) > 0 && wanted.gpus_per_node == 0)
        return fail(ErrorCode::invalid, "--gpu-share: the cluster has no GPUs; --config names one that has");
    const auto text = print_trace(synthesize(wanted));
    if (output.empty())
        print_out(text);
    else
        SPUR_CHECK(write_file(output, text));
    return 0;
}

}  // namespace spur::cli::sim
