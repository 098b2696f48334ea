// squeue --json: the rows that have a key, in their order.
#include "cli/squeue/json.hpp"

#include "cli/common/json_meta.hpp"
#include "core/model/gres.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/job.hpp"
#include "daemons/common/records/job_text.hpp"

namespace spur::cli::squeue {
namespace {

using records::AbsentNumber;
using records::JobField;
using records::JobFieldId;
using records::JobView;
using records::Type;

void texts(JsonWriter& json, const char* name, const std::vector<std::string>& items) {
    json.key(name);
    json.begin_array();
    for (const auto& item : items) json.value(std::string_view(item));
    json.end_array();
}

void billable_tres(JsonWriter& json, const JobView& job) {
    const auto tres = TresList::parse(job->tres_allocated());
    const auto billing = tres ? tres->find("billing") : std::nullopt;
    json.key("billable_tres");
    billing ? json.value(static_cast<double>(*billing)) : json.null();
}

void flags(JsonWriter& json, const JobView& job) {
    const bool asks = job.spec().has_mem_per_node_mib() || job.spec().has_mem_per_cpu_mib();
    texts(json, "flags", asks ? std::vector<std::string>{"JOB_MEM_SET"} : std::vector<std::string>{});
}

void gres_detail(JsonWriter& json, const JobView& job) {
    std::vector<std::string> items;
    for (const auto& share : job->shares())
        for (const auto& gres : share.gres()) {
            const auto kind = gres.type().empty() ? gres.name() : gres.name() + ":" + gres.type();
            items.push_back(fmt::format("{}:{}(IDX:{})", kind, gres.count(), fmt::join(gres.index(), ",")));
        }
    texts(json, "gres_detail", items);
}

void job_resources(JsonWriter& json, const JobView& job) {
    if (job->node_list().empty()) return;
    json.key("job_resources");
    json.begin_object();
    json.member("nodes", job->node_list());
    json.member("allocated_cores", job->cpus());
    json.member("allocated_hosts", job->node_count());
    json.key("allocated_nodes");
    json.begin_array();
    for (const auto& share : job->shares()) {
        json.begin_object();
        json.member("nodename", share.node());
        json.member("cpus_used", share.cpus());
        json.member("memory_used", 0);
        json.member("memory_allocated", share.memory_mib());
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

void shared(JsonWriter& json, const JobView& job) {
    const auto word = records::oversubscribe_text(job.job);
    json.key("shared");
    if (word == "OK")
        json.null();
    else
        json.value(word == "YES" ? "oversubscribe" : word == "USER" ? "user" : "none");
    texts(json, "show_flags", {"SHOW_ALL", "SHOW_DETAIL", "SHOW_LOCAL"});
}

// What is more than one value.
struct Nested {
    JobFieldId id;
    void (*write)(JsonWriter& json, const JobView& job);
};
constexpr Nested nested[] = {
    {JobFieldId::billable_tres, billable_tres}, {JobFieldId::flags, flags},   {JobFieldId::gres_detail, gres_detail},
    {JobFieldId::job_resources, job_resources}, {JobFieldId::shared, shared},
};

void write_field(JsonWriter& json, const JobField& field, const JobView& job) {
    const auto value = field.get(job);
    json.key(field.json);
    const bool is_unlimited = field.type == Type::minutes && value.number() == unlimited;
    if (value.is_absent() ? field.absent.number != AbsentNumber::zero : is_unlimited)
        json.null();
    else if (field.type == Type::flag)
        json.value(value.number() != 0);
    else if (field.type == Type::text)
        json.value(value.text());
    else
        json.value(value.number());
}

void write_job(JsonWriter& json, const JobView& job) {
    json.begin_object();
    for (const auto& field : records::job_fields()) {
        if (field.json == nullptr) continue;
        if (const auto* own = std::ranges::find(nested, field.id, &Nested::id); own != std::end(nested))
            own->write(json, job);
        else
            write_field(json, field, job);
    }
    json.end_object();
}

}  // namespace

std::string jobs_json(const v1::ListJobsReply& reply) {
    const records::Context context{.now = reply.now(), .cluster = reply.cluster(), .array_text_limit = 0};
    JsonWriter json;
    json_head(json);
    json.key("jobs");
    json.begin_array();
    for (const auto& job : reply.jobs()) write_job(json, {job, context});
    json.end_array();
    json.end_object();
    return json.take();
}

}  // namespace spur::cli::squeue
