// Reading and printing --array and job ids; what they hold is in task_set.cpp.
#include "core/model/array_spec.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

namespace spur {

// ---- --array -------------------------------------------------------------------------------------------------------

namespace {

using Run = TaskSet::Run;
constexpr auto everything = std::numeric_limits<std::size_t>::max();

// "7", "0-15", "0-15:4", each id below `max_size`; the error says why not.
Result<Run> parse_part(std::string_view text, std::uint32_t max_size) {
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
    return TaskSet::range(static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last), small_step)
        .runs()
        .front();
}

Result<TaskSet> parse_tasks(std::string_view text, std::uint32_t max_size, std::size_t most_mixed) {
    std::vector<Run> parts;
    for (const auto piece : split(text, ',')) {
        if (trim(piece).empty()) continue;  // Slurm lets "1,,2" pass
        SPUR_TRY(parts.emplace_back(), parse_part(trim(piece), max_size));
    }
    if (parts.empty()) return fail(ErrorCode::invalid, "it names no task");
    auto tasks = TaskSet::united(std::move(parts), most_mixed);
    if (!tasks)
        return fail(ErrorCode::limit, "its ranges overlap with different steps; name each task once, in fewer ranges");
    return *std::move(tasks);
}

// In proportion to the text, so that reading it is too.
std::size_t most_mixed_in(std::string_view text) { return text.size() * mixed_tasks_per_byte; }

std::string throttle(std::uint32_t max_running) { return max_running ? fmt::format("%{}", max_running) : ""; }

Result<ArraySpec> parse_array(std::string_view text, std::uint32_t max_size, std::size_t most_mixed) {
    const auto refuse = [&](const std::string& why) {
        return fail(refusal::invalid_array.with(" {}: {}", quoted(text), why));
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
    auto tasks = parse_tasks(list, std::min(max_size, highest_max_array_size), most_mixed);
    if (!tasks) return refuse(tasks.error().text);
    spec.tasks = *std::move(tasks);
    return spec;
}

}  // namespace

Result<ArraySpec> ArraySpec::parse(std::string_view text, std::uint32_t max_size) {
    return parse_array(text, max_size, most_mixed_in(text));
}

Result<ArraySpec> ArraySpec::parse_accepted(std::string_view text, std::uint32_t max_size) {
    return parse_array(text, max_size, everything);
}

std::string ArraySpec::str() const { return tasks.str() + throttle(max_running); }

std::string ArraySpec::elided(std::size_t room) const {
    if (const auto short_form = tasks.progression()) return *short_form + throttle(max_running);
    auto text = tasks.ranges(room == 0 ? everything : room);
    if (room > 0 && text.size() + 3 > room) {
        text.resize(room > 4 ? room - 4 : 0);
        text += std::string_view{"..."}.substr(0, std::min<std::size_t>(3, room - 1));
    }
    return text + throttle(max_running);
}

// ---- the ids users type --------------------------------------------------------------------------------------------

namespace {

std::optional<std::uint32_t> find_id(std::string_view text) {
    constexpr std::uint32_t first_special = 0xfffffff0;
    const auto value = find_unsigned(text);
    return value && *value < first_special ? std::optional{static_cast<std::uint32_t>(*value)} : std::nullopt;
}

}  // namespace

std::string print_step_id(std::uint32_t step) {
    for (const auto& [id, name] : named_steps)
        if (id == step) return std::string{name};
    return fmt::format("{}", step);
}

std::optional<std::uint32_t> find_step_id(std::string_view text) {
    for (const auto& [id, name] : named_steps)
        if (name == text) return id;
    return find_id(text);
}

Result<JobRef> JobRef::parse(std::string_view text) {
    const auto refuse = [&](std::string_view why) {
        return fail(ErrorCode::invalid, "Invalid job id: {} ({})", text.substr(0, 80), why);
    };
    if (text.size() > max_job_ref_bytes) return refuse("longer than 64 KiB");
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
    auto tasks = parse_tasks(rest, highest_max_array_size, most_mixed_in(rest));
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
