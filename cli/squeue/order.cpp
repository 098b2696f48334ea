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

Order compare_text(std::string_view a, std::string_view b) { return a.compare(b) <=> 0; }

std::uint32_t group_id(const v1::Job& job) {
    if (job.array_job_id() != 0) return job.array_job_id();
    return job.het_job_id() != 0 ? job.het_job_id() : job.id();
}
std::uint32_t member_id(const v1::Job& job) {
    return job.array_job_id() != 0 ? (job.has_array_task_id() ? job.array_task_id() : 0xffffffffU) : job.het_offset();
}
Order compare_ids(const v1::Job& a, const v1::Job& b) {
    if (const auto order = group_id(a) <=> group_id(b); order != 0) return order;
    if (const auto order = member_id(a) <=> member_id(b); order != 0) return order;
    return a.id() <=> b.id();
}

std::string_view compact_state(const v1::Job& job) {
    const auto state = job_state(job);
    return display_compact_state(state.state, state.flags);
}

std::int64_t time_left_s(const v1::Job& job, std::int64_t now) {
    if (job.time_limit_min() == 0xffffffffU) return std::int64_t{1} << 40;
    return std::int64_t{job.time_limit_min()} * 60 - run_time_s(job, now);
}

std::string account(const v1::Job& job) { return job.account().empty() ? job.spec().account() : job.account(); }

Order compare_by(char letter, const v1::Job& a, const v1::Job& b, std::int64_t now) {
    const auto& sa = a.spec();
    const auto& sb = b.spec();
    switch (letter) {
        case 'a':
            return compare_text(account(a), account(b));
        case 'b':
            return compare_text(sa.gres_per_node(), sb.gres_per_node());
        case 'c':
            return min_cpus_per_node(a) <=> min_cpus_per_node(b);
        case 'd':
            return sa.min_tmp_mib() <=> sb.min_tmp_mib();
        case 'e':
            return a.end_time() <=> b.end_time();
        case 'f':
            return compare_text(sa.features(), sb.features());
        case 'g':
            return compare_text(group_name(a), group_name(b));
        case 'G':
            return sa.gid() <=> sb.gid();
        case 'h':
            return compare_text(oversubscribe_text(a), oversubscribe_text(b));
        case 'H':
            return sa.sockets_per_node() <=> sb.sockets_per_node();
        case 'i':
            return compare_ids(a, b);
        case 'I':
            return sa.cores_per_socket() <=> sb.cores_per_socket();
        case 'j':
            return compare_text(sa.name(), sb.name());
        case 'J':
            return sa.threads_per_core() <=> sb.threads_per_core();
        case 'l':
            return a.time_limit_min() <=> b.time_limit_min();
        case 'L':
            return time_left_s(a, now) <=> time_left_s(b, now);
        case 'm':
            return min_memory_mib(a).value_or(0) <=> min_memory_mib(b).value_or(0);
        case 'M':
            return run_time_s(a, now) <=> run_time_s(b, now);
        case 'n':
            return compare_text(sa.node_list(), sb.node_list());
        case 'N':
        case 'R':
            return compare_text(a.node_list(), b.node_list());
        case 'B':
            return compare_text(a.batch_host(), b.batch_host());
        case 'C':
            return cpu_count(a) <=> cpu_count(b);
        case 'D':
            return node_count(a) <=> node_count(b);
        case 'O':
            return sa.contiguous() <=> sb.contiguous();
        case 'p':
        case 'Q':
            return a.priority() <=> b.priority();
        case 'P':
            return compare_text(a.partition(), b.partition());
        case 'S':
            return a.start_time() <=> b.start_time();
        case 't':
        case 'T':
            return compare_text(compact_state(a), compact_state(b));
        case 'u':
            return compare_text(user_name(a), user_name(b));
        case 'U':
            return sa.uid() <=> sb.uid();
        case 'v':
            return compare_text(sa.reservation(), sb.reservation());
        case 'V':
            return a.submit_time() <=> b.submit_time();
        case 'z':
            return sa.sockets_per_node() <=> sb.sockets_per_node();
        default:
            return Order::equivalent;
    }
}

Order compare_steps(char letter, const StepOf& a, const StepOf& b) {
    switch (letter) {
        case 'i':
            if (const auto order = compare_ids(*a.job, *b.job); order != 0) return order;
            return a.step->step_id() <=> b.step->step_id();
        case 'j':
            return compare_text(a.step->name(), b.step->name());
        case 'N':
            return compare_text(a.step->node_list(), b.step->node_list());
        case 'A':
            return a.step->tasks() <=> b.step->tasks();
        case 'P':
            return compare_text(a.job->partition(), b.job->partition());
        case 'S':
        case 'M':
            return a.step->start_time() <=> b.step->start_time();
        case 'l':
            return a.step->time_limit_min() <=> b.step->time_limit_min();
        case 'u':
            return compare_text(user_name(*a.job), user_name(*b.job));
        case 'U':
            return a.step->uid() <=> b.step->uid();
        default:
            return Order::equivalent;
    }
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

void sort_jobs(std::vector<const v1::Job*>& jobs, const std::vector<SortKey>& keys, std::int64_t now) {
    std::sort(jobs.begin(), jobs.end(), [&](const v1::Job* a, const v1::Job* b) {
        for (const auto& key : keys) {
            const auto order = compare_by(key.letter, *a, *b, now);
            if (order != 0) return key.descending ? order > 0 : order < 0;
            if (key.letter == 'S') return compare_ids(*a, *b) < 0;
        }
        return comes_first(*a, *b);
    });
}

void sort_steps(std::vector<StepOf>& steps, const std::vector<SortKey>& keys, std::int64_t) {
    std::sort(steps.begin(), steps.end(), [&](const StepOf& a, const StepOf& b) {
        for (const auto& key : keys) {
            const auto order = compare_steps(key.letter, a, b);
            if (order != 0) return key.descending ? order > 0 : order < 0;
        }
        return compare_steps('i', a, b) < 0;
    });
}

}  // namespace spur::cli::squeue
