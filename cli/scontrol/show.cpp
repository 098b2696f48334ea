// scontrol show: which entity, which of them, and where their data comes from.
#include "cli/scontrol/show.hpp"

#include "cli/common/job_text.hpp"
#include "cli/common/output.hpp"
#include "cli/scontrol/control.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace spur::cli::scontrol {
namespace {

int show_jobs(Control& control, const std::string& id) {
    v1::ListJobsRequest request;
    request.add_states("all");
    request.set_all_partitions(control.all || !id.empty());
    TaskSet tasks;  // of one array, where they were named
    if (!id.empty()) {
        const auto ref = JobRef::parse(id);
        if (!ref) return control.complain("scontrol_print_job error: {}", refusal::invalid_job_id.sentence);
        tasks = ref->tasks;
        request.add_ids(ref->str());
    }
    const auto reply = control.call<v1::ListJobsReply>("ListJobs", request, "slurm_load_jobs");
    if (!reply) return 1;
    if (reply->jobs().empty()) {
        if (id.empty()) return print_out("No jobs in the system\n"), 0;
        return control.complain("slurm_load_jobs error: {}", refusal::invalid_job_id.sentence);
    }
    if (reply->now() != 0) control.style.now = reply->now();
    std::string text;
    for (const auto& job : reply->jobs()) {
        const auto waiting = tasks.empty() || job.has_array_task_id()
                                 ? ArraySpec{}
                                 : ArraySpec::parse(job.array_tasks(), highest_max_array_size).value_or(ArraySpec{});
        const auto wanted = waiting.tasks & tasks;
        if (wanted.empty()) text += job_text(job, control.style);
        for (auto task = wanted.first(); task; task = wanted.next(*task + 1))
            text += job_text(waiting_task(job, *task), control.style);
    }
    print_out(text);
    return 0;
}

int show_steps(Control& control, const std::string& id) {
    v1::ListJobsRequest request;
    request.set_with_steps(true);
    request.set_all_partitions(true);
    std::optional<std::uint32_t> wanted;
    if (!id.empty()) {
        auto ref = JobRef::parse(id);
        if (!ref) return control.complain("slurm_get_job_steps error: {}", refusal::invalid_job_id.sentence);
        wanted = ref->step;
        ref->step.reset();
        request.add_ids(ref->str());
    }
    const auto reply = control.call<v1::ListJobsReply>("ListJobs", request, "slurm_get_job_steps");
    if (!reply) return 1;
    if (reply->jobs().empty() && !id.empty())
        return control.complain("slurm_get_job_steps error: {}", refusal::invalid_job_id.sentence);
    std::string text;
    for (const auto& job : reply->jobs())
        for (const auto& step : job.steps())
            if (step.end_time() == 0 && (!wanted || *wanted == step.step_id()))
                text += step_text(job, step, control.style);
    if (text.empty()) {
        if (wanted) return control.not_found("Job step {} not found", id);
        text = "No job steps in the system\n";
    }
    print_out(text);
    return 0;
}

int show_nodes(Control& control, const std::string& names) {
    v1::ListNodesRequest request;
    request.set_all_partitions(true);
    const auto reply = control.call<v1::ListNodesReply>("ListNodes", request, "slurm_load_node");
    if (!reply) return 1;
    if (names.empty()) {
        std::string text;
        for (const auto& node : reply->nodes()) text += node_text(node, control.style);
        print_out(text.empty() ? "No nodes in the system\n" : text);
        return 0;
    }
    const auto wanted = expand_hosts(names);
    if (!wanted) return control.not_found("Node {} not found", names);
    for (const auto& name : *wanted) {
        const auto node = std::find_if(reply->nodes().begin(), reply->nodes().end(),
                                       [&](const auto& entry) { return entry.name() == name; });
        if (node == reply->nodes().end())
            control.not_found("Node {} not found", name);
        else
            print_out(node_text(*node, control.style));
    }
    return control.exit_code;
}

int show_partitions(Control& control, const std::string& name) {
    v1::ListPartitionsRequest request;
    request.set_all_partitions(control.all || !name.empty());
    const auto reply = control.call<v1::ListPartitionsReply>("ListPartitions", request, "slurm_load_partitions");
    if (!reply) return 1;
    std::string text;
    for (const auto& partition : reply->partitions())
        if (name.empty() || partition.name() == name) text += partition_text(partition, control.style);
    if (text.empty()) {
        if (!name.empty()) return control.not_found("Partition {} not found", name);
        text = "No partitions in the system\n";
    }
    print_out(text);
    return 0;
}

int show_reservations(Control& control, const std::string& name) {
    const auto reply = control.call<v1::ListReservationsReply>("ListReservations", v1::ListReservationsRequest{},
                                                               "slurm_load_reservations");
    if (!reply) return 1;
    std::string text;
    for (const auto& reservation : reply->reservations())
        if (name.empty() || reservation.name() == name) text += reservation_text(reservation, control.style);
    if (text.empty()) {
        if (!name.empty()) return control.not_found("Reservation {} not found", name);
        text = "No reservations in the system\n";
    }
    print_out(text);
    return 0;
}

int show_licenses(Control& control, const std::string& name) {
    const auto reply =
        control.call<v1::ListLicensesReply>("ListLicenses", v1::ListLicensesRequest{}, "slurm_load_licenses");
    if (!reply) return 1;
    std::string text;
    for (const auto& license : reply->licenses())
        if (name.empty() || license.name() == name) text += license_text(license, control.style);
    if (text.empty() && name.empty()) text = "No licenses configured in Slurm.\n";
    print_out(text);
    return 0;
}

int show_config(Control& control, const std::string& key) {
    const auto reply = control.call<v1::GetConfigReply>("GetConfig", v1::GetConfigRequest{}, "slurm_load_ctl_conf");
    if (!reply) return 1;
    static_cast<void>(key);  // Slurm shows everything, whatever is named
    print_out(config_text(*reply, control.style));
    return ping(control, {});
}

// A hostlist, or the names in a file whose absolute path is given.
Result<std::string> hosts_argument(std::string text) {
    if (text.empty()) {
        const char* ours = std::getenv("SLURM_JOB_NODELIST");
        if (ours == nullptr) ours = std::getenv("SLURM_NODELIST");
        if (ours == nullptr || *ours == '\0') return fail(ErrorCode::invalid, "host list is empty");
        return std::string(ours);
    }
    if (text.front() != '/') return text;
    std::FILE* file = std::fopen(text.c_str(), "re");
    if (file == nullptr) return fail(ErrorCode::not_found, "Can't open file `{}': {}", text, std::strerror(errno));
    std::string names;
    char buffer[4096];
    for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, file)) > 0;) names.append(buffer, count);
    std::fclose(file);
    std::replace_if(
        names.begin(), names.end(), [](char c) { return is_blank(c); }, ',');
    return names;
}

