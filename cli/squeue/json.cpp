// squeue --json.
#include "cli/squeue/json.hpp"

#include "cli/common/json_meta.hpp"
#include "cli/common/json_record.hpp"
#include "core/model/gres.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/job.hpp"
#include "daemons/common/records/job_text.hpp"

namespace spur::cli::squeue {
namespace {

using records::JobField;
using records::JobFieldId;
using records::JobView;

void billable_tres(JsonWriter& json, const JobView& job) {
    const auto tres = TresList::parse(job->tres_allocated());
    const auto billing = tres ? tres->find("billing") : std::nullopt;
    json.key("billable_tres");
    billing ? json.value(static_cast<double>(*billing)) : json.null();
}

void flags(JsonWriter& json, const JobView& job) {
    const bool asks = job.spec().has_mem_per_node_mib() || job.spec().has_mem_per_cpu_mib();
    json_texts(json, "flags", asks ? std::vector<std::string>{"JOB_MEM_SET"} : std::vector<std::string>{});
}

void gres_detail(JsonWriter& json, const JobView& job) {
    std::vector<std::string> items;
    for (const auto& share : job->shares())
        for (const auto& gres : share.gres()) {
            const auto kind = gres.type().empty() ? gres.name() : gres.name() + ":" + gres.type();
            items.push_back(fmt::format("{}:{}(IDX:{})", kind, gres.count(), fmt::join(gres.index(), ",")));
        }
    json_texts(json, "gres_detail", items);
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
    json_texts(json, "show_flags", {"SHOW_ALL", "SHOW_DETAIL", "SHOW_LOCAL"});
}

constexpr Nested<JobField> nested[] = {
    {JobFieldId::billable_tres, billable_tres}, {JobFieldId::flags, flags},   {JobFieldId::gres_detail, gres_detail},
    {JobFieldId::job_resources, job_resources}, {JobFieldId::shared, shared},
};

}  // namespace

std::string jobs_json(const v1::ListJobsReply& reply) {
    const records::Context context{.now = reply.now(), .cluster = reply.cluster(), .array_text_limit = 0};
    JsonWriter json;
    json_head(json);
    json.key("jobs");
    json.begin_array();
    for (const auto& job : reply.jobs()) json_record(json, records::job_fields(), {job, context}, nested);
    json.end_array();
    json.end_object();
    return json.take();
}

}  // namespace spur::cli::squeue
