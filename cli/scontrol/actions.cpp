// scontrol's verbs: what changes jobs, nodes, partitions, reservations and the controller itself.
#include "cli/common/job_text.hpp"
#include "cli/common/output.hpp"
#include "cli/scontrol/control.hpp"
#include "cli/scontrol/update.hpp"
#include "cli/submit/allocation.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/environment/environment.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace spur::cli::scontrol {
namespace {

// Every job with that name, for "jobname=".
std::optional<std::vector<std::string>> ids_by_name(Control& control, const std::string& name) {
    const auto reply = control.call<v1::ListJobsReply>("ListJobs", v1::ListJobsRequest{}, "slurm_load_jobs");
    if (!reply) return std::nullopt;
    std::vector<std::string> ids;
    for (const auto& job : reply->jobs())
        if (job.spec().name() == name) ids.push_back(job_id_text(job, 0));
    return ids;
}

// A job that made itself smaller gets scripts that bring its environment up to date, as Slurm's does.
void write_resize_scripts(Control& control, const v1::UpdateJobsRequest& request) {
    const char* own = std::getenv("SLURM_JOB_ID");
    const bool resizes = request.changes().contains("numnodes") || request.changes().contains("nodelist");
    if (own == nullptr || !resizes || request.ids_size() != 1 || request.ids(0) != own) return;
    v1::ListJobsRequest list;
    list.add_ids(own);
    const auto reply = control.call<v1::ListJobsReply>("ListJobs", list, "slurm_load_jobs");
    if (!reply || reply->jobs().empty()) return;
    const auto& job = reply->jobs(0);
    const auto cpus = environment::cpus_per_node(environment::Allocation{job});
    const std::pair<const char*, std::string> values[] = {
        {"SLURM_NODELIST", fmt::format("\"{}\"", job.node_list())},
        {"SLURM_JOB_NODELIST", fmt::format("\"{}\"", job.node_list())},
        {"SLURM_NNODES", fmt::format("{}", job.node_count())},
        {"SLURM_JOB_NUM_NODES", fmt::format("{}", job.node_count())},
        {"SLURM_JOB_CPUS_PER_NODE", fmt::format("\"{}\"", environment::compress_counts(cpus))},
    };
    std::string sh, csh;
    for (const auto& [name, value] : values) {
        sh += fmt::format("export {}={}\n", name, value);
        csh += fmt::format("setenv {} {}\n", name, value);
    }
    for (const auto* name : {"SLURM_NPROCS", "SLURM_NTASKS", "SLURM_TASKS_PER_NODE"}) {
        sh += fmt::format("unset {}\n", name);
        csh += fmt::format("unsetenv {}\n", name);
    }
    const auto write = [&](const std::string& file, const std::string& text) {
        const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
        const bool whole = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
        if (fd >= 0) ::close(fd);
        if (!whole) control.complain("could not write {}: {}", file, std::strerror(errno));
        return whole;
    };
    const auto stem = fmt::format("slurm_job_{}_resize", own);
    if (!write(stem + ".sh", sh) || !write(stem + ".csh", csh) || control.quiet) return;
    print_out(
        fmt::format("To reset Slurm environment variables, execute\n"
                    "  For bash or sh shells:  . ./{0}.sh\n"
                    "  For csh shells:         source ./{0}.csh\n",
                    stem));
}

int send_job_changes(Control& control, const v1::UpdateJobsRequest& request) {
    const auto reply =
        control.call<v1::JobActionReply>("UpdateJobs", request, "slurm_update", Session::write_options());
    if (!reply) return 1;
    for (const auto& outcome : reply->outcomes())
        if (!outcome.error().empty()) control.complain("{} for job {}", outcome.error(), outcome.id());
    if (control.exit_code == 0) write_resize_scripts(control, request);
    return control.exit_code;
}

int apply(Control& control, Update& change, std::string_view what) {
    if (auto* jobs = std::get_if<JobUpdate>(&change)) {
        if (!jobs->by_name.empty()) {
            const auto ids = ids_by_name(control, jobs->by_name);
            if (!ids) return 1;
            if (ids->empty()) return control.complain("No jobs with name \"{}\"", jobs->by_name);
            for (const auto& id : *ids) jobs->request.add_ids(id);
        }
        return send_job_changes(control, jobs->request);
    }
    if (const auto* nodes = std::get_if<v1::UpdateNodesRequest>(&change))
        return control.call<v1::Ack>("UpdateNodes", *nodes, what, Session::write_options()) ? 0 : 1;
    if (const auto* partition = std::get_if<v1::UpdatePartitionRequest>(&change))
        return control.call<v1::Ack>("UpdatePartition", *partition, what, Session::write_options()) ? 0 : 1;
    const auto& reservation = std::get<v1::UpdateReservationRequest>(change);
    const bool updates = !reservation.create() && !reservation.remove();
    const auto reply = control.call<v1::UpdateReservationReply>(
        "UpdateReservation", reservation, updates ? "Error updating the reservation" : what, Session::write_options());
    if (reply && !reservation.remove() && !control.quiet)
        print_out(updates ? "Reservation updated.\n" : fmt::format("Reservation created: {}\n", reply->name()));
    return reply ? 0 : 1;
}

int apply_parsed(Control& control, Result<Update> parsed, std::string_view what) {
    if (!parsed) return control.complain("{}", parsed.error().text);
    return apply(control, *parsed, what);
}

}  // namespace

