#include "core/array_spec.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/lexical.hpp"

namespace spur {
namespace {

using Run = TaskSet::Run;

bool is_single(const Run& run) { return run.first == run.last; }
std::size_t size_of(const Run& run) { return (run.last - run.first) / run.step + 1; }
Run run_of(std::uint32_t first, std::uint32_t last, std::uint32_t step) {
    return {first, last, first == last ? 1 : step};
}

// Adds a run that lies after all others, joined to the last one where both make a single progression.
void push_run(std::vector<Run>& runs, Run run) {
    if (!runs.empty()) {
        auto& last = runs.back();
        const auto gap = run.first - last.last;
        const bool continues_last = is_single(last) || last.step == gap;
        const bool continues_run = is_single(run) || run.step == gap;
        if (continues_last && continues_run) {
            last = {last.first, run.last, gap};
            return;
        }
    }
    runs.push_back(run);
}

template <class Visit>
void for_each_id(const std::vector<Run>& runs, const Visit& visit) {
    for (const auto& run : runs)
        for (std::uint64_t id = run.first; id <= run.last; id += run.step) visit(static_cast<std::uint32_t>(id));
}

// The run that holds `id` or the first one after it.
auto run_at(const std::vector<Run>& runs, std::uint32_t id) {
    return std::ranges::lower_bound(runs, id, {}, &Run::last);
}

bool holds(const Run& run, std::uint32_t id) {
    return id >= run.first && id <= run.last && (id - run.first) % run.step == 0;
}

// "0-3,5" of at most `enough` characters, or somewhat longer: the rest is not needed.
std::string print_ranges(const std::vector<Run>& runs, std::size_t enough) {
    std::string text;
    std::optional<std::pair<std::uint32_t, std::uint32_t>> open;
    const auto close = [&] {
        if (!open) return;
        if (!text.empty()) text += ',';
        text += open->first == open->second ? fmt::format("{}", open->first)
                                            : fmt::format("{}-{}", open->first, open->second);
    };
    const auto extend = [&](std::uint32_t first, std::uint32_t last) {
        if (open && open->second + 1 == first) {
            open->second = last;
        } else {
            close();
            open = {first, last};
        }
    };
    for (const auto& run : runs) {
        if (run.step == 1) {
            extend(run.first, run.last);
            continue;
        }
        for (std::uint64_t id = run.first; id <= run.last && text.size() <= enough; id += run.step)
            extend(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id));
    }
    close();
    return text;
}

// Slurm writes one long progression as first-last:step, and shorter ones in full.
std::optional<std::string> progression(const TaskSet& tasks) {
    constexpr std::size_t listed_in_full = 5;
    if (tasks.runs().size() != 1) return std::nullopt;
    const auto& run = tasks.runs().front();
    if (run.step == 1 || size_of(run) <= listed_in_full) return std::nullopt;
    return fmt::format("{}-{}:{}", run.first, run.last, run.step);
}

constexpr std::size_t everything = std::numeric_limits<std::size_t>::max();

}  // namespace

// ---- task sets -----------------------------------------------------------------------------------------------------

TaskSet TaskSet::range(std::uint32_t first, std::uint32_t last, std::uint32_t step) {
    TaskSet set;
    if (first <= last && step > 0) set.runs_.push_back(run_of(first, last - (last - first) % step, step));
    return set;
}

TaskSet TaskSet::of(std::vector<std::uint32_t> ids) {
    std::ranges::sort(ids);
    const auto repeats = std::ranges::unique(ids);
    ids.erase(repeats.begin(), repeats.end());
    TaskSet set;
    for (const auto id : ids) push_run(set.runs_, run_of(id, id, 1));
    return set;
}

std::optional<TaskSet> TaskSet::from_runs(std::vector<Run> runs) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto& run = runs[i];
        if (run.step == 0 || run.first > run.last || (run.last - run.first) % run.step != 0) return std::nullopt;
        if (is_single(run) && run.step != 1) return std::nullopt;
        if (i > 0 && run.first <= runs[i - 1].last) return std::nullopt;
    }
    TaskSet set;
    set.runs_ = std::move(runs);
    return set;
}

