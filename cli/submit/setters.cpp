// What each option of sbatch, srun and salloc does to the request.
#include "cli/submit/setters.hpp"

#include "cli/common/users.hpp"
#include "core/model/gres.hpp"
#include "core/slurm/mail_type.hpp"
#include "core/slurm/refusal.hpp"
#include "core/slurm/sampling.hpp"
#include "core/slurm/signal.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace spur::cli::submit::set {
namespace {

constexpr auto stop_with_1 = ErrorCode::limit;

auto invalid(const char* option) { return fail(ErrorCode::invalid, "Invalid --{} specification", option); }

Result<std::uint64_t> memory(const char* option, const char* value) {
    const auto mib = parse_mib(value);
    if (!mib) return invalid(option);
    return *mib;
}

Result<std::string> gpu_list(const char* value) {
    const auto list = parse_gres(gres_of_gpus(value));
    if (!list || list->empty()) return fail(refusal::invalid_gres.as(stop_with_1));
    return print_gres(*list);
}

// Node names from a file, separated by anything blank or by commas.
Result<std::string> names_in(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr)
        return fail(ErrorCode::invalid,
                    "slurm_allocate_resources error opening file {}, {}\nInvalid --nodefile node file", path,
                    std::strerror(errno));
    std::string text;
    char buffer[4096];
    for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, count);
    std::fclose(file);
    HostList names;
    std::string word;
    for (const char c : text + "\n") {
        if (!is_blank(c)) {
            word += c;
            continue;
        }
        if (word.empty()) continue;
        auto more = HostList::parse(word);
        if (!more) return fail(ErrorCode::invalid, "{}: {}", path, more.error().text);
        names.append(*more);
        word.clear();
    }
    return names.str();
}

// A list of nodes, or a file of them where the text looks like a path.
Result<std::string> names_or_file(const char* value) {
    if (std::strchr(value, '/') != nullptr) return names_in(value);
    return std::string(value);
}

}  // namespace

Set array(SubmitOptions& options, const char* value) {
    options.spec.set_array(value);
    return {};
}

Set begin(SubmitOptions& options, const char* value) {
    const auto time = parse_time(value, std::time(nullptr));
    if (!time) return fail(ErrorCode::invalid, "{}\nInvalid --begin specification", time.error().text);
    options.spec.set_begin(*time);
    return {};
}

Set deadline(SubmitOptions& options, const char* value) {
    const auto time = parse_time(value, std::time(nullptr));
    if (!time) return fail(ErrorCode::invalid, "{}\nInvalid --deadline specification", time.error().text);
    options.spec.set_deadline(*time);
    return {};
}

Set clusters(SubmitOptions& options, const char* value) {
    options.clusters = value;
    return {};
}

Set constraint(SubmitOptions& options, const char* value) {
    options.spec.set_features(value);
    return {};
}

Set acctg_freq(SubmitOptions& options, const char* value) {
    const auto tasks_s = parse_sampling(value);
    if (!tasks_s && tasks_s.error().code == ErrorCode::limit)
        return fail(ErrorCode::limit, "--acctg-freq={}: {}", value, tasks_s.error().text);
    if (!tasks_s) return fail(ErrorCode::invalid, "Invalid --acctg-freq specification: {}", value);
    if (*tasks_s) options.spec.set_sample_s(**tasks_s);
    return {};
}

Set delay_boot(SubmitOptions& options, const char* value) {
    const auto seconds = parse_duration_s(value);
    if (!seconds || *seconds < 0) return invalid("delay-boot");
    options.spec.set_delay_boot_s(static_cast<std::uint32_t>(*seconds));
    return {};
}

Set exclude(SubmitOptions& options, const char* value) {
    SPUR_TRY(*options.spec.mutable_exclude_nodes(), names_or_file(value));
    return {};
}

Set exclusive(SubmitOptions& options, const char* value) {
    if (value == nullptr || *value == '\0') {
        options.spec.set_exclusive(1);
        options.step.exclusive = true;
    } else if (equal_nocase(value, "user")) {
        options.spec.set_exclusive(2);
    } else if (equal_nocase(value, "mcs")) {
        options.spec.set_exclusive(3);
    } else {
        return invalid("exclusive");
    }
    return {};
}

