// The table of commands. A new one is a line here and a folder beside this file.
#include "cli/verbs.hpp"

#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/plugin/plugin.hpp"
#include "cli/sacct/sacct.hpp"
#include "cli/sacctmgr/sacctmgr.hpp"
#include "cli/scancel/scancel.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "cli/sim/sim.hpp"
#include "cli/sinfo/sinfo.hpp"
#include "cli/sprio/sprio.hpp"
#include "cli/squeue/squeue.hpp"
#include "cli/sreport/sreport.hpp"
#include "cli/srun/srun.hpp"
#include "cli/sshare/sshare.hpp"
#include "cli/sstat/sstat.hpp"
#include "cli/submit/salloc.hpp"
#include "cli/submit/sbatch.hpp"
#include "cli/up/up.hpp"
#include "cli/why/why.hpp"
#include "daemons/common/records/node.hpp"

namespace spur::cli {
namespace {

// `spur show job 7` is `scontrol show job 7`.
int run_show(Invocation& self) {
    self.words.insert(self.words.begin() + 1, "show");
    return run_scontrol(self);
}

// `spur nodes` is `sinfo` and, where there is something to say, what its nodes do not hold jobs to.
int run_nodes(Invocation& self) {
    const bool is_plain = self.words.size() == 1;
    const auto controller = self.controller;
    const int code = run_sinfo(self);
    if (code != 0 || !is_plain) return code;
    auto session = Session::open(controller);
    if (!session) return code;
    if (const auto nodes = session->call<v1::ListNodesReply>("ListNodes", v1::ListNodesRequest{}))
        print_out(records::unenforced_note(nodes->nodes()));
    return code;
}

constexpr Verb table[] = {
    {"submit", "sbatch", run_sbatch, "submit a batch script"},
    {"run", "srun", run_srun, "run a command on allocated nodes, and wait for it"},
    {"alloc", "salloc", run_salloc, "allocate nodes, and run a command or a shell with them"},
    {"queue", "squeue", run_squeue, "list jobs and steps"},
    {"cancel", "scancel", run_scancel, "cancel or signal jobs and steps"},
    {"why", {}, run_why, "say why a job is not running, and what would start now"},
    {"nodes", "sinfo", run_nodes, "list nodes and partitions"},
    {"show", "scontrol", run_show, "show a job, node, partition, reservation, the configuration ..."},
    {"accounts", "sacctmgr", run_sacctmgr, "show and change accounts, users, limits and QOS"},
    {"priorities", "sprio", run_sprio, "show what waiting jobs are worth, and why"},
    {"history", "sacct", run_history, "list jobs that were, with what they used"},
    {"usage", "sstat", run_sstat, "show what running steps use"},
    {"report", {}, run_report, "show who used how much, also as a page"},
    {"shares", "sshare", run_sshare, "show shares and usage of the account tree"},
    {"up", {}, run_up, "start a whole cluster on this machine"},
    {"down", {}, run_down, "stop it"},
    {"plugin", {}, run_plugin, "find, inspect, check, start and watch plugins"},
    {"sim", {}, run_sim, "try a configuration and its plugins on a workload, in virtual time"},
    {"sbatch", "sbatch", run_sbatch, {}},
    {"srun", "srun", run_srun, {}},
    {"salloc", "salloc", run_salloc, {}},
    {"squeue", "squeue", run_squeue, {}},
    {"scancel", "scancel", run_scancel, {}},
    {"sinfo", "sinfo", run_sinfo, {}},
    {"sprio", "sprio", run_sprio, {}},
    {"sacct", "sacct", run_sacct, {}},
    {"sacctmgr", "sacctmgr", run_sacctmgr, {}},
    {"sshare", "sshare", run_sshare, {}},
    {"sstat", "sstat", run_sstat, {}},
    {"sreport", "sreport", run_sreport, {}},
    {"scontrol", "scontrol", run_scontrol, "show and change anything, as administrators do"},
};

}  // namespace

std::span<const Verb> verbs() { return table; }

const Verb* find_verb(std::string_view name) {
    for (const auto& verb : table)
        if (verb.name == name) return &verb;
    return nullptr;
}

}  // namespace spur::cli