std::size_t TaskSet::size() const {
    std::size_t total = 0;
    for (const auto& run : runs_) total += size_of(run);
    return total;
}

bool TaskSet::contains(std::uint32_t id) const {
    const auto run = run_at(runs_, id);
    return run != runs_.end() && holds(*run, id);
}

std::optional<std::uint32_t> TaskSet::last() const {
    if (runs_.empty()) return std::nullopt;
    return runs_.back().last;
}

std::optional<std::uint32_t> TaskSet::next(std::uint32_t from) const {
    const auto run = run_at(runs_, from);
    if (run == runs_.end()) return std::nullopt;
    if (from <= run->first) return run->first;
    const auto past = (from - run->first) % run->step;
    return past == 0 ? from : from - past + run->step;
}

bool TaskSet::insert(std::uint32_t id) {
    if (contains(id)) return false;
    std::vector<Run> runs;
    runs.reserve(runs_.size() + 2);
    bool is_placed = false;
    for (const auto& run : runs_) {
        if (is_placed || run.last < id) {
            push_run(runs, run);
            continue;
        }
        is_placed = true;
        if (run.first < id) {  // between two members of a run with a step
            const auto below = id - (id - run.first) % run.step;
            push_run(runs, run_of(run.first, below, run.step));
            push_run(runs, run_of(id, id, 1));
            push_run(runs, run_of(below + run.step, run.last, run.step));
        } else {
            push_run(runs, run_of(id, id, 1));
            push_run(runs, run);
        }
    }
    if (!is_placed) push_run(runs, run_of(id, id, 1));
    runs_ = std::move(runs);
    return true;
}

bool TaskSet::remove(std::uint32_t id) {
    const auto found = run_at(runs_, id);
    if (found == runs_.end() || !holds(*found, id)) return false;
    const auto at = runs_.begin() + (found - runs_.begin());
    const auto run = *at;
    if (is_single(run)) {
        runs_.erase(at);
    } else if (id == run.first) {
        *at = run_of(run.first + run.step, run.last, run.step);
    } else if (id == run.last) {
        *at = run_of(run.first, run.last - run.step, run.step);
    } else {
        *at = run_of(run.first, id - run.step, run.step);
        runs_.insert(at + 1, run_of(id + run.step, run.last, run.step));
    }
    return true;
}

TaskSet TaskSet::operator&(const TaskSet& other) const {
    if (other.size() < size()) return other & *this;
    TaskSet set;
    for_each_id(runs_, [&](auto id) {
        if (other.contains(id)) push_run(set.runs_, run_of(id, id, 1));
    });
    return set;
}

TaskSet TaskSet::operator-(const TaskSet& other) const {
    TaskSet set;
    for_each_id(runs_, [&](auto id) {
        if (!other.contains(id)) push_run(set.runs_, run_of(id, id, 1));
    });
    return set;
}

TaskSet TaskSet::operator|(const TaskSet& other) const {
    if (other.empty()) return *this;
    if (empty()) return other;
    TaskSet set;
    for (auto a = first(), b = other.first(); a || b;) {
        const auto id = !b || (a && *a <= *b) ? *a : *b;
        push_run(set.runs_, run_of(id, id, 1));
        if (a && *a == id) a = id == std::numeric_limits<std::uint32_t>::max() ? std::nullopt : next(id + 1);
        if (b && *b == id) b = id == std::numeric_limits<std::uint32_t>::max() ? std::nullopt : other.next(id + 1);
    }
    return set;
}

bool TaskSet::operator==(const TaskSet& other) const {
    if (runs_ == other.runs_) return true;
    return size() == other.size() && ids() == other.ids();  // the same ids may be cut into runs in more than one way
}

std::vector<std::uint32_t> TaskSet::ids() const {
    std::vector<std::uint32_t> result;
    result.reserve(size());
    for_each_id(runs_, [&](auto id) { result.push_back(id); });
    return result;
}

