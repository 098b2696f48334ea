// ClusterBuilder: a cluster in a line or two, for tests. Jobs are known by their names.
//
//     auto cluster = ClusterBuilder{}.nodes("n[1-4]", cpus(8)).running("a", on("n[1-2]"), until(100))
//                                    .pending("big", node_count(4)).pending("small", limit_min(1));
//
// Times in options are seconds after `start`, the builder's beginning of time. A step that should work and does not
// throws, with the sentence of the refusal.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/cluster.hpp"

namespace spur::testing {

struct NodeOption {
    std::function<void(NodeConfig&)> change;
};
NodeOption cpus(std::uint32_t count);  // as many cores of one thread, in one socket
NodeOption topology(std::uint16_t sockets, std::uint16_t cores, std::uint16_t threads);
NodeOption memory_mib(std::uint64_t mib);
NodeOption gpus(std::uint32_t count, std::string_view type = "");
NodeOption feature(std::string_view name);

// What a job asks for, and for running ones where it is and for how long.
struct JobPlan {
    JobSpec spec;
    std::string nodes;
    std::optional<std::uint64_t> until_s;
    std::optional<std::uint32_t> cpus_each;
};
struct JobOption {
    std::function<void(JobPlan&)> change;
};
JobOption on(std::string_view nodes);     // where it runs
JobOption until(std::uint64_t seconds);   // its time limit ends then
JobOption cpus_each(std::uint32_t cpus);  // on each of its nodes; else all of them
JobOption node_count(std::uint32_t least, std::optional<std::uint32_t> most = std::nullopt);
JobOption tasks(std::uint32_t count);
JobOption limit_min(std::uint32_t minutes);
JobOption user(std::string_view name, Uid uid);
JobOption array(std::string_view tasks);  // "0-9%2"
JobOption dependency(std::string_view text);
JobOption partition(std::string_view name);
JobOption spec(std::function<void(JobSpec&)> change);

class ClusterBuilder {
public:
    static constexpr UnixSeconds start = 1'000'000;

    ClusterBuilder();

    template <class... Options>
    ClusterBuilder& nodes(std::string_view names, const Options&... options) {
        return add_nodes(names, {options...});
    }
    ClusterBuilder& partition(std::string_view name, std::string_view nodes,
                              std::function<void(Partition&)> change = {});
    ClusterBuilder& license(std::string_view name, std::uint32_t count);
    ClusterBuilder& policies(const std::function<void(Policies&)>& change);

    template <class... Options>
    ClusterBuilder& pending(std::string_view name, const Options&... options) {
        submit(name, {options...});
        return *this;
    }
    template <class... Options>
    ClusterBuilder& running(std::string_view name, const Options&... options) {
        run(name, {options...});
        return *this;
    }

    // The present moves on; seconds after `start`.
    ClusterBuilder& at(std::uint64_t seconds);
    UnixSeconds now() const { return now_; }

    Cluster& cluster();  // configured, all nodes registered
    operator Cluster&() { return cluster(); }

    JobId id(std::string_view name) const { return ids_.at(std::string{name}); }
    const Job& job(std::string_view name) { return *cluster().find_job(id(name)); }
    NodeId node(std::string_view name) { return cluster().find_node(name)->id; }

    // ---- commands, at the builder's present
    Result<Events> apply(Command command);
    Events must(Command command);  // throws if refused
    JobId submit(std::string_view name, const std::vector<JobOption>& options = {});
    void run(std::string_view name, const std::vector<JobOption>& options = {});
    Result<Events> start_on(JobId job, std::string_view nodes, std::optional<std::uint32_t> cpus = std::nullopt,
                            std::optional<std::uint32_t> task = std::nullopt);
    void finish(JobId job, std::uint32_t exit_status = 0);  // and every node done
    void clean_up(JobId job);                               // the rest of its nodes report done

    // A placement as a scheduler would make it: the first free cores of each node.
    Placement place(JobId job, std::string_view nodes, std::optional<std::uint32_t> cpus = std::nullopt);
    NodeRegistered registration(std::string_view node, std::string_view boot_id = "boot-1");

private:
    ClusterBuilder& add_nodes(std::string_view names, const std::vector<NodeOption>& options);
    void configure();

    ClusterConfig config_;
    bool stale_{true};
    Cluster cluster_;
    UnixSeconds now_{start};
    std::map<std::string, JobId, std::less<>> ids_;
};

std::string snapshot_of(const Cluster& cluster);

}  // namespace spur::testing
