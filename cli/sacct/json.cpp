// As `sacct --json` of Slurm 22.05 has it (dbv0.0.38), in its order.
#include "cli/common/json_meta.hpp"
#include "cli/common/users.hpp"
#include "cli/sacct/listing.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/gres.hpp"
#include "core/model/job.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/common/records/job_text.hpp"

#include <algorithm>
#include <cstring>

namespace spur::cli::sacct {
namespace {

template <class Fill>
void object(JsonWriter& json, std::string_view name, const Fill& fill) {
    json.key(name);
    json.begin_object();
    fill();
    json.end_object();
}
template <class Fill>
void array(JsonWriter& json, std::string_view name, const Fill& fill) {
    json.key(name);
    json.begin_array();
    fill();
    json.end_array();
}
void text_or_null(JsonWriter& json, std::string_view name, const std::string& text) {
    if (text.empty()) return json.member_null(name);
    json.member(name, std::string_view{text});
}

void exit_code(JsonWriter& json, std::string_view name, std::uint32_t status) {
    object(json, name, [&] {
        const auto signal = status & 0x7f;
        json.member("status", signal != 0 ? "SIGNALED" : status == 0 ? "SUCCESS" : "ERROR");
        if (signal == 0) return json.member("return_code", status >> 8 & 0xff);
        json.member_null("return_code");
        object(json, "signal", [&] {
            json.member("signal_id", signal);
            json.member("name", ::strsignal(static_cast<int>(signal)));
        });
    });
}

void duration(JsonWriter& json, std::string_view name, std::uint64_t us) {
    object(json, name, [&] {
        json.member("seconds", us / 1'000'000);
        json.member("microseconds", us % 1'000'000);
    });
}

// Slurm numbers its own; those a site added have numbers in its database only.
std::uint32_t tres_number(std::string_view name) {
    constexpr std::pair<std::string_view, std::uint32_t> known[] = {
        {"cpu", 1}, {"mem", 2}, {"energy", 3}, {"node", 4}, {"billing", 5}, {"fs/disk", 6}, {"vmem", 7}, {"pages", 8}};
    for (const auto& [one, number] : known)
        if (one == name) return number;
    return 0;
}
void tres(JsonWriter& json, std::string_view name, const std::string& listed) {
    array(json, name, [&] {
        const auto parsed = TresList::parse(listed);
        if (!parsed) return;
        for (const auto& one : parsed->entries()) {
            const std::string_view whole{one.name};
            const auto slash = whole.find('/');
            json.begin_object();
            json.member("type", whole.substr(0, slash));
            text_or_null(json, "name", slash == std::string_view::npos ? "" : std::string{whole.substr(slash + 1)});
            if (const auto number = tres_number(whole)) json.member("id", number);
            json.member("count", one.count);
            json.end_object();
        }
    });
}

void times(JsonWriter& json, const Line& line) {
    const auto& job = line.job();
    const auto* step = line.step;
    object(json, "time", [&] {
        json.member("elapsed", elapsed_s(line));
        if (step == nullptr) json.member("eligible", job.eligible_time());
        json.member("end", step ? step->end_time() : job.end_time());
        json.member("start", step ? step->start_time() : job.start_time());
        if (step == nullptr) json.member("submission", job.submit_time());
        json.member("suspended", step ? 0U : job.suspended_s());
        std::uint64_t user = 0, system = 0;
        const auto add = [&](const v1::Step& one) {
            user += one.usage().user_us();
            system += one.usage().system_us();
        };
        if (step)
            add(*step);
        else
            for (const auto& one : job.steps()) add(one);
        duration(json, "system", system);
        if (step == nullptr) {
            if (job.time_limit_min() == unlimited)
                json.member_null("limit");
            else
                json.member("limit", job.time_limit_min());
        }
        duration(json, "total", user + system);
        duration(json, "user", user);
    });
}

void step_body(JsonWriter& json, const Line& line) {
    const auto& step = *line.step;
    const auto nodes = HostList::parse(step.node_list());
    object(json, "nodes", [&] {
        array(json, "list", [&] {
            if (nodes)
                for (const auto& name : nodes->names()) json.value(std::string_view{name});
        });
        json.member("count", nodes ? nodes->size() : 0);
        json.member("range", std::string_view{step.node_list()});
    });
    object(json, "tres", [&] { tres(json, "allocated", step.tres()); });
    times(json, line);
    exit_code(json, "exit_code", exit_status_of(line));
    object(json, "tasks", [&] { json.member("count", std::max(1U, step.tasks())); });
    json.member_null("kill_request_user");
    json.member("state", std::string_view{step.state()});
    object(json, "step", [&] {
        json.member("job_id", line.job().id());
        object(json, "het", [&] { json.member_null("component"); });
        if (step.step_id() >= step_interactive)
            json.member("id", std::string_view{print_step_id(step.step_id())});
        else
            json.member("id", step.step_id());
        json.member("name", std::string_view{step.name()});
    });
    object(json, "task", [&] {
        json.member("distribution", std::string_view{step.distribution().empty() ? "Unknown" : step.distribution()});
    });
}

void job_body(JsonWriter& json, const Line& line) {
    const auto& job = line.job();
    const auto& spec = job.spec();
    text_or_null(json, "account", job.account());
    object(json, "comment", [&] {
        text_or_null(json, "administrator", spec.admin_comment());
        text_or_null(json, "job", spec.comment());
        text_or_null(json, "system", job.system_comment());
    });
    json.member("allocation_nodes", job.node_list().empty() ? 0U : job.node_count());
    object(json, "array", [&] {
        json.member("job_id", job.array_job_id());
        object(json, "limits", [&] {
            object(json, "max", [&] { object(json, "running", [&] { json.member("tasks", job.array_limit()); }); });
        });
        text_or_null(json, "task", job.has_array_task_id() ? std::string{} : job.array_tasks());
        if (job.has_array_task_id())
            json.member("task_id", job.array_task_id());
        else
            json.member_null("task_id");
    });
    object(json, "association", [&] {
        text_or_null(json, "account", job.account());
        text_or_null(json, "cluster", line.run.cluster());
        json.member_null("partition");
        text_or_null(json, "user", records::user_name(job));
    });
    json.member("cluster", std::string_view{line.run.cluster()});
    json.member("constraints", std::string_view{job.features()});
    text_or_null(json, "container", spec.container());
    exit_code(json, "derived_exit_code", job.derived_exit_status());
    times(json, line);
    exit_code(json, "exit_code", exit_status_of(line));
    array(json, "flags", [] {});
    json.member("group", std::string_view{records::group_name(job)});
    object(json, "het", [&] {
        json.member("job_id", job.het_job_id());
        if (job.het_job_id() != 0)
            json.member("job_offset", job.het_offset());
        else
            json.member_null("job_offset");
    });
    json.member("job_id", job.id());
    json.member("name", std::string_view{spec.name()});
    object(json, "mcs", [&] { json.member("label", std::string_view{spec.mcs_label()}); });
    json.member("nodes", std::string_view{job.node_list().empty() ? "None assigned" : job.node_list()});
    json.member("partition", std::string_view{job.partition()});
    json.member("priority", job.priority());
    json.member("qos", std::string_view{job.qos()});
    object(json, "required", [&] {
        const auto asked = TresList::parse(job.tres_requested());
        json.member("CPUs", asked ? asked->get("cpu") : 0);
        json.member("memory", asked ? asked->get("mem") : 0);
    });
    if (line.run.has_cancelled_by())
        text_or_null(json, "kill_request_user", name_of_user(line.run.cancelled_by()));
    else
        json.member_null("kill_request_user");
    object(json, "reservation", [&] {
        json.member("id", 0);
        text_or_null(json, "name", spec.reservation());
    });
    object(json, "state", [&] {
        const auto state = state_text(line);
        json.member("current", std::string_view{state}.substr(0, state.find(' ')));
        json.member("reason", std::string_view{job.reason().empty() ? "None" : job.reason()});
    });
    array(json, "steps", [&] {
        for (const auto& step : job.steps()) {
            json.begin_object();
            step_body(json, {line.run, &step, line.in, line.look});
            json.end_object();
        }
    });
    object(json, "tres", [&] {
        tres(json, "allocated", job.node_list().empty() ? std::string{} : job.tres_allocated());
        tres(json, "requested", job.tres_requested());
    });
    text_or_null(json, "user", records::user_name(job));
    object(json, "wckey", [&] {
        json.member("wckey", std::string_view{spec.wckey()});
        array(json, "flags", [] {});
    });
    json.member("working_directory", std::string_view{spec.work_dir()});
}

}  // namespace

std::string json_of(const Runs& runs, UnixSeconds now) {
    records::Context context;
    context.now = now;
    const Look look;
    JsonWriter json;
    json_head(json, "openapi/dbv0.0.38", "Slurm OpenAPI DB v0.0.38");
    array(json, "jobs", [&] {
        for (const auto& run : runs) {
            json.begin_object();
            job_body(json, {run, nullptr, context, look});
            json.end_object();
        }
    });
    json.end_object();
    return json.take();
}

}  // namespace spur::cli::sacct