// -B sockets[:cores[:threads]], an asterisk for "any".
Set extra_node_info(SubmitOptions& options, const char* value) {
    const auto parts = split(value, ':');
    if (parts.size() > 3) return invalid("extra-node-info");
    const auto number = [&](std::size_t i) -> std::optional<std::uint32_t> {
        if (i >= parts.size() || parts[i] == "*" || parts[i].empty()) return std::nullopt;
        const auto found = find_unsigned(parts[i]);
        return found && *found > 0 && *found < 65536 ? static_cast<std::uint32_t>(*found) : 0U;
    };
    auto& spec = options.spec;
    const auto sockets = number(0), cores = number(1), threads = number(2);
    if (sockets == 0U || cores == 0U || threads == 0U) return invalid("extra-node-info");
    spec.clear_sockets_per_node(), spec.clear_cores_per_socket(), spec.clear_threads_per_core();
    if (sockets) spec.set_sockets_per_node(*sockets);
    if (cores) spec.set_cores_per_socket(*cores);
    if (threads) spec.set_threads_per_core(*threads);
    return {};
}

Set uid(SubmitOptions& options, const char* value) {
    const auto found = find_user(value);
    if (!found) return invalid("uid");
    options.spec.set_uid(*found);
    options.spec.set_set_uid(true);
    return {};
}

// "[seconds][S|L]": how long the login shell may take, and a short or a full login. A node has its own patience, and
// its logins are full ones.
Set get_user_env(SubmitOptions& options, const char* value) {
    std::string_view text = value ? value : "";
    const bool is_short = text.ends_with('S') || text.ends_with('s');
    if (is_short || text.ends_with('L') || text.ends_with('l')) text.remove_suffix(1);
    if (!text.empty() && !find_unsigned(text)) return invalid("get-user-env");
    if (is_short || !text.empty())
        return fail(ErrorCode::limit,
                    "--get-user-env={} is not supported yet by this release of Spur: give it without a time, or as "
                    "--get-user-env=L",
                    value);
    options.login_environment = true;
    return {};
}

Set gid(SubmitOptions& options, const char* value) {
    const auto found = find_group(value);
    if (!found) return invalid("gid");
    options.spec.set_gid(*found);
    options.spec.set_set_uid(true);
    return {};
}

Set gpus(SubmitOptions& options, const char* value) {
    SPUR_TRY(*options.spec.mutable_gres_per_job(), gpu_list(value));
    return {};
}
Set gpus_per_node(SubmitOptions& options, const char* value) {
    SPUR_TRY(options.gpus_per_node, gpu_list(value));
    return {};
}
Set gpus_per_socket(SubmitOptions& options, const char* value) {
    SPUR_TRY(*options.spec.mutable_gres_per_socket(), gpu_list(value));
    return {};
}
Set gpus_per_task(SubmitOptions& options, const char* value) {
    SPUR_TRY(*options.spec.mutable_gres_per_task(), gpu_list(value));
    return {};
}

Set gres(SubmitOptions& options, const char* value) {
    const auto list = parse_gres(value);
    if (!list) return fail(refusal::invalid_gres.as(stop_with_1));
    options.gres = equal_nocase(value, "none") ? "none" : print_gres(*list);
    return {};
}

Set gres_flags(SubmitOptions& options, const char* value) {
    for (const auto word : split(value, ','))
        if (!equal_nocase(word, "disable-binding") && !equal_nocase(word, "enforce-binding"))
            return invalid("gres-flags");
    options.spec.set_gres_flags(lower(value));
    return {};
}

Set immediate(SubmitOptions& options, const char* value) {
    options.immediate_s = 1;
    if (value == nullptr || *value == '\0') return {};
    const auto seconds = find_unsigned(value);
    if (!seconds || *seconds > 0xffffff) return invalid("immediate");
    options.immediate_s = static_cast<std::uint32_t>(*seconds);
    return {};
}

Set job_id(SubmitOptions& options, const char* value) {
    const auto id = find_unsigned(value);
    if (!id || *id == 0 || *id > UINT32_MAX)
        return fail(stop_with_1, "Invalid numeric value \"{}\" for --jobid.", value);
    options.step.job_id = static_cast<std::uint32_t>(*id);
    return {};
}

Set kill_on_invalid_dep(SubmitOptions& options, const char* value) {
    if (!equal_nocase(value, "yes") && !equal_nocase(value, "no")) return invalid("kill-on-invalid-dep");
    options.spec.set_kill_on_invalid_dependency(equal_nocase(value, "yes"));
    return {};
}

Set mail_type(SubmitOptions& options, const char* value) {
    std::uint32_t bits = 0;
    for (const auto word : split(value, ',')) {
        const auto found =
            std::ranges::find_if(mail_types, [&](const MailType& type) { return equal_nocase(type.name, word); });
        if (equal_nocase(word, "NONE"))
            bits = 0;
        else if (equal_nocase(word, "ALL"))
            bits |= all_mail;
        else if (found != std::end(mail_types))
            bits |= found->bit;
        else
            return invalid("mail-type");
    }
    options.spec.set_mail_type(bits);
    return {};
}

