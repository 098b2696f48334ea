// Options about tasks: how they are laid out, bound, limited and ended.
#include "cli/submit/setters.hpp"

#include "core/model/distribution.hpp"
#include "core/slurm/rlimits.hpp"
#include "core/slurm/signal.hpp"
#include "core/text/lexical.hpp"

#include <algorithm>

namespace spur::cli::submit::set {
namespace {

constexpr auto stop_with_1 = ErrorCode::limit;

auto invalid(const char* option) { return fail(ErrorCode::invalid, "Invalid --{} specification", option); }

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](auto known) { return equal_nocase(word, known); });
}

}  // namespace

Set distribution(SubmitOptions& options, const char* value) {
    if (!Distribution::parse(value)) return invalid("distribution");
    options.spec.set_distribution(value);
    return {};
}

Set cpu_bind(SubmitOptions& options, const char* value) {
    for (const auto word : split_outside_brackets(value, ',')) {
        const auto type = lower(word.substr(0, word.find(':')));
        const bool a_value = !word.empty() && (is_digit(word.front()) || word.starts_with("0x"));  // of a map or mask
        if (!a_value && !is_one_of(type, {"quiet",   "q",       "verbose",  "v",         "none",      "no",
                                          "rank",    "map_cpu", "mask_cpu", "rank_ldom", "map_ldom",  "mask_ldom",
                                          "sockets", "socket",  "cores",    "core",      "threads",   "thread",
                                          "ldoms",   "ldom",    "boards",   "board",     "one_thread"}))
            return fail(ErrorCode::invalid, "unrecognized --cpu-bind argument \"{}\"", word);
    }
    options.spec.set_cpu_bind(value);
    return {};
}

Set mem_bind(SubmitOptions& options, const char* value) {
    for (const auto word : split(value, ',')) {
        const auto type = lower(word.substr(0, word.find(':')));
        if (is_one_of(type, {"quiet", "q", "verbose", "v", "none", "no"})) continue;
        if (is_one_of(type, {"local", "rank", "map_mem", "mask_mem", "prefer", "p", "sort", "nosort"}))
            return fail(stop_with_1, "--mem-bind={} is not supported yet", word);
        return fail(ErrorCode::invalid, "unrecognized --mem-bind argument \"{}\"", word);
    }
    options.spec.set_mem_bind(value);
    return {};
}

Set gpu_bind(SubmitOptions& options, const char* value) {
    std::string_view rest = value;
    if (lower(rest).starts_with("verbose,")) rest.remove_prefix(8);
    const auto type = lower(rest.substr(0, rest.find(':')));
    if (!is_one_of(type, {"closest", "map_gpu", "mask_gpu", "none", "per_task", "single", "verbose"}))
        return fail(ErrorCode::invalid, "Invalid --gpu-bind argument: gpu:{}", value);
    options.spec.set_gpu_bind(value);
    return {};
}

Set hint(SubmitOptions& options, const char* value) {
    if (!is_one_of(value, {"compute_bound", "memory_bound", "multithread", "nomultithread"}))
        return fail(stop_with_1, "unrecognized --hint argument \"{}\", see --hint=help", value);
    options.spec.set_hint(lower(value));
    return {};
}

Set kill_command(SubmitOptions& options, const char* value) {
    options.kill_command = 15;
    if (value == nullptr || *value == '\0') return {};
    const auto number = parse_signal(value);
    if (!number) return invalid("kill-command");
    options.kill_command = *number;
    return {};
}

Set kill_on_bad_exit(SubmitOptions& options, const char* value) {
    if (value && *value && std::string_view(value) != "0" && std::string_view(value) != "1")
        return invalid("kill-on-bad-exit");
    options.step.kill_on_bad_exit = value == nullptr || std::string_view(value) != "0";
    options.spec.set_kill_on_bad_exit(*options.step.kill_on_bad_exit ? 1 : 0);
    return {};
}

// MPI libraries that start by themselves (or not at all) need nothing of us.
Set mpi(SubmitOptions& options, const char* value) {
    options.step.mpi_list = is_one_of(value, {"list"});
    if (options.step.mpi_list || is_one_of(value, {"none", "openmpi"})) return {};
    return fail(stop_with_1, "--mpi={} is not supported yet; this release knows `none`", value);
}

Set profile(SubmitOptions& options, const char* value) {
    for (const auto word : split(value, ','))
        if (!is_one_of(word, {"none", "all", "energy", "task", "filesystem", "lustre", "network"}))
            return fail(ErrorCode::invalid, "invalid --profile={} option", value);
    if (!is_one_of(value, {"none"})) return fail(stop_with_1, "--profile={} is not supported yet", value);
    options.spec.set_profile("None");
    return {};
}

Set propagate(SubmitOptions& options, const char* value) {
    const std::string_view list = value && *value ? value : "ALL";
    for (const auto word : split(list, ','))
        if (!is_one_of(word, {"ALL", "NONE"}) &&
            std::ranges::none_of(process_limits, [&](const auto& limit) { return equal_nocase(limit.name, word); }))
            return fail(stop_with_1, "Bad rlimit name: {}\n--propagate={} is not valid.", word, list);
    options.propagate = list;
    return {};
}

Set pty(SubmitOptions& options, const char*) {
    options.step.pty = true;
    options.step.unbuffered = true;
    return {};
}

Set verbose_variable(SubmitOptions& options, const char* value) {
    if (value == nullptr) return ++options.verbose, Set{};
    const auto level = find_unsigned(value);
    options.verbose = level ? static_cast<int>(std::min<std::uint64_t>(*level, 9)) : 0;
    return {};
}

Set wait_seconds(SubmitOptions& options, const char* value) {
    const auto seconds = find_unsigned(value);
    if (!seconds || *seconds > 0xffffff) return fail(stop_with_1, "Invalid numeric value \"{}\" for --wait.", value);
    options.step.wait_s = static_cast<std::uint32_t>(*seconds);
    return {};
}

}  // namespace spur::cli::submit::set
