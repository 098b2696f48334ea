// squeue's options.
#include "cli/squeue/options.hpp"

#include "cli/common/users.hpp"
#include "core/text/lexical.hpp"

#include <unistd.h>

namespace spur::cli::squeue {
namespace {

using Set = Result<void>;

std::vector<std::string> list_of(const char* text) {
    std::vector<std::string> items;
    for (const auto item : split(text, ',')) {
        const auto trimmed = trim(item);
        if (!trimmed.empty()) items.emplace_back(trimmed);
    }
    return items;
}

Set add_jobs(Options& options, const char* value) {
    if (value == nullptr || *value == '\0') return {};
    auto refs = parse_job_refs(value);
    if (!refs) return fail(ErrorCode::invalid, "Invalid job id: {}", value);
    options.query.jobs = std::move(*refs);
    return {};
}

Set add_steps(Options& options, const char* value) {
    options.steps = true;
    if (value == nullptr || *value == '\0') return {};
    auto refs = parse_job_refs(value);
    if (!refs) return fail(ErrorCode::invalid, "Invalid job_step id: {}", value);
    options.query.jobs = std::move(*refs);
    return {};
}

Set set_users(Options& options, const char* value) {
    options.query.users.clear();
    for (const auto& name : list_of(value)) {
        if (const auto uid = find_user(name)) {
            options.query.users.push_back(name_of_user(*uid));
        } else {
            options.unknown_users.push_back(name);
            options.query.users.push_back(name);  // matches nothing, but keeps the filter
        }
    }
    return {};
}

Set set_states(Options& options, const char* value) {
    SPUR_TRY(options.query.states, JobStateFilter::parse(value));
    return {};
}

Set set_iterate(Options& options, const char* value) {
    const auto seconds = find_unsigned(value);
    if (!seconds || *seconds == 0 || *seconds > 1'000'000) return fail(ErrorCode::invalid, "--iterate={}\n", value);
    options.iterate_s = static_cast<unsigned>(*seconds);
    return {};
}

// Members of a federation are asked for in vain and harmlessly: there is one cluster.
Set nothing(Options&, const char*) { return {}; }

template <auto Member>
Set set_list(Options& options, const char* value) {
    options.query.*Member = list_of(value);
    return {};
}
template <auto Member, bool Value = true>
Set set_flag(Options& options, const char*) {
    options.*Member = Value;
    return {};
}
template <auto Member, bool Value = true>
Set set_query_flag(Options& options, const char*) {
    options.query.*Member = Value;
    return {};
}
template <auto Member>
Set set_text(Options& options, const char* value) {
    options.*Member = value;
    return {};
}

using Row = OptionRow<Options>;
constexpr auto none = Argument::none;
constexpr auto required = Argument::required;
constexpr auto optional = Argument::optional;

constexpr Row table[] = {
    {"account", 'A', required, "account(s)", "jobs of these accounts", set_list<&Query::accounts>, "SQUEUE_ACCOUNT"},
    {"all", 'a', none, nullptr, "jobs in hidden partitions too", set_query_flag<&Query::all_partitions>, "SQUEUE_ALL"},
    {"array", 'r', none, nullptr, "one line for each task of an array", set_query_flag<&Query::split_arrays>,
     "SQUEUE_ARRAY"},
    {"array-unique", 0, none, nullptr, "one line for the pending tasks of an array (the default)", nothing},
    {"cluster", 0, required, "cluster(s)", nullptr, set_text<&Options::clusters>},
    {"clusters", 'M', required, "cluster(s)", nullptr, set_text<&Options::clusters>, "SLURM_CLUSTERS"},
    {"federation", 0, none, nullptr, nullptr, nothing, "SQUEUE_FEDERATION"},
    {"format", 'o', required, "format", "columns by letters: \"%.18i %.9P %j\"", set_text<&Options::format>,
     "SQUEUE_FORMAT"},
    {"Format", 'O', required, "format", "columns by names: \"JobID,Name:30,State\"", set_text<&Options::long_format>,
     "SQUEUE_FORMAT2"},
    {"hide", 0, none, nullptr, "no jobs in hidden partitions (the default)",
     set_query_flag<&Query::all_partitions, false>},
    {"iterate", 'i', required, "seconds", "list again and again", set_iterate},
    {"jobs", 'j', optional, "job(s)", "these jobs: 12, 12_3, 12_[4-9], 12+1", add_jobs},
    {"json", 0, none, nullptr, "all jobs as JSON", set_flag<&Options::json>},
    {"licenses", 'L', required, "license(s)", "jobs asking for these licenses", set_list<&Query::licenses>,
     "SQUEUE_LICENSES"},
    {"local", 0, none, nullptr, nullptr, nothing, "SQUEUE_LOCAL"},
    {"long", 'l', none, nullptr, "more columns", set_flag<&Options::long_listing>},
    {"me", 0, none, nullptr, "only my jobs",
     [](Options& options, const char*) -> Set {
         options.query.users = {name_of_user(::getuid())};
         return {};
     }},
    {"name", 'n', required, "name(s)", "jobs with these names", set_list<&Query::names>, "SQUEUE_NAMES"},
    {"noconvert", 0, none, nullptr, "2048M stays 2048M", set_flag<&Options::convert_units, false>},
    {"nodelist", 'w', required, "hostlist", "jobs on these nodes", set_text<&Options::node_list>},
    {"nodes", 0, required, "hostlist", nullptr, set_text<&Options::node_list>},
    {"noheader", 'h', none, nullptr, "no header", set_flag<&Options::header, false>},
    {"only-job-state", 0, none, nullptr, nullptr, nothing},
    {"partition", 'p', required, "partition(s)", "jobs in these partitions", set_list<&Query::partitions>,
     "SQUEUE_PARTITION"},
    {"priority", 'P', none, nullptr, "a pending job once for each partition it asks for",
     set_flag<&Options::per_partition>, "SQUEUE_PRIORITY"},
    {"qos", 'q', required, "qos", "jobs with these qualities of service", set_list<&Query::qos>, "SQUEUE_QOS"},
    {"reservation", 'R', required, "name", "jobs in this reservation", set_list<&Query::reservations>},
    {"sibling", 0, none, nullptr, nullptr, nothing, "SQUEUE_SIBLING"},
    {"sort", 'S', required, "fields", "order by letters: \"P,t,-p\"", set_text<&Options::sort>, "SQUEUE_SORT"},
    {"start", 0, none, nullptr, "expected start times of pending jobs", set_flag<&Options::start>},
    {"states", 't', required, "state(s)", "jobs in these states, or \"all\"", set_states, "SQUEUE_STATES"},
    {"steps", 's', optional, "step(s)", "job steps: all, or 12.0,13.1", add_steps},
    {"user", 'u', required, "user(s)", "jobs of these users", set_users, "SQUEUE_USERS"},
    {"users", 0, required, "user(s)", nullptr, set_users},
    {"verbose", 'v', none, nullptr, "say more",
     [](Options& options, const char*) -> Set {
         ++options.verbose;
         return {};
     }},
};

}  // namespace

std::span<const OptionRow<Options>> option_table() { return table; }

void join_optional_arguments(std::vector<std::string>& words) {
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        auto& word = words[i];
        if (word == "--") return;
        const bool is_short = word == "-j" || word == "-s";
        const bool is_long = word == "--jobs" || word == "--job" || word == "--steps" || word == "--step";
        if ((!is_short && !is_long) || words[i + 1].starts_with('-')) continue;
        word += (is_long ? "=" : "") + words[i + 1];
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
}

Result<void> combine(Options& options) {
    if (options.long_listing && options.format_typed)
        return fail(ErrorCode::invalid,
                    "Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry.");
    if (options.start) {
        if (!options.query.states) {
            SPUR_TRY(options.query.states, JobStateFilter::parse("PENDING"));
        }
        if (!options.sort) options.sort = "S";
    }
    return {};
}

}  // namespace spur::cli::squeue
