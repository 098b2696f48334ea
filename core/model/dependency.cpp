// Parsing and printing dependency lists.
#include "core/model/dependency.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/model/array_spec.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

namespace spur {
namespace {

constexpr std::size_t max_entries = 4096;

struct NamedType {
    std::string_view name;
    DependencyType type;
};
constexpr std::array named_types{
    NamedType{"after", DependencyType::after},          NamedType{"afterany", DependencyType::after_any},
    NamedType{"afterok", DependencyType::after_ok},     NamedType{"afternotok", DependencyType::after_not_ok},
    NamedType{"aftercorr", DependencyType::after_corr}, NamedType{"afterburstbuffer", DependencyType::burst_buffer},
    NamedType{"singleton", DependencyType::singleton},
};

std::optional<DependencyType> find_type(std::string_view name) {
    const auto found = std::ranges::find_if(named_types, [&](const auto& t) { return equal_nocase(t.name, name); });
    return found == named_types.end() ? std::nullopt : std::optional{found->type};
}

template <class... Args>
std::unexpected<Error> problem(fmt::format_string<Args...> why, Args&&... args) {
    return fail(refusal::dependency_problem.with(": {}", fmt::format(why, std::forward<Args>(args)...)));
}

void add(std::vector<Dependency>& entries, const Dependency& entry) {
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
}

// "13", "13_4", "13_[1-3]", "13+10"
Result<void> parse_target(std::string_view text, DependencyType type, std::vector<Dependency>& entries) {
    Dependency entry{.type = type};
    const auto plus = text.find('+');
    if (plus != std::string_view::npos) {
        const auto minutes = find_unsigned(text.substr(plus + 1));
        if (!minutes || *minutes == 0 || *minutes > std::numeric_limits<std::uint32_t>::max())
            return problem("after the + in {} goes a number of minutes above 0", quoted(text));
        entry.delay_min = static_cast<std::uint32_t>(*minutes);
    }
    const auto ref = JobRef::parse(text.substr(0, plus));
    if (!ref || ref->step) return problem("{} is not a job id", quoted(text));
    entry.job = ref->job;
    entry.all_tasks = ref->all_tasks;
    if (entries.size() + ref->tasks.size() >= max_entries) return problem("more than {} jobs and tasks", max_entries);
    if (ref->tasks.empty()) add(entries, entry);
    for (const auto task : ref->tasks.ids()) {
        entry.task = task;
        add(entries, entry);
    }
    return {};
}

// "afterok:12:13_4", "singleton", "12"
Result<void> parse_clause(std::string_view text, std::vector<Dependency>& entries) {
    const bool is_bare = !text.empty() && is_digit(text.front());
    const auto colon = is_bare ? std::string_view::npos : text.find(':');
    const auto name = is_bare ? std::string_view{"afterany"} : text.substr(0, colon);
    const auto type = find_type(name);
    if (!type)
        return problem("{} is not one of after, afterany, afterok, afternotok, aftercorr, afterburstbuffer, singleton",
                       quoted(name));
    const bool has_targets = is_bare || colon != std::string_view::npos;
    if (*type == DependencyType::singleton) {
        if (has_targets) return problem("singleton takes no job id");
        add(entries, {.type = *type});
        return {};
    }
    if (!has_targets) return problem("{} needs a job id, as in {}:123", name, name);
    for (const auto target : split(is_bare ? text : text.substr(colon + 1), ':'))
        SPUR_CHECK(parse_target(trim(target), *type, entries));
    return {};
}

std::string print_entry(const Dependency& entry) {
    auto text = std::string{dependency_name(entry.type)};
    if (entry.type == DependencyType::singleton) return text;
    text += fmt::format(":{}", entry.job);
    if (entry.task) text += fmt::format("_{}", *entry.task);
    if (entry.all_tasks) text += "_*";
    if (entry.delay_min) text += fmt::format("+{}", entry.delay_min);
    return text;
}

std::string_view state_name(DependencyState state) {
    switch (state) {
        case DependencyState::unfulfilled:
            return "unfulfilled";
        case DependencyState::failed:
            return "failed";
        case DependencyState::fulfilled:
            return "fulfilled";
    }
    return "unfulfilled";
}

}  // namespace

std::string_view dependency_name(DependencyType type) {
    return std::ranges::find(named_types, type, &NamedType::type)->name;
}

Result<DependencyList> DependencyList::parse(std::string_view text) {
    DependencyList list;
    if (trim(text).empty()) return list;
    list.any = text.find('?') != std::string_view::npos;
    for (const auto& all : split_outside_brackets(text, ','))
        for (const auto clause : split(all, '?')) SPUR_CHECK(parse_clause(trim(clause), list.entries));
    return list;
}

std::string DependencyList::str() const {
    std::string text;
    for (const auto& entry : entries) {
        if (!text.empty()) text += any ? '?' : ',';
        text += print_entry(entry);
    }
    return text;
}

std::string DependencyList::with_state() const {
    std::string text;
    for (const auto& entry : entries) {
        if (!text.empty()) text += any ? '?' : ',';
        text += fmt::format("{}({})", print_entry(entry), state_name(entry.state));
    }
    return text;
}

}  // namespace spur