template <class Print>
int show_hosts(Control& control, const std::string& argument, Print print) {
    const auto text = hosts_argument(argument);
    if (!text) {
        control.console().error("{}", text.error().text);
        return 0;
    }
    const auto list = HostList::parse(*text);
    if (!list) return control.complain("Invalid hostlist: {}", list.error().text);
    print_out(print(*list));
    return 0;
}
int show_hostnames(Control& control, const std::string& argument) {
    return show_hosts(control, argument, [](const HostList& list) {
        std::string text;
        for (const auto& name : list.names()) text += name + "\n";
        return text;
    });
}
int show_hostlist(Control& control, const std::string& argument) {
    return show_hosts(control, argument, [](const HostList& list) { return list.str() + "\n"; });
}
int show_sorted(Control& control, const std::string& argument) {
    return show_hosts(control, argument, [](const HostList& list) { return list.sorted().str() + "\n"; });
}

std::string this_host() {
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    return name;
}

int show_aliases(Control& control, const std::string& argument) {
    const auto host = argument.empty() ? this_host() : argument;
    const auto reply = control.call<v1::ListNodesReply>("ListNodes", v1::ListNodesRequest{}, "slurm_load_node");
    if (!reply) return 1;
    std::string text;
    for (const auto& node : reply->nodes())
        if (node.hostname() == host) text += (text.empty() ? "" : " ") + node.name();
    if (text.empty()) return 1;
    print_out(text + "\n");
    return 0;
}

