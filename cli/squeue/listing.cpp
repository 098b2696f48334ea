// squeue's output as text.
#include "cli/squeue/listing.hpp"

#include "cli/common/job_text.hpp"
#include "cli/common/output.hpp"
#include "cli/squeue/rows.hpp"
#include "core/text/lexical.hpp"

namespace spur::cli::squeue {
namespace {

constexpr std::string_view job_format = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
constexpr std::string_view long_job_format = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
constexpr std::string_view start_format = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";
constexpr std::string_view step_format = "%.15i %.8j %.9P %.8u %.9M %N";

std::string_view default_job_format(const Options& options) {
    if (options.start) return start_format;
    return options.long_listing ? long_job_format : job_format;
}

template <class F>
FormatOf<F> chosen_format(const Options& options, std::span<const F> fields, std::string_view fallback,
                          std::string_view all, Complaints& complaints) {
    const bool ask = !options.long_listing || options.format_typed;
    if (options.long_format && ask) return names_format(fields, *options.long_format, complaints);
    return letters_format(fields, options.format && ask ? std::string_view(*options.format) : fallback, all,
                          complaints);
}

// -P: a pending job once for each of its partitions.
std::vector<v1::Job> by_partition(const std::vector<v1::Job>& jobs) {
    std::vector<v1::Job> result;
    for (const auto& job : jobs) {
        for (const auto partition : split(job.partition(), ',')) {
            result.push_back(job);
            result.back().set_partition(std::string(partition));
        }
    }
    return result;
}

void point_at(const std::vector<v1::Job>& jobs, std::vector<const v1::Job*>& rows) {
    rows.clear();
    for (const auto& job : jobs) rows.push_back(&job);
}

Result<Printed> print_jobs(const Options& options, const v1::ListJobsReply& reply, const records::Context& context) {
    Printed printed;
    Complaints unknown;
    const auto format =
        chosen_format(options, records::job_fields(), default_job_format(options), all_job_letters, unknown);
    for (const auto& what : unknown) printed.complaints.push_back("Invalid job format specification: " + what);
    SPUR_TRY(const auto keys, parse_sort(options.sort.value_or("P,t,-p"), job_sort_letters()));

    std::vector<const v1::Job*> rows;
    for (const auto& job : reply.jobs())
        if (options.query.accepts(job)) rows.push_back(&job);
    std::vector<v1::Job> merged;  // only where several records become one line
    if (!options.query.split_arrays && !options.query.names_tasks()) merged = merge_waiting_tasks(rows);
    if (!merged.empty()) point_at(merged, rows);
    std::vector<v1::Job> copies;  // only where one record becomes several lines
    if (options.query.split_arrays || options.query.jobs || options.per_partition) {
        copies = split_arrays(rows, options.query);
        if (options.per_partition) copies = by_partition(copies);
        point_at(copies, rows);
    }
    sort_jobs(rows, keys, context);
    if (options.header) format.header(printed.text);
    for (const auto* job : rows) format.row(printed.text, records::JobView{*job, context});
    return printed;
}

Result<Printed> print_steps(const Options& options, const v1::ListJobsReply& reply, const records::Context& context) {
    Printed printed;
    Complaints unknown;
    const auto format = chosen_format(options, records::step_fields(), step_format, all_step_letters, unknown);
    for (const auto& what : unknown) printed.complaints.push_back("Invalid job step format specification: " + what);
    SPUR_TRY(const auto keys, parse_sort(options.sort.value_or("P,i"), {}));

    std::vector<StepOf> steps;
    for (const auto& job : reply.jobs())
        for (const auto& step : job.steps())
            if (step.end_time() == 0 && options.query.accepts_step(job, step)) steps.push_back({&job, &step});
    sort_steps(steps, keys, context);
    if (options.header) format.header(printed.text);
    for (const auto& entry : steps) format.row(printed.text, records::StepView{*entry.step, *entry.job, context});
    return printed;
}

}  // namespace

Result<Printed> print_listing(const Options& options, const v1::ListJobsReply& reply) {
    const records::Context context{reply.now(), reply.cluster(), array_text_limit(), options.convert_units};
    SPUR_TRY(auto printed, options.steps ? print_steps(options, reply, context) : print_jobs(options, reply, context));
    if (options.header && options.clusters) printed.text.insert(0, fmt::format("CLUSTER: {}\n", context.cluster));
    if (options.header && (options.long_listing || options.iterate_s != 0))
        printed.text.insert(0, date_line(context.now));
    return printed;
}

}  // namespace spur::cli::squeue
