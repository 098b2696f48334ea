// sprio's columns, their order and the default formats, which leave out what has no weight.
#include "cli/sprio/listing.hpp"

#include "cli/common/format.hpp"
#include "core/text/lexical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>

namespace spur::cli::sprio {
namespace {

// The order of spur/plugin/priority.h.
enum Factor : int { age, fairshare, job_size, partition, qos, tres, association, site };

struct Row {
    const v1::JobPriority* job = nullptr;  // null: the line of weights
    const v1::ListPrioritiesReply* reply = nullptr;
};

double at(const google::protobuf::RepeatedField<double>& list, int i) { return i < list.size() ? list.Get(i) : 0; }

template <int factor>
Value weighted(const Row& row) {
    if (row.job) return fmt::format("{:.0f}", at(row.job->weighted(), factor));
    return fmt::format("{:.0f}", at(row.reply->weights(), factor));
}
template <int factor>
Value raw(const Row& row) {
    if (row.job) return fmt::format("{:.7f}", at(row.job->raw(), factor));
    return fmt::format("{:.0f}", at(row.reply->weights(), factor));
}
std::string parts_text(const google::protobuf::RepeatedPtrField<v1::TresTime>& parts, double whole, int digits) {
    if (parts.empty()) return whole == 0 ? std::string{} : fmt::format("{:.{}f}", whole, digits);
    std::string text;
    for (const auto& part : parts)
        text += fmt::format("{}{}={:.{}f}", text.empty() ? "" : ",", part.name(), part.seconds(), digits);
    return text;
}
double sum_of(const v1::JobPriority& job) {
    double sum = 0;
    for (const auto value : job.weighted()) sum += value;
    sum -= static_cast<double>(job.nice());
    return job.weighted().empty() || sum < 1 ? static_cast<double>(job.total()) : sum;
}

// Of one job, or of the line of weights.
template <class F>
Value of_job(const Row& row, std::string_view otherwise, F&& get) {
    return row.job ? Value{get(*row.job)} : Value{otherwise};
}

using F = Field<Row>;
constexpr std::array fields{
    F{'i', nullptr, "JOBID", Cut::always,
      [](const Row& r) { return of_job(r, "Weights", [](auto& job) { return std::to_string(job.id()); }); }},
    F{'r', nullptr, "PARTITION", Cut::always,
      [](const Row& r) { return of_job(r, "", [](auto& job) { return job.partition(); }); }},
    F{'u', nullptr, "USER", Cut::always,
      [](const Row& r) { return of_job(r, "", [](auto& job) { return job.user(); }); }},
    F{'o', nullptr, "ACCOUNT", Cut::always,
      [](const Row& r) { return of_job(r, "", [](auto& job) { return job.account(); }); }},
    F{'n', nullptr, "QOSNAME", Cut::always,
      [](const Row& r) { return of_job(r, "", [](auto& job) { return job.qos(); }); }},
    F{'Y', nullptr, "PRIORITY", Cut::always,
      [](const Row& r) { return of_job(r, "", [](auto& job) { return std::to_string(job.total()); }); }},
    F{'y', nullptr, "PRIORITY", Cut::always,
      [](const Row& r) {
          return of_job(r, "", [](auto& job) { return fmt::format("{:.14f}", sum_of(job) / 4294967295.0); });
      }},
    F{'S', nullptr, "SITE", Cut::always, weighted<site>},
    F{'A', nullptr, "AGE", Cut::always, weighted<age>},
    F{'a', nullptr, "AGE", Cut::always, raw<age>},
    F{'B', nullptr, "ASSOC", Cut::always, weighted<association>},
    F{'b', nullptr, "ASSOC", Cut::always, raw<association>},
    F{'F', nullptr, "FAIRSHARE", Cut::always, weighted<fairshare>},
    F{'f', nullptr, "FAIRSHARE", Cut::always, raw<fairshare>},
    F{'J', nullptr, "JOBSIZE", Cut::always, weighted<job_size>},
    F{'j', nullptr, "JOBSIZE", Cut::always, raw<job_size>},
    F{'P', nullptr, "PARTITION", Cut::always, weighted<partition>},
    F{'p', nullptr, "PARTITION", Cut::always, raw<partition>},
    F{'Q', nullptr, "QOS", Cut::always, weighted<qos>},
    F{'q', nullptr, "QOS", Cut::always, raw<qos>},
    F{'N', nullptr, "NICE", Cut::always,
      [](const Row& r) { return of_job(r, "", [](auto& job) { return std::to_string(job.nice()); }); }},
    F{'T', nullptr, "TRES", Cut::always,
      [](const Row& r) {
          return of_job(r, r.reply->tres_weights(),
                        [](auto& job) { return parts_text(job.tres_weighted(), at(job.weighted(), tres), 0); });
      }},
    F{'t', nullptr, "TRES", Cut::always,
      [](const Row& r) {
          return of_job(r, "", [](auto& job) { return parts_text(job.tres_raw(), at(job.raw(), tres), 2); });
      }},
    F{'c', nullptr, "CLUSTER", Cut::always, [](const Row&) { return Value::null(); }},
};

std::string default_format(const Options& options, const v1::ListPrioritiesReply& reply) {
    constexpr std::pair<int, char> shown[] = {{age, 'A'},      {association, 'B'}, {fairshare, 'F'},
                                              {job_size, 'J'}, {partition, 'P'},   {qos, 'Q'}};
    const bool normal = options.normalised;
    std::string format = "%.15i %9r";
    if (options.long_listing || options.users) format += " %.8u";
    format += normal ? " %10y" : " %.10Y %.10S";
    for (const auto& [factor, letter] : shown)
        if (options.long_listing || at(reply.weights(), factor) != 0)
            format += normal ? fmt::format(" %10{}", lower(std::string(1, letter))) : fmt::format(" %.10{}", letter);
    if (options.long_listing && !normal) format += " %.11N";
    if (options.long_listing || at(reply.weights(), tres) != 0) format += normal ? " %20t" : " %.20T";
    return format;
}

// ---- order ---------------------------------------------------------------------------------------------------------

std::weak_ordering compare(const v1::JobPriority& a, const v1::JobPriority& b, char key) {
    constexpr std::pair<char, int> by_factor[] = {{'a', age},      {'b', association}, {'f', fairshare},
                                                  {'j', job_size}, {'p', partition},   {'q', qos},
                                                  {'t', tres},     {'s', site}};
    const auto numbers = [](double x, double y) { return std::weak_order(x, y); };
    const bool upper = key >= 'A' && key <= 'Z';
    switch (key) {
        case 'i':
            return a.id() <=> b.id();
        case 'r':
            return a.partition().compare(b.partition()) <=> 0;
        case 'u':
            return a.user().compare(b.user()) <=> 0;
        case 'o':
            return a.account().compare(b.account()) <=> 0;
        case 'N':
            return a.nice() <=> b.nice();
        case 'Y':
        case 'y':
            return numbers(sum_of(a), sum_of(b));
        default:
            break;
    }
    for (const auto& [letter, factor] : by_factor)
        if (lower(std::string(1, key))[0] == letter)
            return upper ? numbers(at(a.weighted(), factor), at(b.weighted(), factor))
                         : numbers(at(a.raw(), factor), at(b.raw(), factor));
    return std::weak_ordering::equivalent;
}

struct SortKey {
    char letter;
    bool descending;
};
std::vector<SortKey> parse_sort(std::string_view text, std::vector<std::string>& complaints) {
    constexpr std::string_view known = "iruoNYyAaBbFfJjPpQqTtS";
    std::vector<SortKey> keys;
    bool descending = false;
    for (const auto letter : text) {
        if (letter == ',' || letter == '+' || letter == '-' || letter == '#') {
            descending = letter == '-';
            continue;
        }
        if (known.find(letter) == std::string_view::npos)
            complaints.push_back(fmt::format("Invalid sort specification: {}", letter));
        else
            keys.push_back({letter, descending});
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
    const auto text = options.format.value_or(default_format(options, reply));
    const auto format = letters_format<F>(fields, text, "iruYSABFJPQNT", unknown);
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
        for (const auto& key : keys)
            if (const auto order = compare(*a, *b, key.letter); order != 0)
                return key.descending ? order > 0 : order < 0;
        return a->id() < b->id();
    });
    if (options.header) format.header(printed.text);
    if (options.weights)
        format.row(printed.text, Row{nullptr, &reply});
    else
        for (const auto* job : rows) format.row(printed.text, Row{job, &reply});
    return printed;
}

}  // namespace spur::cli::sprio
