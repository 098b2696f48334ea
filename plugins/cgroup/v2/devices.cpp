// The BPF program that denies devices to a group, and attaching it.
#include "devices.hpp"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace spur::cgroup_v2 {

namespace {

using Program = std::vector<bpf_insn>;

constexpr std::uint8_t result = BPF_REG_0, context = BPF_REG_1, major_number = BPF_REG_2, minor_number = BPF_REG_3,
                       kind = BPF_REG_4;

bpf_insn load(std::uint8_t to, std::int16_t offset) { return {BPF_LDX | BPF_MEM | BPF_W, to, context, offset, 0}; }
bpf_insn jump_unless(std::uint8_t value, std::uint32_t wanted, std::int16_t over) {
    return {BPF_JMP32 | BPF_JNE | BPF_K, value, 0, over, static_cast<std::int32_t>(wanted)};
}
void answer(Program& program, std::int32_t allowed) {
    program.push_back({BPF_ALU64 | BPF_MOV | BPF_K, result, 0, 0, allowed});
    program.push_back({BPF_JMP | BPF_EXIT, 0, 0, 0, 0});
}

struct Device {
    std::uint32_t kind, major_number, minor_number;
};

// The context is access type, major, minor; the low half of the first says what kind of device it is.
Program make_program(const std::vector<Device>& denied) {
    Program program;
    program.push_back(load(kind, offsetof(bpf_cgroup_dev_ctx, access_type)));
    program.push_back({BPF_ALU | BPF_AND | BPF_K, kind, 0, 0, 0xffff});
    program.push_back(load(major_number, offsetof(bpf_cgroup_dev_ctx, major)));
    program.push_back(load(minor_number, offsetof(bpf_cgroup_dev_ctx, minor)));
    for (const auto& device : denied) {
        program.push_back(jump_unless(kind, device.kind, 4));
        program.push_back(jump_unless(major_number, device.major_number, 3));
        program.push_back(jump_unless(minor_number, device.minor_number, 2));
        answer(program, 0);
    }
    answer(program, 1);
    return program;
}

long bpf(int command, bpf_attr& attributes) { return syscall(SYS_bpf, command, &attributes, sizeof attributes); }

int load_program(const Program& program) {
    static constexpr char license[] = "Apache-2.0";
    bpf_attr attributes{};
    attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    attributes.insns = reinterpret_cast<std::uint64_t>(program.data());
    attributes.insn_cnt = static_cast<std::uint32_t>(program.size());
    attributes.license = reinterpret_cast<std::uint64_t>(license);
    return static_cast<int>(bpf(BPF_PROG_LOAD, attributes));
}

}  // namespace

bool can_filter_devices() {
    const int program = load_program(make_program({}));
    if (program >= 0) close(program);
    return program >= 0;
}

int deny_devices(const std::string& path, const std::vector<std::string>& files) {
    std::vector<Device> denied;
    for (const auto& file : files) {
        struct stat info {};
        if (stat(file.c_str(), &info) != 0 || (!S_ISCHR(info.st_mode) && !S_ISBLK(info.st_mode))) continue;
        denied.push_back(
            {S_ISCHR(info.st_mode) ? std::uint32_t{BPF_DEVCG_DEV_CHAR} : std::uint32_t{BPF_DEVCG_DEV_BLOCK},
             major(info.st_rdev), minor(info.st_rdev)});
    }
    if (denied.empty()) return 0;
    const int program = load_program(make_program(denied));
    if (program < 0) return errno;
    const int group = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = group < 0 ? errno : 0;
    if (error == 0) {
        bpf_attr attributes{};
        attributes.target_fd = static_cast<std::uint32_t>(group);
        attributes.attach_bpf_fd = static_cast<std::uint32_t>(program);
        attributes.attach_type = BPF_CGROUP_DEVICE;
        attributes.attach_flags = BPF_F_ALLOW_MULTI;
        if (bpf(BPF_PROG_ATTACH, attributes) != 0) error = errno;
        close(group);
    }
    close(program);
    return error;
}

}  // namespace spur::cgroup_v2
