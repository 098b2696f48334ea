// The fields of a launch spec and of a step's result, and the files of a step.
#include "daemons/spurstepd/spec.hpp"

#include "core/store/tagged.hpp"

namespace spur::archive {

using namespace step;

template <>
struct Fields<ProcessLimit> : SkipsUnknown {
    static constexpr auto list =
        std::tuple{field<1>(&ProcessLimit::resource), field<2>(&ProcessLimit::soft), field<3>(&ProcessLimit::hard)};
};
template <>
struct Fields<TaskSpec> : SkipsUnknown {
    static constexpr auto list =
        std::tuple{field<1>(&TaskSpec::id),       field<2>(&TaskSpec::argv),       field<3>(&TaskSpec::environment),
                   field<4>(&TaskSpec::std_in),   field<5>(&TaskSpec::std_out),    field<6>(&TaskSpec::std_err),
                   field<7>(&TaskSpec::cpu_list), field<8>(&TaskSpec::device_deny)};
};
template <>
struct Fields<LaunchSpec> : SkipsUnknown {
    static constexpr auto list = std::tuple{field<1>(&LaunchSpec::job),
                                            field<2>(&LaunchSpec::attempt),
                                            field<3>(&LaunchSpec::step),
                                            field<4>(&LaunchSpec::node),
                                            field<5>(&LaunchSpec::directory),
                                            field<6>(&LaunchSpec::label),
                                            field<7>(&LaunchSpec::uid),
                                            field<8>(&LaunchSpec::gid),
                                            field<9>(&LaunchSpec::groups),
                                            field<10>(&LaunchSpec::work_dir),
                                            field<11>(&LaunchSpec::umask),
                                            field<12>(&LaunchSpec::rlimits),
                                            field<13>(&LaunchSpec::argv),
                                            field<14>(&LaunchSpec::environment),
                                            field<15>(&LaunchSpec::load_user_environment),
                                            field<16>(&LaunchSpec::task_prolog),
                                            field<17>(&LaunchSpec::task_epilog),
                                            field<18>(&LaunchSpec::user_task_prolog),
                                            field<19>(&LaunchSpec::user_task_epilog),
                                            field<20>(&LaunchSpec::tasks),
                                            field<21>(&LaunchSpec::append),
                                            field<22>(&LaunchSpec::pty),
                                            field<23>(&LaunchSpec::rows),
                                            field<24>(&LaunchSpec::columns),
                                            field<25>(&LaunchSpec::unbuffered),
                                            field<26>(&LaunchSpec::end_time),
                                            field<27>(&LaunchSpec::kill_wait_s),
                                            field<28>(&LaunchSpec::warn_signal),
                                            field<29>(&LaunchSpec::warn_before_s),
                                            field<30>(&LaunchSpec::warn_batch_only),
                                            field<31>(&LaunchSpec::cpus),
                                            field<32>(&LaunchSpec::memory_mib),
                                            field<33>(&LaunchSpec::job_memory_mib),
                                            field<34>(&LaunchSpec::cpu_list),
                                            field<35>(&LaunchSpec::device_allow),
                                            field<36>(&LaunchSpec::device_deny),
                                            field<37>(&LaunchSpec::bind_verbose),
                                            field<38>(&LaunchSpec::own_end_time),
                                            field<39>(&LaunchSpec::tells),
                                            field<40>(&LaunchSpec::label_width),
                                            field<41>(&LaunchSpec::end_boot_s),
                                            field<42>(&LaunchSpec::own_end_boot_s)};
};
template <>
struct Fields<StepUsage> : SkipsUnknown {
    static constexpr auto list =
        std::tuple{field<1>(&StepUsage::user_us), field<2>(&StepUsage::system_us), field<3>(&StepUsage::max_rss_kib),
                   field<4>(&StepUsage::read_bytes), field<5>(&StepUsage::write_bytes)};
};
template <>
struct Fields<StepResult> : SkipsUnknown {
    static constexpr auto list = std::tuple{
        field<1>(&StepResult::job),       field<2>(&StepResult::attempt),       field<3>(&StepResult::step),
        field<4>(&StepResult::status),    field<5>(&StepResult::launch_failed), field<6>(&StepResult::oom),
        field<7>(&StepResult::timed_out), field<8>(&StepResult::time),          field<9>(&StepResult::error),
        field<10>(&StepResult::usage),    field<11>(&StepResult::user_error),   field<12>(&StepResult::drain)};
};

}  // namespace spur::archive

namespace spur::step {

namespace {

constexpr std::string_view result_magic = "spur-step-result/2\n";

}  // namespace

std::string encode(const LaunchSpec& spec) { return archive::to_bytes(spec); }
std::optional<LaunchSpec> decode_spec(std::string_view bytes) { return archive::from_bytes<LaunchSpec>(bytes); }

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