int update(Control& control, Words words) {
    if (words.empty()) return control.complain("too few arguments for update keyword");
    return apply_parsed(control, parse_update(words), "slurm_update");
}

int create(Control& control, Words words) {
    if (words.empty()) return control.complain("too few arguments for keyword:create");
    const bool partition = lower(words.front()).starts_with("part");
    return apply_parsed(control, parse_create(words),
                        partition ? "Error creating the partition" : "Error creating the reservation");
}

int remove(Control& control, Words words) {
    if (words.empty()) return control.complain("too few arguments for keyword:delete");
    const bool partition = lower(words.front()).starts_with("part");
    return apply_parsed(control, parse_delete(words),
                        fmt::format("delete_{} {}", partition ? "partition" : "reservation", words.front()));
}

int act_on_jobs(Control& control, v1::UpdateJobsRequest::Action action, Words words) {
    v1::UpdateJobsRequest request;
    request.set_action(action);
    std::size_t first = 0;
    const bool requeues = action == v1::UpdateJobsRequest::REQUEUE || action == v1::UpdateJobsRequest::REQUEUE_HOLD;
    if (requeues)
        for (; first < words.size(); ++first) {
            if (equal_nocase(words[first], "incomplete")) continue;
            if (!lower(words[first]).starts_with("state=")) break;
            if (!equal_nocase(words[first], "state=specialexit"))
                return control.complain("Invalid requeue state: {}", words[first]);
            (*request.mutable_changes())["state"] = "SpecialExit";
        }
    if (first == words.size()) return control.complain("too few arguments for job list");
    for (const auto& word : words.subspan(first)) {
        if (lower(word).starts_with("jobname=") || lower(word).starts_with("name=")) {
            const auto ids = ids_by_name(control, word.substr(word.find('=') + 1));
            if (!ids) return 1;
            for (const auto& id : *ids) request.add_ids(id);
            continue;
        }
        const auto refs = parse_job_refs(word);
        if (!refs) {
            control.complain("{} for job {}", refusal::invalid_job_id.sentence, word);
            continue;
        }
        for (const auto& ref : *refs) request.add_ids(ref.str());
    }
    return request.ids().empty() ? control.exit_code : send_job_changes(control, request);
}

int ping(Control& control, Words) {
    auto* session = control.open("slurm_ping");
    if (session == nullptr) return 1;
    std::string text;
    const auto& endpoints = session->cluster().controllers;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        wire::Channel channel = session->channel_to(endpoints[i], wire::controller_name);
        const auto reply =
            wire::call<v1::PingReply>(channel, "/spur.v1.Controller/Ping", v1::PingRequest{},
                                      {.timeout = std::chrono::seconds(3), .idempotent = true, .metadata = {}});
        const auto role = i == 0 ? std::string("primary") : i == 1 ? "backup" : fmt::format("backup{}", i);
        const auto host = reply && !reply->hostname().empty() ? reply->hostname() : endpoints[i].host;
        text += fmt::format("Slurmctld({}) at {} is {}\n", role, host, reply ? "UP" : "DOWN");
        if (!reply) control.exit_code = 1;
        if (!reply && reply.error().status == wire::Status::unauthenticated)
            control.complain("{} answers, but it and this command have different auth keys: {}", endpoints[i].text(),
                             reply.error().text);
    }
    print_out(text);
    return control.exit_code;
}

int reconfigure(Control& control, Words) {
    const auto reply = control.call<v1::ReconfigureReply>("Reconfigure", v1::ReconfigureRequest{}, "slurm_reconfigure",
                                                          Session::write_options());
    if (!reply) return 1;
    if (!control.quiet)
        for (const auto& warning : reply->warnings()) control.console().info("warning: {}", warning);
    if (control.console().verbosity() > 0)
        for (const auto& change : reply->changes()) control.console().info("{}", change);
    return 0;
}

int shutdown(Control& control, Words words) {
    if (!words.empty() && !equal_nocase(words[0], "slurmctld") && !equal_nocase(words[0], "controller"))
        return control.complain("invalid shutdown argument:{}", words[0]);
    return control.call<v1::Ack>("Shutdown", v1::ShutdownRequest{}, "slurm_shutdown", Session::write_options()) ? 0 : 1;
}

int takeover(Control& control, Words words) {
    auto* session = control.open("slurm_takeover");
    if (session == nullptr) return 1;
    const auto& endpoints = session->cluster().controllers;
    const auto index = words.empty() ? std::optional<std::uint64_t>{1} : find_unsigned(words[0]);
    if (!index || *index >= endpoints.size())
        return control.complain("slurm_takeover error: there is no backup controller with that index");
    v1::MembershipRequest request;
    request.set_action(v1::MembershipRequest::TRANSFER);
    request.set_host(endpoints[*index].text());
    return control.call<v1::MembershipReply>("Membership", request, "slurm_takeover", Session::write_options()) ? 0 : 1;
}