Set mem(SubmitOptions& options, const char* value) {
    SPUR_TRY(const auto mib, memory("mem", value));
    options.spec.set_mem_per_node_mib(mib);
    return {};
}
Set mem_per_cpu(SubmitOptions& options, const char* value) {
    SPUR_TRY(const auto mib, memory("mem-per-cpu", value));
    options.spec.set_mem_per_cpu_mib(mib);
    return {};
}
Set mem_per_gpu(SubmitOptions& options, const char* value) {
    SPUR_TRY(const auto mib, memory("mem-per-gpu", value));
    options.spec.set_mem_per_gpu_mib(mib);
    return {};
}
Set tmp(SubmitOptions& options, const char* value) {
    SPUR_TRY(const auto mib, memory("tmp", value));
    options.spec.set_min_tmp_mib(mib);
    return {};
}

Set nice(SubmitOptions& options, const char* value) {
    constexpr std::int64_t limit = 2'147'483'645;
    std::string_view text = value && *value ? value : "100";
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const auto number = find_unsigned(text);
    if (!number || *number > static_cast<std::uint64_t>(limit)) return fail(refusal::invalid_nice);
    options.spec.set_nice(static_cast<std::int32_t>(negative ? -static_cast<std::int64_t>(*number) : *number));
    return {};
}

Set no_kill(SubmitOptions& options, const char* value) {
    if (value && !equal_nocase(value, "off") && !equal_nocase(value, "no") && *value) return invalid("no-kill");
    options.spec.set_no_kill(value == nullptr || *value == '\0');
    return {};
}

Set node_file(SubmitOptions& options, const char* value) {
    SPUR_TRY(*options.spec.mutable_node_list(), names_in(value));
    return {};
}
Set node_list(SubmitOptions& options, const char* value) {
    SPUR_TRY(*options.spec.mutable_node_list(), names_or_file(value));
    return {};
}

Set nodes(SubmitOptions& options, const char* value) {
    SPUR_TRY(const auto count, NodeCount::parse(value));
    options.spec.set_min_nodes(count.min);
    options.spec.set_max_nodes(count.max);
    return {};
}

Set open_mode(SubmitOptions& options, const char* value) {
    if (*value != 'a' && *value != 'A' && *value != 't' && *value != 'T') return invalid("open-mode");
    options.spec.set_open_mode_append(*value == 'a' || *value == 'A');
    return {};
}

Set partition(SubmitOptions& options, const char* value) {
    options.spec.clear_partitions();
    for (const auto name : split(value, ','))
        if (!trim(name).empty()) options.spec.add_partitions(std::string(trim(name)));
    return {};
}

Set priority(SubmitOptions& options, const char* value) {
    if (equal_nocase(value, "top")) {
        options.spec.set_priority(0xfffffffdU);
        return {};
    }
    const auto number = find_unsigned(value);
    if (!number || *number >= no_value) return invalid("priority");
    options.spec.set_priority(static_cast<std::uint32_t>(*number));
    return {};
}

Set signal(SubmitOptions& options, const char* value) {
    if (!WarningSignal::parse(value)) return invalid("signal");
    options.spec.set_signal(value);
    return {};
}

Set switches(SubmitOptions& options, const char* value) {
    const std::string_view text = value;
    const auto at = text.find('@');
    const auto number = find_unsigned(text.substr(0, at));
    if (!number || *number == 0 || *number > UINT32_MAX)
        return fail(stop_with_1, "Invalid numeric value \"{}\" for --switches.", text.substr(0, at));
    options.spec.set_switches(static_cast<std::uint32_t>(*number));
    return at == std::string_view::npos ? Set{} : switches_wait(options, value + at + 1);
}
Set switches_wait(SubmitOptions& options, const char* value) {
    const auto wait_s = parse_duration_s(value);
    if (!wait_s || *wait_s < 0) return invalid("switches");
    options.spec.set_switches_wait_s(static_cast<std::uint32_t>(*wait_s));
    return {};
}

Set time(SubmitOptions& options, const char* value) {
    const auto minutes = parse_limit_min(value);
    if (!minutes) return invalid("time");
    options.spec.set_time_limit_min(*minutes == 0 ? unlimited : *minutes);
    options.step.time_limit_min = options.spec.time_limit_min();
    return {};
}
Set time_min(SubmitOptions& options, const char* value) {
    const auto minutes = parse_limit_min(value);
    if (!minutes) return invalid("time-min");
    options.spec.set_time_min_min(*minutes);
    return {};
}

Set wait_all_nodes(SubmitOptions& options, const char* value) {
    const auto number = find_unsigned(value);
    if (!number || *number > 1) return invalid("wait-all-nodes");
    options.spec.set_wait_all_nodes(*number == 1);
    return {};
}

}  // namespace spur::cli::submit::set
