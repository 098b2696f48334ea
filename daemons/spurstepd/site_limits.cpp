// Reading the options, and the numbers of devices.
#include "daemons/spurstepd/site_limits.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "core/text/lexical.hpp"
#include "daemons/common/host/options.hpp"

namespace spur::step {

namespace {

constexpr std::uint32_t every_access = SPUR_CGROUP_READ | SPUR_CGROUP_WRITE | SPUR_CGROUP_MKNOD;

const host::OptionValue* find(const std::vector<host::OptionValue>& options, std::string_view key, std::uint32_t kind) {
    const auto found = std::ranges::find(options, key, &host::OptionValue::key);
    return found == options.end() || found->kind != kind ? nullptr : &*found;
}

bool read_number(std::string_view text, std::uint32_t& number) {
    if (text == "*") return number = SPUR_NONE, true;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

// "195:*"
std::optional<spur_cgroup_device> by_numbers(char kind, std::string_view text) {
    const auto colon = text.find(':');
    spur_cgroup_device device{kind == 'c' ? SPUR_CGROUP_CHARACTER : SPUR_CGROUP_BLOCK, 0, 0, every_access};
    if (colon == std::string_view::npos || !read_number(text.substr(0, colon), device.major_number) ||
        !read_number(text.substr(colon + 1), device.minor_number))
        return std::nullopt;
    return device;
}

bool names_numbers(const std::string& name) { return name.starts_with("c ") || name.starts_with("b "); }

using IoWord = std::pair<std::string_view, spur_cgroup_limit spur_cgroup_io::*>;
constexpr IoWord io_words[] = {
    {"read", &spur_cgroup_io::read_bytes},
    {"write", &spur_cgroup_io::write_bytes},
    {"read_ops", &spur_cgroup_io::read_ops},
    {"write_ops", &spur_cgroup_io::write_ops}};

// "/dev/sda read=200M write_ops=1000"
Result<spur_cgroup_io> read_io(const std::string& text) {
    const auto words = split(text, ' ');
    const auto device = find_device(std::string{words.front()});
    if (!device || device->kind != SPUR_CGROUP_BLOCK)
        return fail(ErrorCode::invalid, "io_limits: {} is not a block device of this machine", quoted(words.front()));
    spur_cgroup_io io{};
    io.major_number = device->major_number;
    io.minor_number = device->minor_number;
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i].empty()) continue;
        const auto at = words[i].find('=');
        const auto word = std::ranges::find(io_words, words[i].substr(0, at), &IoWord::first);
        if (at == std::string_view::npos || word == std::end(io_words))
            return fail(ErrorCode::invalid, "io_limits: {} is none of read=, write=, read_ops=, write_ops=",
                        quoted(words[i]));
        SPUR_TRY(const auto value, host::parse_option_size(words[i].substr(at + 1)));
        io.*word->second = limit_at(static_cast<std::uint64_t>(value));
    }
    return io;
}

}  // namespace

Result<SiteLimits> SiteLimits::make(const std::vector<host::OptionValue>& options) {
    SiteLimits limits;
    if (const auto* const quota = find(options, "cpu_quota", SPUR_OPTION_BOOL)) limits.cpu_quota = quota->integer != 0;
    if (const auto* const weights = find(options, "weights", SPUR_OPTION_BOOL)) limits.weights = weights->integer != 0;
    if (const auto* const swap = find(options, "swap_percent", SPUR_OPTION_INT)) limits.swap_percent = swap->integer;
    const auto* const most = find(options, "job_processes", SPUR_OPTION_INT);
    limits.processes = process_limits(machine_processes(), most == nullptr ? 0 : most->integer);
    if (const auto* const io = find(options, "io_limits", SPUR_OPTION_LIST))
        for (const auto& text : io->list) {
            SPUR_TRY(const auto one, read_io(text));
            limits.io.push_back(one);
        }
    if (const auto* const devices = find(options, "allowed_devices", SPUR_OPTION_LIST))
        for (const auto& name : devices->list) {
            if (!name.starts_with('/') && !find_device(name))
                return fail(ErrorCode::invalid, "allowed_devices: {} is neither a path nor numbers such as \"c 195:*\"",
                            quoted(name));
            limits.allowed_devices.push_back(name);
        }
    return limits;
}

std::uint64_t machine_processes() {
    const auto number = [](const char* path) {
        std::uint64_t value{};
        std::ifstream{path} >> value;
        return value;
    };
    return std::min(number("/proc/sys/kernel/pid_max"), number("/proc/sys/kernel/threads-max"));
}

ProcessLimits process_limits(std::uint64_t machine, std::int64_t job_processes) {
    ProcessLimits limits{limit_at(machine - machine / 8), limit_at(machine / 2)};
    if (job_processes > 0) limits.job = limit_at(static_cast<std::uint64_t>(job_processes));
    if (job_processes < 0) limits.job = {SPUR_LIMIT_NONE, 0, 0};
    return limits;
}

spur_cgroup_limit limit_at(std::uint64_t value) { return {SPUR_LIMIT_AT, 0, value}; }
spur_cgroup_limit limit_if(std::uint64_t value) { return value == 0 ? spur_cgroup_limit{} : limit_at(value); }

std::optional<spur_cgroup_device> find_device(const std::string& name) {
    if (names_numbers(name)) return by_numbers(name.front(), trim(std::string_view{name}.substr(2)));
    struct stat info {};
    if (stat(name.c_str(), &info) != 0 || (!S_ISCHR(info.st_mode) && !S_ISBLK(info.st_mode))) return std::nullopt;
    return spur_cgroup_device{S_ISCHR(info.st_mode) ? SPUR_CGROUP_CHARACTER : SPUR_CGROUP_BLOCK, major(info.st_rdev),
                              minor(info.st_rdev), every_access};
}

std::vector<spur_cgroup_device> usual_devices() {
    constexpr std::uint32_t mem = 1, tty = 5, first_pts = 136, last_pts = 143;
    std::vector<spur_cgroup_device> all;
    const auto add = [&](std::uint32_t major_number, std::uint32_t minor_number) {
        all.push_back({SPUR_CGROUP_CHARACTER, major_number, minor_number, every_access});
    };
    for (const std::uint32_t each : {3, 5, 7, 8, 9}) add(mem, each);  // null, zero, full, random, urandom
    for (const std::uint32_t each : {0, 2}) add(tty, each);           // tty, ptmx
    for (auto major_number = first_pts; major_number <= last_pts; ++major_number) add(major_number, SPUR_NONE);
    return all;
}

}  // namespace spur::step
