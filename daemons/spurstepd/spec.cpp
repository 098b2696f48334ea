#include "daemons/spurstepd/spec.hpp"

#include "daemons/spurstepd/fields.hpp"

namespace spur::step {

namespace {

constexpr std::string_view result_magic = "spur-step-result/1\n";

std::uint32_t narrow(const Field& field) { return static_cast<std::uint32_t>(field.number); }

std::string encode(const ProcessLimit& limit) {
    FieldWriter out;
    out.number(1, limit.resource);
    out.number(2, limit.soft);
    out.number(3, limit.hard);
    return out.take();
}

bool decode(std::string_view bytes, ProcessLimit& limit) {
    FieldReader in{bytes};
    while (const auto field = in.next()) {
        switch (field->tag) {
            case 1:
                limit.resource = narrow(*field);
                break;
            case 2:
                limit.soft = field->number;
                break;
            case 3:
                limit.hard = field->number;
                break;
            default:
                break;
        }
    }
    return in.is_whole();
}

std::string encode(const TaskSpec& task) {
    FieldWriter out;
    out.number(1, task.id);
    for (const auto& argument : task.argv) out.item(2, argument);
    for (const auto& variable : task.environment) out.item(3, variable);
    out.text(4, task.std_in);
    out.text(5, task.std_out);
    out.text(6, task.std_err);
    out.text(7, task.cpu_list);
    for (const auto& device : task.device_deny) out.item(8, device);
    return out.take();
}

bool decode(std::string_view bytes, TaskSpec& task) {
    FieldReader in{bytes};
    while (const auto field = in.next()) {
        switch (field->tag) {
            case 1:
                task.id = narrow(*field);
                break;
            case 2:
                task.argv.emplace_back(field->text);
                break;
            case 3:
                task.environment.emplace_back(field->text);
                break;
            case 4:
                task.std_in = field->text;
                break;
            case 5:
                task.std_out = field->text;
                break;
            case 6:
                task.std_err = field->text;
                break;
            case 7:
                task.cpu_list = field->text;
                break;
            case 8:
                task.device_deny.emplace_back(field->text);
                break;
            default:
                break;
        }
    }
    return in.is_whole();
}

bool take(const Field& field, LaunchSpec& spec) {
    switch (field.tag) {
        case 1:
            spec.job = narrow(field);
            break;
        case 2:
            spec.attempt = narrow(field);
            break;
        case 3:
            spec.step = narrow(field);
            break;
        case 4:
            spec.node = field.text;
            break;
        case 5:
            spec.directory = field.text;
            break;
        case 6:
            spec.label = field.text;
            break;
        case 7:
            spec.uid = narrow(field);
            break;
        case 8:
            spec.gid = narrow(field);
            break;
        case 9:
            spec.groups.push_back(narrow(field) - 1);
            break;  // stored plus one: group 0 is one too
        case 10:
            spec.work_dir = field.text;
            break;
        case 11:
            spec.umask = narrow(field) - 1;
            break;  // and mask 0
        case 12:
            return decode(field.text, spec.rlimits.emplace_back());
        case 13:
            spec.argv.emplace_back(field.text);
            break;
        case 14:
            spec.environment.emplace_back(field.text);
            break;
        case 15:
            spec.load_user_environment = field.number != 0;
            break;
        case 16:
            spec.task_prolog = field.text;
            break;
        case 17:
            spec.task_epilog = field.text;
            break;
        case 18:
            spec.user_task_prolog = field.text;
            break;
        case 19:
            spec.user_task_epilog = field.text;
            break;
        case 20:
            return decode(field.text, spec.tasks.emplace_back());
        case 21:
            spec.append = field.number != 0;
            break;
        case 22:
            spec.pty = field.number != 0;
            break;
        case 23:
            spec.rows = narrow(field);
            break;
        case 24:
            spec.columns = narrow(field);
            break;
        case 25:
            spec.unbuffered = field.number != 0;
            break;
        case 26:
            spec.end_time = static_cast<std::int64_t>(field.number);
            break;
        case 27:
            spec.kill_wait_s = narrow(field) - 1;
            break;  // and no wait at all
        case 28:
            spec.warn_signal = narrow(field);
            break;
        case 29:
            spec.warn_before_s = narrow(field);
            break;
        case 30:
            spec.warn_batch_only = field.number != 0;
            break;
        case 31:
            spec.cpus = narrow(field);
            break;
        case 32:
            spec.memory_mib = field.number;
            break;
        case 33:
            spec.job_memory_mib = field.number;
            break;
        case 34:
            spec.cpu_list = field.text;
            break;
        case 35:
            spec.device_allow.emplace_back(field.text);
            break;
        case 36:
            spec.device_deny.emplace_back(field.text);
            break;
        case 37:
            spec.bind_verbose = field.number != 0;
            break;
        case 38:
            spec.own_end_time = static_cast<std::int64_t>(field.number);
            break;
        case 39:
            spec.tells = field.number == 0;
            break;
        case 40:
            spec.label_width = narrow(field);
            break;
        case 41:
            spec.end_boot_s = static_cast<std::int64_t>(field.number);
            break;
        case 42:
            spec.own_end_boot_s = static_cast<std::int64_t>(field.number);
            break;
        default:
            break;
    }
    return true;
}

}  // namespace

std::string encode(const LaunchSpec& spec) {
    FieldWriter out;
    out.number(1, spec.job);
    out.number(2, spec.attempt);
    out.number(3, spec.step);
    out.text(4, spec.node);
    out.text(5, spec.directory);
    out.text(6, spec.label);
    out.number(7, spec.uid);
    out.number(8, spec.gid);
    for (const auto group : spec.groups) out.number(9, std::uint64_t{group} + 1);
    out.text(10, spec.work_dir);
    out.number(11, std::uint64_t{spec.umask} + 1);
    for (const auto& limit : spec.rlimits) out.item(12, encode(limit));
    for (const auto& argument : spec.argv) out.item(13, argument);
    for (const auto& variable : spec.environment) out.item(14, variable);
    out.number(15, spec.load_user_environment);
    out.text(16, spec.task_prolog);
    out.text(17, spec.task_epilog);
    out.text(18, spec.user_task_prolog);
    out.text(19, spec.user_task_epilog);
    for (const auto& task : spec.tasks) out.item(20, encode(task));
    out.number(21, spec.append);
    out.number(22, spec.pty);
    out.number(23, spec.rows);
    out.number(24, spec.columns);
    out.number(25, spec.unbuffered);
    out.number(26, static_cast<std::uint64_t>(spec.end_time));
    out.number(27, std::uint64_t{spec.kill_wait_s} + 1);
    out.number(28, spec.warn_signal);
    out.number(29, spec.warn_before_s);
    out.number(30, spec.warn_batch_only);
    out.number(31, spec.cpus);
    out.number(32, spec.memory_mib);
    out.number(33, spec.job_memory_mib);
    out.text(34, spec.cpu_list);
    for (const auto& device : spec.device_allow) out.item(35, device);
    for (const auto& device : spec.device_deny) out.item(36, device);
    out.number(37, spec.bind_verbose);
    out.number(38, static_cast<std::uint64_t>(spec.own_end_time));
    out.number(39, !spec.tells);
    out.number(40, spec.label_width);
    out.number(41, static_cast<std::uint64_t>(spec.end_boot_s));
    out.number(42, static_cast<std::uint64_t>(spec.own_end_boot_s));
    return out.take();
}

std::optional<LaunchSpec> decode_spec(std::string_view bytes) {
    LaunchSpec spec;
    FieldReader in{bytes};
    while (const auto field = in.next())
        if (!take(*field, spec)) return std::nullopt;
    if (!in.is_whole()) return std::nullopt;
    return spec;
}

std::string encode(const StepResult& result) {
    FieldWriter out;
    out.number(1, result.job);
    out.number(2, result.attempt);
    out.number(3, result.step);
    out.number(4, result.status);
    out.number(5, result.launch_failed);
    out.number(6, result.oom);
    out.number(7, result.timed_out);
    out.number(8, static_cast<std::uint64_t>(result.time));
    out.text(9, result.error);
    out.number(10, result.usage.user_us);
    out.number(11, result.usage.system_us);
    out.number(12, result.usage.max_rss_kib);
    out.number(13, result.usage.read_bytes);
    out.number(14, result.usage.write_bytes);
    out.number(15, result.user_error);
    out.text(16, result.drain);
    return std::string{result_magic} + out.take() + "\n";  // the last byte tells a whole file from a torn one
}

std::optional<StepResult> decode_result(std::string_view bytes) {
    if (!bytes.starts_with(result_magic) || !bytes.ends_with('\n') || bytes.size() <= result_magic.size())
        return std::nullopt;
    bytes.remove_prefix(result_magic.size());
    bytes.remove_suffix(1);
    StepResult result;
    FieldReader in{bytes};
    while (const auto field = in.next()) {
        switch (field->tag) {
            case 1:
                result.job = narrow(*field);
                break;
            case 2:
                result.attempt = narrow(*field);
                break;
            case 3:
                result.step = narrow(*field);
                break;
            case 4:
                result.status = narrow(*field);
                break;
            case 5:
                result.launch_failed = field->number != 0;
                break;
            case 6:
                result.oom = field->number != 0;
                break;
            case 7:
                result.timed_out = field->number != 0;
                break;
            case 8:
                result.time = static_cast<std::int64_t>(field->number);
                break;
            case 9:
                result.error = field->text;
                break;
            case 10:
                result.usage.user_us = field->number;
                break;
            case 11:
                result.usage.system_us = field->number;
                break;
            case 12:
                result.usage.max_rss_kib = field->number;
                break;
            case 13:
                result.usage.read_bytes = field->number;
                break;
            case 14:
                result.usage.write_bytes = field->number;
                break;
            case 15:
                result.user_error = field->number != 0;
                break;
            case 16:
                result.drain = field->text;
                break;
            default:
                break;
        }
    }
    if (!in.is_whole()) return std::nullopt;
    return result;
}

std::string step_name(std::uint32_t step) {
    for (const auto& [number, name] : named_steps)
        if (number == step) return name;
    return std::to_string(step);
}
std::string socket_name(std::uint32_t step) { return step_name(step) + ".sock"; }
std::string result_name(std::uint32_t step) { return step_name(step) + ".result"; }

}  // namespace spur::step