std::string TaskSet::str() const { return progression(*this).value_or(print_ranges(runs_, everything)); }

// ---- --array -------------------------------------------------------------------------------------------------------

namespace {

struct Part {
    std::uint32_t first{};
    std::uint32_t last{};
    std::uint32_t step{1};
};

// "7", "0-15", "0-15:4", each id below `max_size`; the error says why not.
Result<Part> parse_part(std::string_view text, std::uint32_t max_size) {
    const auto colon = text.find(':');
    const auto range = text.substr(0, colon);
    const auto dash = range.find('-');
    const auto first = find_unsigned(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : find_unsigned(range.substr(dash + 1));
    const auto step =
        colon == std::string_view::npos ? std::optional<std::uint64_t>{1} : find_unsigned(text.substr(colon + 1));
    const bool needs_range = colon != std::string_view::npos && dash == std::string_view::npos;
    if (!first || !last || !step || needs_range)
        return fail(ErrorCode::invalid, "{} is not a task id, first-last or first-last:step", quoted(text));
    if (*last < *first) return fail(ErrorCode::invalid, "{} runs backwards", quoted(text));
    if (*step == 0) return fail(ErrorCode::invalid, "{} has a step of 0", quoted(text));
    if (*last >= max_size)
        return fail(ErrorCode::limit, "task id {} is not below the cluster's MaxArraySize of {}", *last, max_size);
    const auto small_step = static_cast<std::uint32_t>(std::min<std::uint64_t>(*step, max_size));
    return Part{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last), small_step};
}

Result<TaskSet> parse_tasks(std::string_view text, std::uint32_t max_size) {
    std::vector<Part> parts;
    for (const auto piece : split(text, ',')) {
        if (trim(piece).empty()) continue;  // Slurm lets "1,,2" pass
        SPUR_TRY(parts.emplace_back(), parse_part(trim(piece), max_size));
    }
    if (parts.empty()) return fail(ErrorCode::invalid, "it names no task");
    std::ranges::sort(parts, {}, &Part::first);
    const bool is_ordered = std::ranges::adjacent_find(
                                parts, [](const Part& a, const Part& b) { return a.last >= b.first; }) == parts.end();
    if (is_ordered) {
        std::vector<Run> runs;
        for (const auto& [first, last, step] : parts) push_run(runs, TaskSet::range(first, last, step).runs().front());
        return *TaskSet::from_runs(std::move(runs));
    }
    std::vector<bool> is_member(std::ranges::max(parts, {}, &Part::last).last + 1);
    for (const auto& [first, last, step] : parts)
        for (std::uint64_t id = first; id <= last; id += step) is_member[id] = true;
    std::vector<std::uint32_t> ids;
    for (std::uint32_t id = 0; id < is_member.size(); ++id)
        if (is_member[id]) ids.push_back(id);
    return TaskSet::of(std::move(ids));
}

std::string throttle(std::uint32_t max_running) { return max_running ? fmt::format("%{}", max_running) : ""; }

}  // namespace

Result<ArraySpec> ArraySpec::parse(std::string_view text, std::uint32_t max_size) {
    const auto refuse = [&](const std::string& why) {
        return fail(ErrorCode::invalid, "Invalid job array specification {}: {}", quoted(text), why);
    };
    auto list = trim(text);
    ArraySpec spec;
    if (const auto percent = list.find('%'); percent != std::string_view::npos) {
        const auto count = find_unsigned(list.substr(percent + 1));
        if (!count || *count > std::numeric_limits<std::uint32_t>::max())
            return refuse("after % goes the number of tasks that may run at once");
        spec.max_running = static_cast<std::uint32_t>(*count);
        list = list.substr(0, percent);
    }
    if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
    auto tasks = parse_tasks(list, std::min(max_size, highest_max_array_size));
    if (!tasks) return refuse(tasks.error().text);
    spec.tasks = *std::move(tasks);
    return spec;
}