namespace {

int write_batch_script(Control& control, Words words) {
    const auto ref = JobRef::parse(words[0]);
    if (!ref) return control.complain("job script retrieval failed: {}", refusal::invalid_job_id.sentence);
    auto* session = control.open("job script retrieval failed");
    if (session == nullptr) return 1;
    v1::ListJobsRequest list;  // a task of an array is found by its own id
    list.add_ids(ref->str());
    list.add_states("all");
    v1::GetScriptRequest request;
    request.set_job_id(ref->job);
    if (ref->has_tasks()) {
        const auto jobs = session->call<v1::ListJobsReply>("ListJobs", list);
        if (jobs && !jobs->jobs().empty()) request.set_job_id(jobs->jobs(0).id());
    }
    const auto reply = session->call<v1::GetScriptReply>("GetScript", request);
    if (!reply) {
        reply.error().print_details(control.console());
        return control.complain("job script retrieval failed: {}", reply.error().text);
    }
    const auto file = words.size() > 1 ? words[1] : fmt::format("slurm-{}.sh", words[0]);
    if (file == "-") return print_out(reply->script()), 0;
    std::FILE* out = std::fopen(file.c_str(), "we");
    if (out == nullptr) return control.complain("failed to open file `{}`: {}", file, std::strerror(errno));
    const bool whole = std::fwrite(reply->script().data(), 1, reply->script().size(), out) == reply->script().size();
    if (std::fclose(out) != 0 || !whole)
        return control.complain("failed to write `{}`: {}", file, std::strerror(errno));
    if (!control.quiet) print_out(fmt::format("batch script for job {} written to {}\n", words[0], file));
    return 0;
}

}  // namespace

int write_file(Control& control, Words words) {
    if (words.size() < 2) return control.complain("too few arguments for keyword:write");
    if (equal_nocase(words[0], "batch_script")) return write_batch_script(control, words.subspan(1));
    return control.complain("scontrol: error: `write {}` is not supported yet; spur.conf is the configuration",
                            words[0]);
}

int wait_job(Control& control, Words words) {
    const auto id = words.empty() ? std::nullopt : find_unsigned(words[0]);
    if (!id) return control.complain("invalid job id");
    v1::AwaitAllocationRequest request;
    request.set_job_id(static_cast<std::uint32_t>(*id));
    request.set_timeout_ms(20'000);
    for (;;) {
        const auto reply = control.call<v1::AwaitAllocationReply>(
            "AwaitAllocation", request, "slurm_job_node_ready",
            {.timeout = std::chrono::seconds(60), .idempotent = true, .metadata = {}});
        if (!reply) return 1;
        const auto state = job_state(reply->job());
        if (state.is_finished()) {
            control.console().info("Job {} is no longer running", *id);
            return control.exit_code = 1;
        }
        if (reply->ready()) {
            control.console().info("Nodes are ready for job {}", *id);
            return 0;
        }
    }
}

int completing(Control& control, Words) {
    v1::ListJobsRequest request;
    request.add_states("COMPLETING");
    const auto reply = control.call<v1::ListJobsReply>("ListJobs", request, "slurm_load_jobs");
    if (!reply) return 1;
    std::string text;
    for (const auto& job : reply->jobs()) {
        if ((job_state(job).flags & job_flag::completing) == 0) continue;
        text += fmt::format("JobId={} EndTime={} CompletingTime={} Nodes(COMPLETING)={}\n", job_id_text(job, 0),
                            time_text(job.end_time(), control.style.now, "Unknown"),
                            print_long_duration(std::max<std::int64_t>(0, control.style.now - job.end_time())),
                            job.node_list());
    }
    print_out(text);
    return 0;
}

int reboot(Control& control, Words words) {
    v1::UpdateNodesRequest request;
    auto& changes = *request.mutable_changes();
    changes["state"] = "REBOOT";
    for (const auto& word : words) {
        if (equal_nocase(word, "asap"))
            changes["state"] = "REBOOT_ASAP";
        else if (lower(word).starts_with("reason="))
            changes["reason"] = word.substr(7);
        else if (lower(word).starts_with("nextstate="))
            changes["nextstate"] = word.substr(10);
        else
            request.set_names(word);
    }
    if (request.names().empty()) return control.complain("too few arguments for keyword:reboot");
    return control.call<v1::Ack>("UpdateNodes", request, "scontrol_reboot_nodes", Session::write_options()) ? 0 : 1;
}

int cancel_reboot(Control& control, Words words) {
    if (words.empty()) return control.complain("too few arguments for keyword:cancel_reboot");
    v1::UpdateNodesRequest request;
    request.set_names(words[0]);
    (*request.mutable_changes())["state"] = "CANCEL_REBOOT";
    return control.call<v1::Ack>("UpdateNodes", request, "scontrol_cancel_reboot", Session::write_options()) ? 0 : 1;
}

}  // namespace spur::cli::scontrol
