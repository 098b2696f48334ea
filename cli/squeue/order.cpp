// The order of squeue's lines: -S keys over a fixed order for ties.
#include "cli/common/job_text.hpp"
#include "cli/squeue/query.hpp"
#include "cli/squeue/rows.hpp"
#include "core/text/lexical.hpp"

#include <algorithm>
#include <compare>

namespace spur::cli::squeue {
namespace {

using Order = std::weak_ordering;

std::uint32_t group_id(const v1::Job& job) {
    if (job.array_job_id() != 0) return job.array_job_id();
    return job.het_job_id() != 0 ? job.het_job_id() : job.id();
}
std::uint32_t member_id(const v1::Job& job) {
    return job.array_job_id() != 0 ? (job.has_array_task_id() ? job.array_task_id() : UINT32_MAX) : job.het_offset();
}
Order compare_ids(const v1::Job& a, const v1::Job& b) {
    if (const auto order = group_id(a) <=> group_id(b); order != 0) return order;
    if (const auto order = member_id(a) <=> member_id(b); order != 0) return order;
    return a.id() <=> b.id();
}

Order compare_ids(const StepOf& a, const StepOf& b) {
    if (const auto order = compare_ids(*a.job, *b.job); order != 0) return order;
    return a.step->step_id() <=> b.step->step_id();
}

template <class F>
struct ChosenKey {
    const F* field;  // nullptr: a letter that orders nothing
    SortKey key;
};
template <class F>
std::vector<ChosenKey<F>> choose(std::span<const F> fields, const std::vector<SortKey>& keys) {
    std::vector<ChosenKey<F>> chosen;
    for (const auto& key : keys) {
        const auto* field = find_letter(fields, key.letter);
        chosen.push_back({field && field->listing.sorts ? field : nullptr, key});
    }
    return chosen;
}

// Ids are not compared as text.
template <class F, class Record>
Order compare(const ChosenKey<F>& chosen, const typename F::ViewType& a, const typename F::ViewType& b,
              const Record& first, const Record& second) {
    if (chosen.field == nullptr) return Order::equivalent;
    const auto get = chosen.field->sort ? chosen.field->sort : chosen.field->get;
    const auto order = chosen.key.letter == 'i' ? compare_ids(first, second) : get(a) <=> get(b);
    return chosen.key.descending ? 0 <=> order : order;
}

// Where no key decides: latest start first; jobs without one last, the newest first, but tasks of one array and
// components of one job in their order.
bool comes_first(const v1::Job& a, const v1::Job& b) {
    if (a.start_time() != b.start_time()) return a.start_time() > b.start_time();
    const auto order = compare_ids(a, b);
    return a.start_time() != 0 || group_id(a) == group_id(b) ? order < 0 : order > 0;
}

}  // namespace

Result<std::vector<SortKey>> parse_sort(std::string_view text, std::string_view accepted) {
    std::vector<SortKey> keys;
    bool descending = false;
    for (const char c : text) {
        if (c == ',') continue;
        if (c == '+' || c == '-') {
            descending = c == '-';
            continue;
        }
        if (!accepted.empty() && accepted.find(c) == std::string_view::npos)
            return fail(ErrorCode::invalid, "Invalid sort specification: {}", c);
        keys.push_back({c, descending});
        descending = false;
    }
    return keys;
}

std::string job_sort_letters() {
    std::string letters;
    for (const auto& field : records::job_fields())
        if (field.listing.sorts) letters += field.listing.letter;
    return letters;
}

void sort_jobs(std::vector<const v1::Job*>& jobs, const std::vector<SortKey>& keys, const records::Context& context) {
    const auto chosen = choose(records::job_fields(), keys);
    std::sort(jobs.begin(), jobs.end(), [&](const v1::Job* a, const v1::Job* b) {
        for (const auto& one : chosen) {
            const auto order = compare(one, records::JobView{*a, context}, records::JobView{*b, context}, *a, *b);
            if (order != 0) return order < 0;
            if (one.key.letter == 'S') return compare_ids(*a, *b) < 0;
        }
        return comes_first(*a, *b);
    });
}

void sort_steps(std::vector<StepOf>& steps, const std::vector<SortKey>& keys, const records::Context& context) {
    const auto chosen = choose(records::step_fields(), keys);
    const auto view = [&](const StepOf& of) { return records::StepView{*of.step, *of.job, context}; };
    std::sort(steps.begin(), steps.end(), [&](const StepOf& a, const StepOf& b) {
        for (const auto& one : chosen)
            if (const auto order = compare(one, view(a), view(b), a, b); order != 0) return order < 0;
        return compare_ids(a, b) < 0;
    });
}

}  // namespace spur::cli::squeue
