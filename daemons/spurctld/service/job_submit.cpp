// One request on its way through the chain: its record, and what is set becomes part of the request at once.
#include "daemons/spurctld/service/job_submit.hpp"

#include <ctime>

#include <spur/plugin/plugin.hpp>

#include "core/machine/validate.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/records/plugin_record.hpp"
#include "daemons/spurctld/service/convert.hpp"

namespace spur::ctld {
namespace {

constexpr std::int64_t patience_ns = 10'000'000'000;  // the user's terminal stands still meanwhile

std::int64_t monotonic_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A request that is no job yet, as its record: what was not said is absent.
v1::Job record_of(const JobSpec& spec) {
    v1::Job wire;
    spec_to_wire(spec, {}, *wire.mutable_spec());
    wire.set_user_name(spec.user_name.str());
    wire.set_group_name(spec.group_name.str());
    wire.set_account(spec.account.str());
    wire.set_qos(spec.qos.str());
    wire.set_features(spec.features.str());
    wire.set_dependency(spec.dependency.str());
    std::string partitions;
    for (const auto& name : spec.partitions) partitions += (partitions.empty() ? "" : ",") + name.str();
    wire.set_partition(partitions);
    wire.set_time_limit_min(spec.time_limit_min.value_or(no_value));
    wire.set_priority(spec.priority.value_or(0));
    return wire;
}

class Submission {
public:
    Submission(JobSpec spec, UnixSeconds now)
        : submitted_{.spec = std::move(spec), .admin_comment = {}},
          now_{now},
          wire_{record_of(submitted_.spec)},
          record_{wire_, {.now = now, .cluster = {}}, [this](const records::JobField& field, std::string_view value) {
                      return set(field, value);
                  }} {}

    const spur_record* record() const { return record_.get(); }
    SubmittedJob take() { return std::move(submitted_); }

private:
    Result<void> set(const records::JobField& field, std::string_view value) {
        static const std::function<Result<std::vector<NodeId>>(std::string_view)> no_nodes = [](std::string_view) {
            return Result<std::vector<NodeId>>{fail(ErrorCode::invalid, "it has no nodes yet")};
        };
        JobChanges changes;
        static const Job none{};
        records::JobChange change{changes, none, now_, no_nodes};
        SPUR_CHECK(field.change.set(change, {field.change.name, value}));
        if (changes.priority) submitted_.spec.priority = changes.priority;
        if (changes.admin_comment) submitted_.admin_comment = changes.admin_comment;
        changes.admin_comment.reset();
        submitted_.spec = with_changes(submitted_.spec, changes);
        auto shown = submitted_;
        shown.put_in_what_is_the_plugins();
        wire_ = record_of(shown.spec);
        return {};
    }

    SubmittedJob submitted_;
    UnixSeconds now_;
    v1::Job wire_;
    records::PluginRecord record_;
};

std::vector<spur_submit_partition> partitions_of(const planning::ReadModel& model) {
    std::vector<spur_submit_partition> all;
    for (const auto& partition : model.directory->partitions) {
        std::uint32_t flags = partition.is_default ? SPUR_SUBMIT_DEFAULT : 0;
        if (partition.hidden) flags |= SPUR_SUBMIT_HIDDEN;
        all.push_back({plugin::str(partition.name.view()), flags, 0});
    }
    return all;
}

}  // namespace

Result<SubmittedJob> run_job_submit(const JobSubmitChain& chain, JobSpec spec, const planning::ReadModel& model,
                                    UnixSeconds now, std::vector<std::string>& notes) {
    const auto user = spec.user_name;
    const auto partitions = partitions_of(model);
    plugin::StringSink lines;
    const spur_stop stop{.size = sizeof(spur_stop),
                         .fd = -1,
                         .deadline_ns = monotonic_ns() + patience_ns,
                         .context = nullptr,
                         .stopped = [](const spur_stop* self) -> std::uint32_t {
                             return monotonic_ns() >= self->deadline_ns ? 1 : 0;
                         }};
    const spur_submit submit{.size = sizeof(spur_submit),
                             .uid = spec.uid,
                             .gid = spec.gid,
                             .reserved = 0,
                             .user = plugin::str(user.view()),
                             .partitions = plugin::span_of(partitions),
                             .notes = lines.get(),
                             .stop = &stop};
    Submission submission{std::move(spec), now};
    const auto answer = chain.run(&spur_job_submit_ops::submit, &submit, submission.record());
    for (const auto line : split(lines.text, '\n'))
        if (!line.empty()) notes.emplace_back(line);
    if (!answer) return fail(ErrorCode::unavailable, "the job could not be looked at: {}", answer.error().text);
    if (answer->verdict != SPUR_OK)
        return fail(ErrorCode::invalid, "{}",
                    answer->sentence.empty() ? answer->by + " refused the job" : answer->sentence);
    return submission.take();
}

}  // namespace spur::ctld