std::string ArraySpec::str() const { return tasks.str() + throttle(max_running); }

std::string ArraySpec::elided(std::size_t room) const {
    if (const auto short_form = progression(tasks)) return *short_form + throttle(max_running);
    auto text = print_ranges(tasks.runs(), room == 0 ? everything : room);
    if (room > 0 && text.size() + 3 > room) {
        text.resize(room > 4 ? room - 4 : 0);
        text += std::string_view{"..."}.substr(0, std::min<std::size_t>(3, room - 1));
    }
    return text + throttle(max_running);
}

// ---- the ids users type --------------------------------------------------------------------------------------------

namespace {

struct NamedStep {
    std::string_view name;
    std::uint32_t id;
};
constexpr std::array named_steps{NamedStep{"batch", step_batch}, NamedStep{"extern", step_extern},
                                 NamedStep{"interactive", step_interactive}};

std::optional<std::uint32_t> find_id(std::string_view text) {
    constexpr std::uint32_t first_special = 0xfffffff0;
    const auto value = find_unsigned(text);
    return value && *value < first_special ? std::optional{static_cast<std::uint32_t>(*value)} : std::nullopt;
}

}  // namespace

std::string print_step_id(std::uint32_t step) {
    for (const auto& [name, id] : named_steps)
        if (id == step) return std::string{name};
    return fmt::format("{}", step);
}

std::optional<std::uint32_t> find_step_id(std::string_view text) {
    for (const auto& [name, id] : named_steps)
        if (name == text) return id;
    return find_id(text);
}

Result<JobRef> JobRef::parse(std::string_view text) {
    const auto refuse = [&](std::string_view why) {
        return fail(ErrorCode::invalid, "Invalid job id: {} ({})", text.substr(0, 80), why);
    };
    auto rest = trim(text);
    JobRef ref;
    const auto digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto job = find_id(rest.substr(0, digits));
    if (!job || *job == 0) return fail(ErrorCode::invalid, "Invalid job id: {}", text.substr(0, 80));
    ref.job = *job;
    rest.remove_prefix(digits);

    if (const auto dot = rest.rfind('.'); dot != std::string_view::npos) {
        ref.step = find_step_id(rest.substr(dot + 1));
        if (!ref.step) return refuse("after the dot goes a step number, batch, extern or interactive");
        rest = rest.substr(0, dot);
    }
    if (rest.empty()) return ref;
    const char kind = rest.front();
    rest.remove_prefix(1);
    if (kind == '+') {
        ref.component = find_id(rest);
        if (!ref.component) return refuse("after the + goes a component number");
        return ref;
    }
    if (kind != '_') return fail(ErrorCode::invalid, "Invalid job id: {}", text.substr(0, 80));
    if (rest == "*" || rest == "[*]") {
        ref.all_tasks = true;
        return ref;
    }
    if (rest.starts_with('[') != rest.ends_with(']')) return refuse("unclosed bracket");
    if (rest.starts_with('[')) rest = rest.substr(1, rest.size() - 2);
    auto tasks = parse_tasks(rest, highest_max_array_size);
    if (!tasks) return refuse(tasks.error().text);
    ref.tasks = *std::move(tasks);
    return ref;
}

std::string JobRef::str() const {
    auto text = fmt::format("{}", job);
    if (all_tasks)
        text += "_*";
    else if (tasks.size() == 1)
        text += fmt::format("_{}", *tasks.first());
    else if (!tasks.empty())
        text += fmt::format("_[{}]", tasks.str());
    if (component) text += fmt::format("+{}", *component);
    if (step) text += "." + print_step_id(*step);
    return text;
}

Result<std::vector<JobRef>> parse_job_refs(std::string_view text) {
    std::vector<JobRef> refs;
    for (const auto part : split_outside_brackets(text, ',')) {
        if (trim(part).empty()) continue;
        SPUR_TRY(refs.emplace_back(), JobRef::parse(part));
    }
    return refs;
}

}  // namespace spur
