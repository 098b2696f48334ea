// The tables of limits, and the checks that read them.
#include "core/machine/request_limits.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "core/slurm/refusal.hpp"
#include "core/store/fields.hpp"
#include "core/text/lexical.hpp"

namespace spur {

namespace {

constexpr std::size_t short_text = 1U << 10;
constexpr std::size_t path = 4U << 10;
constexpr std::size_t expression = 64U << 10;
constexpr std::size_t small_expression = 4U << 10;
constexpr std::size_t arguments = request_limit::arguments_bytes;

#define SPUR_TEXT(number, member, longest) TextLimit<JobSpec>{#member, &JobSpec::member, longest},
#define SPUR_OTHER(number, member)
constexpr TextLimit<JobSpec> job_texts[] = {
    SPUR_JOB_SPEC(SPUR_TEXT, SPUR_OTHER, SPUR_OTHER) TextLimit<JobSpec>{"user_name", &JobSpec::user_name, short_text},
    TextLimit<JobSpec>{"group_name", &JobSpec::group_name, short_text},
};
#undef SPUR_TEXT
#undef SPUR_OTHER

// A text without a row would have no limit.
constexpr std::size_t texts_of_a_job = archive::fields_of<JobSpec>.apply([](const auto&... field) {
    return (0 + ... +
            std::size_t{std::is_same_v<std::remove_cvref_t<decltype(std::declval<JobSpec>().*field.member)>, Text>});
});
static_assert(std::size(job_texts) + 2 == texts_of_a_job, "script and environment have limits of their own");

// Slurm keeps most of these in 16 bits; products of two must not overflow 32.
constexpr std::uint32_t small_count = 65'533;
constexpr std::uint32_t large_count = 1U << 24;
constexpr std::size_t longest_mask = 2 + small_count / 4;  // hexadecimal digits

constexpr std::array job_numbers{
    NumberLimit<JobSpec>{"min_nodes", &JobSpec::min_nodes, large_count},
    NumberLimit<JobSpec>{"tasks", &JobSpec::tasks, large_count},
    NumberLimit<JobSpec>{"cpus_per_task", &JobSpec::cpus_per_task, small_count},
    NumberLimit<JobSpec>{"tasks_per_node", &JobSpec::tasks_per_node, small_count},
    NumberLimit<JobSpec>{"tasks_per_socket", &JobSpec::tasks_per_socket, small_count},
    NumberLimit<JobSpec>{"tasks_per_core", &JobSpec::tasks_per_core, small_count},
    NumberLimit<JobSpec>{"tasks_per_gpu", &JobSpec::tasks_per_gpu, small_count},
    NumberLimit<JobSpec>{"min_cpus_per_node", &JobSpec::min_cpus_per_node, small_count},
    NumberLimit<JobSpec>{"cpus_per_gpu", &JobSpec::cpus_per_gpu, small_count},
};

constexpr std::array step_texts{
    TextLimit<StepSpec>{"name", &StepSpec::name, short_text},
    TextLimit<StepSpec>{"gres_per_node", &StepSpec::gres_per_node, small_expression},
    TextLimit<StepSpec>{"gres_per_step", &StepSpec::gres_per_step, small_expression},
    TextLimit<StepSpec>{"gres_per_task", &StepSpec::gres_per_task, small_expression},
    TextLimit<StepSpec>{"node_list", &StepSpec::node_list, expression},
    TextLimit<StepSpec>{"exclude_nodes", &StepSpec::exclude_nodes, expression},
    TextLimit<StepSpec>{"distribution", &StepSpec::distribution, short_text},
    TextLimit<StepSpec>{"submit_host", &StepSpec::submit_host, short_text},
    TextLimit<StepSpec>{"cpu_bind", &StepSpec::cpu_bind, expression},
    TextLimit<StepSpec>{"gpu_bind", &StepSpec::gpu_bind, expression},
};

constexpr std::array step_numbers{
    NumberLimit<StepSpec>{"min_nodes", &StepSpec::min_nodes, large_count},
    NumberLimit<StepSpec>{"tasks", &StepSpec::tasks, large_count},
    NumberLimit<StepSpec>{"cpus_per_task", &StepSpec::cpus_per_task, small_count},
    NumberLimit<StepSpec>{"tasks_per_node", &StepSpec::tasks_per_node, small_count},
    NumberLimit<StepSpec>{"tasks_per_gpu", &StepSpec::tasks_per_gpu, small_count},
};

Result<void> check_bytes(std::string_view what, std::size_t bytes, std::size_t most) {
    if (bytes <= most) return {};
    return fail(refusal::path_too_long.with(": {} has {} bytes, at most {} are taken", what, bytes, most));
}

Result<void> check_items(std::string_view what, std::size_t items, std::size_t most) {
    if (items <= most) return {};
    return fail(refusal::path_too_long.with(": {} has {} entries, at most {} are taken", what, items, most));
}

template <class Spec>
Result<void> check_rows(const Spec& spec, std::span<const TextLimit<Spec>> texts,
                        std::span<const NumberLimit<Spec>> numbers) {
    for (const auto& row : texts) SPUR_CHECK(check_bytes(row.field, (spec.*row.text).size(), row.bytes));
    for (const auto& row : numbers)
        if (const auto& value = spec.*row.number; value && *value > row.most)
            return fail(ErrorCode::invalid, "{} = {} is too large: at most {} is taken", row.field, *value, row.most);
    return {};
}

// Of --cpu-bind and its like: "map_cpu:0,1*4" and "mask_cpu:0xff". Nodes build what the numbers say, so a number that
// no node could have is refused here. Whether the rest makes sense is for those to say who bind.
Result<void> check_bind(std::string_view field, std::string_view text) {
    const auto map = text.find("map_"), mask = text.find("mask_");
    const auto begin = std::min(map, mask);
    const auto colon = begin == std::string_view::npos ? begin : text.find(':', begin);
    if (colon == std::string_view::npos) return {};
    const auto refuse = [&](std::string_view item) {
        return fail(ErrorCode::invalid, "{}: {} is beyond what any node has", field, quoted(item));
    };
    for (const auto item : split(text.substr(colon + 1), ',')) {
        const auto star = item.find('*');
        const auto times =
            star == std::string_view::npos ? std::optional<std::uint64_t>{1} : find_unsigned(item.substr(star + 1));
        const auto value = item.substr(0, star);
        const bool is_hex = value.starts_with("0x") || value.starts_with("0X");
        const bool is_long =
            value.size() > (begin == mask ? longest_mask : 2 + std::numeric_limits<std::uint32_t>::digits10);
        if (!times || *times > small_count || is_long) return refuse(item);
        if (begin == map && !is_hex && find_unsigned(value).value_or(0) > small_count) return refuse(item);
        if (begin == map && is_hex && value.size() > std::string_view{"0xffff"}.size()) return refuse(item);
    }
    return {};
}

std::size_t bytes_of(const std::vector<Text>& list) {
    std::size_t bytes = 0;
    for (const auto& text : list) bytes += text.size() + 1;
    return bytes;
}

Result<void> check_lists(const JobSpec& spec) {
    SPUR_CHECK(check_items("argv", spec.argv.size(), request_limit::list_items));
    SPUR_CHECK(check_items("spank_environment", spec.spank_environment.size(), request_limit::list_items));
    SPUR_CHECK(check_items("partitions", spec.partitions.size(), request_limit::partitions));
    SPUR_CHECK(check_items("rlimits", spec.rlimits.size(), request_limit::rlimits));
    for (const auto& argument : spec.argv)
        SPUR_CHECK(check_bytes("an argument", argument.size(), request_limit::one_argument_bytes));
    for (const auto& partition : spec.partitions)
        SPUR_CHECK(check_bytes("a partition's name", partition.size(), short_text));
    for (const auto& limit : spec.rlimits) SPUR_CHECK(check_bytes("an rlimit's name", limit.name.size(), short_text));
    return check_bytes("argv", bytes_of(spec.argv) + bytes_of(spec.spank_environment), request_limit::arguments_bytes);
}

}  // namespace

std::span<const TextLimit<JobSpec>> job_text_limits() { return job_texts; }
std::span<const NumberLimit<JobSpec>> job_number_limits() { return job_numbers; }
std::span<const TextLimit<StepSpec>> step_text_limits() { return step_texts; }
std::span<const NumberLimit<StepSpec>> step_number_limits() { return step_numbers; }

Result<void> check_size(const JobSpec& spec) {
    SPUR_CHECK(check_bytes("the script", spec.script.size(), request_limit::script_bytes));
    SPUR_CHECK(check_bytes("the environment", spec.environment.size(), request_limit::environment_bytes));
    for (std::string_view rest = spec.environment; !rest.empty();) {
        const auto end = std::min(rest.find('\0'), rest.size() - 1);
        SPUR_CHECK(check_bytes("an environment variable", end, request_limit::one_argument_bytes));
        rest.remove_prefix(end + 1);
    }
    SPUR_CHECK(check_rows<JobSpec>(spec, job_texts, job_numbers));
    SPUR_CHECK(check_bind("cpu_bind", spec.cpu_bind));
    SPUR_CHECK(check_bind("gpu_bind", spec.gpu_bind));
    SPUR_CHECK(check_bind("mem_bind", spec.mem_bind));
    return check_lists(spec);
}

Result<void> check_size(const StepSpec& spec) {
    SPUR_CHECK(check_rows<StepSpec>(spec, step_texts, step_numbers));
    SPUR_CHECK(check_bind("cpu_bind", spec.cpu_bind));
    return check_bind("gpu_bind", spec.gpu_bind);
}

Result<void> check_size(std::span<const JobSpec> components) {
    SPUR_CHECK(check_items("the job", components.size(), request_limit::components));
    std::size_t total = 0;
    for (const auto& spec : components) {
        SPUR_CHECK(check_size(spec));
        total += spec.script.size() + spec.environment.size() + text_bytes(spec);
    }
    return check_bytes("the job", total, request_limit::submission_bytes);
}

std::size_t text_bytes(const JobSpec& spec) {
    std::size_t bytes = bytes_of(spec.argv) + bytes_of(spec.spank_environment) + bytes_of(spec.partitions);
    for (const auto& row : job_texts) bytes += (spec.*row.text).size();
    for (const auto& limit : spec.rlimits) bytes += limit.name.size() + 16;
    return bytes;
}

}  // namespace spur