// Which daemons belong on this machine, going by what the configuration says of it.
int show_daemons(Control& control, const std::string&) {
    const auto nodes = control.call<v1::ListNodesReply>("ListNodes", v1::ListNodesRequest{}, "slurm_load_node");
    const auto answer = control.call<v1::PingReply>("Ping", v1::PingRequest{}, "slurm_load_ctl_conf");
    if (!nodes || !answer) return 1;
    const auto host = this_host();
    std::string text = answer->hostname() == host ? "slurmctld " : "";
    for (const auto& node : nodes->nodes())
        if (node.hostname() == host && !text.ends_with("slurmd")) text += "slurmd";
    print_out(text + "\n");
    return 0;
}

int show_nothing(Control&, const std::string&) { return 0; }  // burst buffers, federations: there are none
// All switches, one by its name, or those above a node.
int show_topology(Control& control, const std::string& name) {
    const auto reply =
        control.call<v1::ListSwitchesReply>("ListSwitches", v1::ListSwitchesRequest{}, "slurm_load_topo");
    if (!reply) return 1;
    std::string text;
    const auto add = [&](const v1::Switch& one) {
        text += fmt::format("SwitchName={} Level={} LinkSpeed=1 Nodes={}{}\n", one.name(), one.level(), one.nodes(),
                            one.switches().empty() ? "" : " Switches=" + one.switches());
    };
    for (const auto& one : reply->switches())
        if (name.empty() || one.name() == name) add(one);
    if (text.empty() && !name.empty())
        for (const auto& one : reply->switches())
            if (const auto hosts = HostSet::parse(one.nodes()); hosts && hosts->contains(name)) add(one);
    if (reply->switches().empty())
        control.console().error("No topology information available");
    else if (text.empty())
        control.console().error("Topology information contains no switch or node named {}", name);
    print_out(text);
    return 0;
}
int not_yet(Control& control, const std::string&) {
    return control.complain("scontrol: error: this entity is not supported yet");
}

struct EntityRow {
    std::string_view name;
    std::size_t least;  // letters that must be typed
    int (*show)(Control&, const std::string& id);
};
constexpr EntityRow entities[] = {
    {"aliases", 1, show_aliases},
    {"assoc_mgr", 2, not_yet},
    {"bbstat", 2, not_yet},
    {"burstbuffer", 2, show_nothing},
    {"config", 1, show_config},
    {"daemons", 1, show_daemons},
    {"dwstat", 2, not_yet},
    {"federation", 3, show_nothing},
    {"frontends", 3, show_nothing},
    {"hostlist", 5, show_hostlist},
    {"hostlistsorted", 9, show_sorted},
    {"hostnames", 5, show_hostnames},
    {"jobs", 1, show_jobs},
    {"jobid", 4, show_jobs},
    {"licenses", 2, show_licenses},
    {"nodes", 1, show_nodes},
    {"partitions", 1, show_partitions},
    {"reservations", 1, show_reservations},
    {"slurmd", 2, not_yet},
    {"steps", 2, show_steps},
    {"topology", 1, show_topology},
};

const EntityRow* find_entity(std::string_view typed) {
    const auto small = lower(typed);
    for (const auto& row : entities)
        if (row.name == small) return &row;
    for (const auto& row : entities)
        if (small.size() >= row.least && row.name.starts_with(small)) return &row;
    return nullptr;
}

}  // namespace

int show(Control& control, Words words) {
    if (words.empty()) return control.complain("too few arguments for keyword:show");
    if (words.size() > 2) return control.complain("too many arguments for keyword:show");
    auto name = words[0];
    std::string id = words.size() > 1 ? words[1] : "";
    if (const auto equals = name.find('='); equals != std::string::npos) {
        id = name.substr(equals + 1);
        name.resize(equals);
    }
    const auto* entity = find_entity(name);
    if (entity == nullptr) return control.complain("invalid entity:{} for keyword:show ", name);
    return entity->show(control, id);
}

}  // namespace spur::cli::scontrol
