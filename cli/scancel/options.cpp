// scancel's options.
#include "cli/common/users.hpp"
#include "cli/scancel/scancel.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/job.hpp"
#include "core/slurm/signal.hpp"
#include "core/text/lexical.hpp"

#include <unistd.h>

namespace spur::cli::scancel {
namespace {

using Set = Result<void>;
using Names = google::protobuf::RepeatedPtrField<std::string>;

template <Names* (v1::SignalJobsRequest::*Member)()>
Set set_list(Options& options, const char* value) {
    auto& list = *(options.request.*Member)();
    list.Clear();
    for (const auto item : split(value, ','))
        if (!item.empty()) *list.Add() = std::string(item);
    return {};
}

Set set_user(Options& options, const char* value) {
    options.request.clear_users();
    const auto uid = find_user(value);
    if (!uid) return fail(ErrorCode::invalid, "Invalid user name: {}", value);
    options.request.add_users(name_of_user(*uid));
    return {};
}

Set set_state(Options& options, const char* value) {
    options.request.clear_states();
    for (const auto text : split(value, ',')) {
        const auto state = find_job_state(text);
        if (!state || (*state != JobState::pending && *state != JobState::running && *state != JobState::suspended))
            return fail(ErrorCode::invalid,
                        "Invalid job state specified: {}\nValid job states are PENDING, RUNNING, and SUSPENDED", text);
        options.request.add_states(std::string(to_string(*state)));
    }
    return {};
}

Set set_signal(Options& options, const char* value) {
    const auto number = parse_signal(value);
    if (!number) return fail(ErrorCode::invalid, "Unknown job signal: {}", value);
    options.signal = *number;
    options.request.set_signal(signal_name(*number));
    return {};
}

#define REQUEST_FLAG(setter) [](Options& options, const char*) -> Set { return options.request.setter(true), Set{}; }
#define FLAG(member) [](Options& options, const char*) -> Set { return options.member = true, Set{}; }

using Row = OptionRow<Options>;
constexpr auto none = Argument::none;
constexpr auto required = Argument::required;
using Request = v1::SignalJobsRequest;

constexpr Row table[] = {
    {"account", 'A', required, "account", "only jobs of this account", set_list<&Request::mutable_accounts>,
     "SCANCEL_ACCOUNT"},
    {"batch", 'b', none, nullptr, "signal only the batch shell", REQUEST_FLAG(set_batch_only), "SCANCEL_BATCH"},
    {"cluster", 0, required, "names", nullptr,
     [](Options& options, const char* value) -> Set { return options.clusters = value, Set{}; }},
    {"clusters", 'M', required, "names", nullptr,
     [](Options& options, const char* value) -> Set { return options.clusters = value, Set{}; }, "SLURM_CLUSTERS"},
    {"ctld", 0, none, nullptr, "send the request to the controller (always done)",
     [](Options&, const char*) -> Set { return {}; }, "SCANCEL_CTLD"},
    {"full", 'f', none, nullptr, "signal the batch shell and all steps", REQUEST_FLAG(set_full), "SCANCEL_FULL"},
    {"hurry", 'H', none, nullptr, "do not wait for data to be staged out", REQUEST_FLAG(set_hurry), "SCANCEL_HURRY"},
    {"interactive", 'i', none, nullptr, "ask before each job", FLAG(interactive), "SCANCEL_INTERACTIVE"},
    {"jobname", 0, required, "name", nullptr, set_list<&Request::mutable_names>},
    {"me", 0, none, nullptr, "only my jobs",
     [](Options& options, const char*) -> Set {
         options.request.clear_users();
         options.request.add_users(name_of_user(::getuid()));
         return {};
     }},
    {"name", 'n', required, "job_name", "only jobs with this name", set_list<&Request::mutable_names>, "SCANCEL_NAME"},
    {"nodelist", 'w', required, "hosts", "only jobs on these nodes",
     [](Options& options, const char* value) -> Set { return options.request.set_node_list(value), Set{}; }},
    {"partition", 'p', required, "partition", "only jobs in this partition", set_list<&Request::mutable_partitions>,
     "SCANCEL_PARTITION"},
    {"qos", 'q', required, "qos", "only jobs with this quality of service", set_list<&Request::mutable_qos>,
     "SCANCEL_QOS"},
    {"quiet", 'Q', none, nullptr, "no complaints about jobs that are gone", FLAG(quiet)},
    {"reservation", 'R', required, "reservation", "only jobs in this reservation",
     set_list<&Request::mutable_reservations>},
    {"signal", 's', required, "name | integer", "signal to send; without it jobs are cancelled", set_signal},
    {"state", 't', required, "states", "only jobs in this state: PENDING, RUNNING or SUSPENDED", set_state,
     "SCANCEL_STATE"},
    {"user", 'u', required, "user_name", "only jobs of this user", set_user, "SCANCEL_USER"},
    {"verbose", 'v', none, nullptr, "say what is done",
     [](Options& options, const char*) -> Set { return ++options.verbose, Set{}; }, "SCANCEL_VERBOSE"},
    {"wckey", 0, required, "wckey", "only jobs with this workload characterization key",
     set_list<&Request::mutable_wckeys>, "SCANCEL_WCKEY"},
};

#undef REQUEST_FLAG
#undef FLAG

void add_filter(std::string& text, const char* name, const Names& values) {
    if (values.empty()) return;
    text += name;
    for (int i = 0; i < values.size(); ++i) text += (i == 0 ? "=" : ",") + values.Get(i);
    text += ' ';
}

}  // namespace

std::span<const OptionRow<Options>> option_table() { return table; }

bool Options::has_filters() const { return !filters_text().empty(); }

bool Options::is_plain() const {
    return !has_filters() && !interactive && signal == 0 && !request.batch_only() && !request.full();
}

std::string Options::filters_text() const {
    std::string text;
    add_filter(text, "account", request.accounts());
    add_filter(text, "job_name", request.names());
    add_filter(text, "partition", request.partitions());
    add_filter(text, "qos", request.qos());
    add_filter(text, "reservation", request.reservations());
    add_filter(text, "state", request.states());
    add_filter(text, "user_name", request.users());
    add_filter(text, "wckey", request.wckeys());
    if (!request.node_list().empty()) text += "nodelist=" + request.node_list() + " ";
    return text;
}

Result<void> add_ids(Options& options, const std::vector<std::string>& words) {
    for (const auto& word : words) {
        const auto refs = parse_job_refs(word);
        if (!refs) return fail(ErrorCode::invalid, "Invalid job id {}", word);
        for (const auto& ref : *refs) options.request.add_ids(ref.str());
    }
    if (words.empty() && !options.has_filters()) return fail(ErrorCode::invalid, "No job identification provided");
    options.request.set_with_filters(options.has_filters());
    return {};
}

}  // namespace spur::cli::scancel
