// The SLURM_* variables that say what was asked for, what was given and which step it is: one table for sbatch's
// scripts, salloc's commands, srun's tasks and the programs that run beside them. Pure functions over the wire's
// messages. docs/environment.md lists the variables and says where they differ from Slurm 22.05.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spur/v1/controller.pb.h"

namespace spur::environment {

// Names and values in the order in which they were set; the last of a name counts.
class Variables {
public:
    using Pair = std::pair<std::string, std::string>;
    template <class Value>
    void set(std::string_view name, const Value& value) {
        pairs_.emplace_back(name, fmt::format("{}", value));
    }
    // Only where there is something to say: Slurm leaves such variables out.
    void set_if(std::string_view name, std::string_view value) {
        if (!value.empty()) pairs_.emplace_back(name, value);
    }
    [[nodiscard]] const std::vector<Pair>& pairs() const { return pairs_; }
    [[nodiscard]] std::vector<std::string> lines() const;  // NAME=VALUE

private:
    std::vector<Pair> pairs_;
};

// Who sees them. Not every variable that one sees is there for the others.
enum Viewer : unsigned {
    script = 1,     // sbatch's
    command = 2,    // salloc's, and programs beside srun
    task = 4,       // srun's, in a job that was there
    own_task = 8,   // srun's, in the job that srun got for it
    hook = 16,      // prolog and epilog of the node
    component = 32  // a script, of one component of its heterogeneous job
};

// What was given: the job, and its nodes' shares, which do not always travel inside it.
struct Allocation {
    const v1::Job& job;
    std::vector<const v1::NodeShare*> shares;
    std::uint32_t
        id{};  // the job's; every component of a heterogeneous job goes by the first's where it is asked alone

    explicit Allocation(const v1::Job& given);
    Allocation(const v1::Job& given, const google::protobuf::RepeatedPtrField<v1::NodeShare>& given_shares);
};
void add_allocation(Variables& out, Viewer viewer, const Allocation& given);

// What was asked for; inside a job, srun takes these as its defaults.
struct Request {
    const v1::JobSpec& spec;
    std::uint32_t tasks{};               // that it came to, where they were asked for in another way than by number
    std::string_view gpus_per_node;      // --gpus-per-node: the spec holds it among other gres
    std::string_view distribution_made;  // by srun, where none was asked for
};
void add_request(Variables& out, Viewer viewer, const Request& asked);

void add_step(Variables& out, const v1::Step& step, const std::vector<std::uint32_t>& tasks_per_node);
void add_submitter(Variables& out, std::string_view directory, std::string_view host);
// What each component of a heterogeneous job has goes by names of its own: SLURM_JOB_NODELIST_HET_GROUP_1.
void add_components(Variables& out, const std::vector<Variables>& components);

std::string compress_counts(const std::vector<std::uint32_t>& counts);  // "6,2", "64(x2)": equal neighbours are counted
std::vector<std::uint32_t> cpus_per_node(const Allocation& given);
std::vector<std::uint32_t> tasks_per_node(const Allocation& given);  // that each node of the job would get

}  // namespace spur::environment
