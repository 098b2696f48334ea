// The fields of a launch spec and of a step's result, and the files of a step.
#include "daemons/spurstepd/spec.hpp"

#include "core/store/tagged.hpp"

namespace spur::archive {

using namespace step;

template <>
inline constexpr auto fields_of<ProcessLimit> =
    numbered(&ProcessLimit::resource, &ProcessLimit::soft, &ProcessLimit::hard).skipping_unknown();
template <>
inline constexpr auto fields_of<TaskSpec> =
    numbered(&TaskSpec::id, &TaskSpec::argv, &TaskSpec::environment, &TaskSpec::std_in, &TaskSpec::std_out,
             &TaskSpec::std_err, &TaskSpec::cpu_list, &TaskSpec::device_deny)
        .skipping_unknown();
template <>
inline constexpr auto fields_of<LaunchSpec> =
    numbered(&LaunchSpec::job, &LaunchSpec::attempt, &LaunchSpec::step, &LaunchSpec::node, &LaunchSpec::directory,
             &LaunchSpec::label, &LaunchSpec::uid, &LaunchSpec::gid, &LaunchSpec::groups, &LaunchSpec::work_dir,
             &LaunchSpec::umask, &LaunchSpec::rlimits, &LaunchSpec::argv, &LaunchSpec::environment,
             &LaunchSpec::load_user_environment, &LaunchSpec::task_prolog, &LaunchSpec::task_epilog,
             &LaunchSpec::user_task_prolog, &LaunchSpec::user_task_epilog, &LaunchSpec::tasks, &LaunchSpec::append,
             &LaunchSpec::pty, &LaunchSpec::rows, &LaunchSpec::columns, &LaunchSpec::unbuffered, &LaunchSpec::end_time,
             &LaunchSpec::kill_wait_s, &LaunchSpec::warn_signal, &LaunchSpec::warn_before_s,
             &LaunchSpec::warn_batch_only, &LaunchSpec::cpus, &LaunchSpec::memory_mib, &LaunchSpec::job_memory_mib,
             &LaunchSpec::cpu_list, &LaunchSpec::device_allow, &LaunchSpec::device_deny, &LaunchSpec::bind_verbose,
             &LaunchSpec::own_end_time, &LaunchSpec::tells, &LaunchSpec::label_width, &LaunchSpec::end_boot_s,
             &LaunchSpec::own_end_boot_s, &LaunchSpec::job_cpus, &LaunchSpec::sample_s, &LaunchSpec::kill_over_memory)
        .skipping_unknown();
template <>
inline constexpr auto fields_of<StepUsage> =
    numbered(&StepUsage::user_us, &StepUsage::system_us, &StepUsage::max_rss_kib, &StepUsage::read_bytes,
             &StepUsage::write_bytes)
        .skipping_unknown();
template <>
inline constexpr auto fields_of<TaskUse> = numbered(&TaskUse::task, &TaskUse::values).skipping_unknown();
template <>
inline constexpr auto fields_of<Readings> =
    numbered(&Readings::number, &Readings::usage, &Readings::tasks, &Readings::pids).skipping_unknown();
template <>
inline constexpr auto fields_of<StepResult> =
    numbered(&StepResult::job, &StepResult::attempt, &StepResult::step, &StepResult::status, &StepResult::launch_failed,
             &StepResult::oom, &StepResult::timed_out, &StepResult::time, &StepResult::error, &StepResult::usage,
             &StepResult::user_error, &StepResult::drain, &StepResult::tasks)
        .skipping_unknown();

}  // namespace spur::archive

namespace spur::step {

namespace {

constexpr std::string_view result_magic = "spur-step-result/2\n";

}  // namespace

std::string encode(const LaunchSpec& spec) { return archive::to_bytes(spec); }
std::optional<LaunchSpec> decode_spec(std::string_view bytes) { return archive::from_bytes<LaunchSpec>(bytes); }

std::string encode(const Readings& readings) { return archive::to_bytes(readings); }
std::optional<Readings> decode_readings(std::string_view bytes) { return archive::from_bytes<Readings>(bytes); }

std::string encode(const StepResult& result) {
    return std::string{result_magic} + archive::to_bytes(result) +
           "\n";  // the last byte tells a whole file from a torn one
}

std::optional<StepResult> decode_result(std::string_view bytes) {
    if (!bytes.starts_with(result_magic) || !bytes.ends_with('\n') || bytes.size() <= result_magic.size())
        return std::nullopt;
    bytes.remove_prefix(result_magic.size());
    bytes.remove_suffix(1);
    return archive::from_bytes<StepResult>(bytes);
}

std::string step_name(std::uint32_t step) {
    for (const auto& [number, name] : named_steps)
        if (number == step) return name;
    return std::to_string(step);
}
std::string socket_name(std::uint32_t step) { return step_name(step) + ".sock"; }
std::string result_name(std::uint32_t step) { return step_name(step) + ".result"; }

}  // namespace spur::step
