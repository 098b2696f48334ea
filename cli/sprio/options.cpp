// sprio's options.
#include "cli/common/users.hpp"
#include "cli/sprio/listing.hpp"
#include "core/text/lexical.hpp"

namespace spur::cli::sprio {
namespace {

using Set = Result<void>;

Set set_jobs(Options& options, const char* value) {
    options.jobs.emplace();
    return value == nullptr ? Set{} : add_jobs(options, value);
}

Set set_users(Options& options, const char* value) {
    options.users.emplace();
    for (const auto item : split(value, ',')) {
        const std::string name{trim(item)};
        if (const auto uid = find_user(name))
            options.users->push_back(*uid);
        else
            options.unknown_users.push_back(name);
    }
    return {};
}

Set set_partitions(Options& options, const char* value) {
    options.partitions.clear();
    for (const auto item : split(value, ','))
        if (!trim(item).empty()) options.partitions.emplace_back(trim(item));
    return {};
}

Set refuse_clusters(Options&, const char* value) {
    return fail(ErrorCode::invalid,
                "'{}' can't be reached: this command knows one cluster, the one it is configured for; leave out "
                "--clusters",
                value);
}

constexpr OptionRow<Options> table[] = {
    {"noheader", 'h', Argument::none, nullptr, "no headers on output",
     [](Options& o, const char*) -> Set { return o.header = false, Set{}; }},
    {"jobs", 'j', Argument::optional, "job_id[,...]", "comma separated list of jobs to view, default is all", set_jobs},
    {"long", 'l', Argument::none, nullptr, "long report",
     [](Options& o, const char*) -> Set { return o.long_listing = true, Set{}; }},
    {"clusters", 'M', Argument::required, "cluster_name", nullptr, refuse_clusters, "SLURM_CLUSTERS"},
    {"cluster", 0, Argument::required, "cluster_name", nullptr, refuse_clusters},
    {"norm", 'n', Argument::none, nullptr, "display normalized values",
     [](Options& o, const char*) -> Set { return o.normalised = true, Set{}; }},
    {"format", 'o', Argument::required, "format", "format specification",
     [](Options& o, const char* value) -> Set { return o.format = value, Set{}; }, "SPRIO_FORMAT"},
    {"partition", 'p', Argument::required, "partition_name[,...]", "comma separated list of partitions",
     set_partitions},
    {"sort", 'S', Argument::required, "fields", "comma separated list of fields to sort on",
     [](Options& o, const char* value) -> Set { return o.sort = value, Set{}; }},
    {"user", 'u', Argument::required, "user_name[,...]", "comma separated list of users to view", set_users},
    {"users", 0, Argument::required, nullptr, nullptr, set_users},
    {"verbose", 'v', Argument::none, nullptr, "verbosity level",
     [](Options& o, const char*) -> Set { return ++o.verbose, Set{}; }},
    {"weights", 'w', Argument::none, nullptr, "show the weights for each priority factor",
     [](Options& o, const char*) -> Set { return o.weights = true, Set{}; }},
    // One cluster is what these two mean here.
    {"local", 0, Argument::none, nullptr, nullptr, [](Options&, const char*) -> Set { return {}; }},
    {"federation", 0, Argument::none, nullptr, nullptr, [](Options&, const char*) -> Set { return {}; }},
};

}  // namespace

Result<void> add_jobs(Options& options, const char* value) {
    for (const auto item : split(value, ',')) {
        const auto id = find_unsigned(trim(item));
        if (!id || *id == 0 || *id > UINT32_MAX) return fail(ErrorCode::invalid, "Invalid job id: {}", item);
        options.jobs->push_back(static_cast<std::uint32_t>(*id));
    }
    return {};
}

std::span<const OptionRow<Options>> option_table() { return table; }

}  // namespace spur::cli::sprio
