// sprio's output: the order of its lines, and the default formats, which leave out what has no weight.
#include "cli/sprio/listing.hpp"

#include "cli/common/format.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/records/priority.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::cli::sprio {
namespace {

namespace factor = records::factor;
using records::weight_of;

std::string default_format(const Options& options, const v1::ListPrioritiesReply& reply) {
    constexpr std::pair<int, char> shown[] = {{factor::age, 'A'},       {factor::association, 'B'},
                                              {factor::fairshare, 'F'}, {factor::job_size, 'J'},
                                              {factor::partition, 'P'}, {factor::qos, 'Q'}};
    const bool normal = options.normalised;
    std::string format = "%.15i %9r";
    if (options.long_listing || options.users) format += " %.8u";
    format += normal ? " %10y" : " %.10Y %.10S";
    for (const auto& [number, letter] : shown)
        if (options.long_listing || weight_of(reply, number) != 0)
            format += normal ? fmt::format(" %10{}", lower(std::string(1, letter))) : fmt::format(" %.10{}", letter);
    if (options.long_listing && !normal) format += " %.11N";
    if (options.long_listing || weight_of(reply, factor::tres) != 0) format += normal ? " %20t" : " %.20T";
    return format;
}

// ---- order ---------------------------------------------------------------------------------------------------------

struct SortKey {
    const records::PriorityField* field;
    bool descending;
};
std::vector<SortKey> parse_sort(std::string_view text, std::vector<std::string>& complaints) {
    std::vector<SortKey> keys;
    bool descending = false;
    for (const auto letter : text) {
        if (letter == ',' || letter == '+' || letter == '-' || letter == '#') {
            descending = letter == '-';
            continue;
        }
        const auto* field = find_letter(records::priority_fields(), letter);
        if (field == nullptr || !field->listing.sorts)
            complaints.push_back(fmt::format("Invalid sort specification: {}", letter));
        else
            keys.push_back({field, descending});
        descending = false;
    }
    return keys;
}

bool is_wanted(const Options& options, const v1::JobPriority& job) {
    const auto in = [](const auto& list, const auto& value) { return std::ranges::find(list, value) != list.end(); };
    if (options.users && !in(*options.users, job.uid())) return false;
    return options.partitions.empty() || in(options.partitions, job.partition());
}

}  // namespace

Printed print_listing(const Options& options, const v1::ListPrioritiesReply& reply) {
    Printed printed;
    Complaints unknown;
    const records::Context context;
    const auto text = options.format.value_or(default_format(options, reply));
    const auto format = letters_format(records::priority_fields(), text, "iruYSABFJPQNT", unknown);
    for (const auto& what : unknown) printed.complaints.push_back("Invalid job format specification: " + what);
    const auto keys = parse_sort(options.sort.value_or("i"), printed.complaints);
    std::vector<const v1::JobPriority*> rows;
    for (const auto& job : reply.jobs())
        if (is_wanted(options, job)) rows.push_back(&job);
    if (options.jobs && rows.empty() && !options.weights) {
        printed.text = "Unable to find jobs matching user/id(s) specified\n";
        return printed;
    }
    std::ranges::stable_sort(rows, [&](const auto* a, const auto* b) {
        for (const auto& [field, descending] : keys) {
            const auto key = field->sort ? field->sort : field->get;
            if (const auto order = key({a, reply, context}) <=> key({b, reply, context}); order != 0)
                return descending ? order > 0 : order < 0;
        }
        return a->id() < b->id();
    });
    if (options.header) format.header(printed.text);
    if (options.weights)
        format.row(printed.text, {nullptr, reply, context});
    else
        for (const auto* job : rows) format.row(printed.text, {job, reply, context});
    return printed;
}

}  // namespace spur::cli::sprio
