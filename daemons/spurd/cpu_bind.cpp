// Dealing cores, threads and masks out to tasks, mode by mode.
#include "daemons/spurd/cpu_bind.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"
#include "daemons/spurd/hardware.hpp"

namespace spur::agent {

namespace {

using Cpus = std::vector<std::uint32_t>;

constexpr std::size_t longest_mode = 256 * 1024;  // a mask of 256 CPUs for each of 4000 tasks

Cpus all_of(const std::vector<Cpus>& cores) {
    Cpus all;
    for (const auto& core : cores) all.insert(all.end(), core.begin(), core.end());
    std::ranges::sort(all);
    return all;
}

std::unexpected<Error> not_here(std::string_view what, const BindRequest& request) {
    return fail(refusal::cpu_bind.with(": {} names a CPU beyond {}, the last of this node", what.substr(0, 40),
                                       request.cpu_count - 1));
}

// Bits of "0x5" or "5", lowest first.
Result<Cpus> cpus_of_mask(std::string_view mask, const BindRequest& request) {
    const auto given = mask;
    if (mask.starts_with("0x") || mask.starts_with("0X")) mask.remove_prefix(2);
    mask.remove_prefix(std::min(mask.find_first_not_of('0'), mask.size()));
    if (mask.size() > (request.cpu_count + 3) / 4) return not_here(given, request);
    Cpus cpus;
    for (std::uint32_t digit = 0; digit < mask.size(); ++digit) {
        const char c = mask[mask.size() - 1 - digit];
        const int value = is_digit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 0;
        for (std::uint32_t bit = 0; bit < 4; ++bit)
            if (value >> bit & 1) cpus.push_back(digit * 4 + bit);
    }
    if (!cpus.empty() && cpus.back() >= request.cpu_count) return not_here(given, request);
    return cpus;
}

// Consecutive units, as many for each task as it has CPUs, going round when there are fewer than that.
std::vector<Cpus> deal(const std::vector<Cpus>& units, std::uint32_t tasks, std::uint32_t each) {
    std::vector<Cpus> dealt(tasks);
    for (std::uint32_t task = 0; task < tasks; ++task) {
        for (std::uint32_t i = 0; i < each; ++i) {
            const auto& unit = units[(std::size_t{task} * each + i) % units.size()];
            dealt[task].insert(dealt[task].end(), unit.begin(), unit.end());
        }
        std::ranges::sort(dealt[task]);
        const auto [first, last] = std::ranges::unique(dealt[task]);
        dealt[task].erase(first, last);
    }
    return dealt;
}

Result<std::vector<Cpus>> listed(std::string_view list, const BindRequest& request, bool masks) {
    std::vector<Cpus> given;
    for (const auto part : split(list, ',')) {
        Cpus cpus;
        if (masks) {
            SPUR_TRY(cpus, cpus_of_mask(part, request));
        } else if (const auto cpu = find_unsigned(part)) {
            if (*cpu >= request.cpu_count) return not_here(part, request);
            cpus.push_back(static_cast<std::uint32_t>(*cpu));
        }
        if (!cpus.empty() && given.size() < request.tasks) given.push_back(std::move(cpus));
    }
    return given.empty() ? given : deal(given, request.tasks, 1);
}

std::vector<Cpus> single_cpus(const Cpus& all) {
    std::vector<Cpus> units;
    for (const auto cpu : all) units.push_back({cpu});
    return units;
}

Result<std::vector<Cpus>> by_mode(std::string_view mode, std::string_view list, const BindRequest& request) {
    const auto all = all_of(request.cores);
    const auto threads =
        request.cores.empty() ? std::size_t{1} : std::max<std::size_t>(request.cores.front().size(), 1);
    const auto cores_each =
        static_cast<std::uint32_t>(std::max<std::size_t>((request.cpus_per_task + threads - 1) / threads, 1));
    if (mode == "map_cpu") return listed(list, request, false);
    if (mode == "mask_cpu") return listed(list, request, true);
    if (mode == "rank") return deal(single_cpus(all), request.tasks, 1);
    if (mode == "threads") return deal(single_cpus(all), request.tasks, request.cpus_per_task);
    if (mode == "cores") return deal(request.cores, request.tasks, cores_each);
    return deal({all}, request.tasks, 1);  // automatic, sockets, ldoms: all that the step has here
}

}  // namespace

std::string cpu_mask(const Cpus& cpus) {
    if (cpus.empty()) return "0x0";
    const auto highest = *std::ranges::max_element(cpus);
    std::vector<unsigned> digits(highest / 4 + 1, 0);
    for (const auto cpu : cpus) digits[digits.size() - 1 - cpu / 4] |= 1U << cpu % 4;
    std::string text{"0x"};
    for (const auto digit : digits) text += "0123456789ABCDEF"[digit];
    return text;
}

Result<Binding> bind_tasks(const BindRequest& request) {
    if (request.mode.size() > longest_mode)
        return fail(ErrorCode::limit, "--cpu-bind has {} characters; up to {} are taken", request.mode.size(),
                    longest_mode);
    Binding binding;
    std::string mode, list;
    bool none = false;
    std::string_view rest{request.mode};
    while (!rest.empty() && mode.empty()) {
        const auto word = rest.substr(0, rest.find_first_of(",:"));
        const bool has_list = word.size() < rest.size() && rest[word.size()] == ':';
        if (equal_nocase(word, "verbose") || equal_nocase(word, "v"))
            binding.verbose = true;
        else if (equal_nocase(word, "none") || equal_nocase(word, "no"))
            none = true;
        else if (!equal_nocase(word, "quiet") && !equal_nocase(word, "q"))
            mode = lower(word);
        rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        if (has_list) list = rest, rest = {};
    }
    if (none || request.cores.empty() || request.tasks == 0) return binding;

    SPUR_TRY(auto sets, by_mode(mode, list, request));
    if (sets.empty()) {
        SPUR_TRY(sets, by_mode("", "", request));
    }
    std::vector<std::string> masks;
    for (const auto& cpus : sets) {
        binding.cpu_lists.push_back(compress_numbers(cpus));
        masks.push_back(cpu_mask(cpus));
    }
    if (std::ranges::all_of(masks, [&](const auto& mask) { return mask == masks.front(); })) masks.resize(1);
    const auto text = fmt::format("{}", fmt::join(masks, ","));
    const auto* const loudness = binding.verbose ? "verbose" : "quiet";
    binding.variables = {fmt::format("SLURM_CPU_BIND={},mask_cpu:{}", loudness, text), "SLURM_CPU_BIND_LIST=" + text,
                         "SLURM_CPU_BIND_TYPE=mask_cpu:", fmt::format("SLURM_CPU_BIND_VERBOSE={}", loudness)};
    return binding;
}

}  // namespace spur::agent
