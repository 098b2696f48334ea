// The BPF program that denies or allows devices to a group, and attaching it.
#include "devices.hpp"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace spur::cgroup_v2 {

namespace {

using Program = std::vector<bpf_insn>;

constexpr std::uint8_t result = BPF_REG_0, context = BPF_REG_1, major_number = BPF_REG_2, minor_number = BPF_REG_3,
                       kind = BPF_REG_4, wanted = BPF_REG_5, asked = BPF_REG_6;

bpf_insn load(std::uint8_t to, std::int16_t offset) { return {BPF_LDX | BPF_MEM | BPF_W, to, context, offset, 0}; }
bpf_insn jump_unless(std::uint8_t value, std::uint32_t number, std::int16_t over) {
    return {BPF_JMP32 | BPF_JNE | BPF_K, value, 0, over, static_cast<std::int32_t>(number)};
}
void answer(Program& program, std::int32_t allowed) {
    program.push_back({BPF_ALU64 | BPF_MOV | BPF_K, result, 0, 0, allowed});
    program.push_back({BPF_JMP | BPF_EXIT, 0, 0, 0, 0});
}

static_assert(BPF_DEVCG_ACC_MKNOD == 1 && BPF_DEVCG_ACC_READ == 2 && BPF_DEVCG_ACC_WRITE == 4);
std::int32_t access_of(const spur_cgroup_device& device) {
    return ((device.access & SPUR_CGROUP_MKNOD) != 0 ? BPF_DEVCG_ACC_MKNOD : 0) |
           ((device.access & SPUR_CGROUP_READ) != 0 ? BPF_DEVCG_ACC_READ : 0) |
           ((device.access & SPUR_CGROUP_WRITE) != 0 ? BPF_DEVCG_ACC_WRITE : 0);
}

// The context is access type, major, minor; the low half of the first says what kind of device it is, the high half what is to be
// done with it. A denied device answers 0 if anything of its access is asked for, an allowed one 1 if nothing else is. In a list of
// allowed ones those without any access come first and answer 0.
Program make_program(bool allows, const spur_span& devices) {
    Program program;
    program.push_back(load(kind, offsetof(bpf_cgroup_dev_ctx, access_type)));
    program.push_back({BPF_ALU | BPF_MOV | BPF_X, wanted, kind, 0, 0});
    program.push_back({BPF_ALU | BPF_AND | BPF_K, kind, 0, 0, 0xffff});
    program.push_back({BPF_ALU | BPF_RSH | BPF_K, wanted, 0, 0, 16});
    program.push_back(load(major_number, offsetof(bpf_cgroup_dev_ctx, major)));
    program.push_back(load(minor_number, offsetof(bpf_cgroup_dev_ctx, minor)));
    const auto add = [&](const spur_cgroup_device& device, bool is_refused) {
        Program tests;  // each jumps behind the answer
        const auto test = [&](std::uint8_t value, std::uint32_t number) {
            tests.push_back(jump_unless(value, number, 0));
        };
        test(kind, device.kind == SPUR_CGROUP_BLOCK ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR);
        if (device.major_number != SPUR_NONE) test(major_number, device.major_number);
        if (device.minor_number != SPUR_NONE) test(minor_number, device.minor_number);
        if (!is_refused) {
            tests.push_back({BPF_ALU | BPF_MOV | BPF_X, asked, wanted, 0, 0});
            tests.push_back({BPF_ALU | BPF_AND | BPF_K, asked, 0, 0, allows ? ~access_of(device) : access_of(device)});
            tests.push_back({static_cast<std::uint8_t>(BPF_JMP32 | (allows ? BPF_JNE : BPF_JEQ) | BPF_K), asked, 0, 0, 0});
        }
        constexpr std::size_t answer_length = 2;
        for (std::size_t at = 0; at < tests.size(); ++at)
            if (BPF_CLASS(tests[at].code) == BPF_JMP32)
                tests[at].off = static_cast<std::int16_t>(tests.size() - at - 1 + answer_length);
        program.insert(program.end(), tests.begin(), tests.end());
        answer(program, allows && !is_refused ? 1 : 0);
    };
    for (const bool is_refused : {true, false})
        for (std::uint32_t i = 0; i < devices.count; ++i)
            if (const auto& device = *SPUR_AT(spur_cgroup_device, devices, i);
                (allows && device.access == 0) == is_refused)
                add(device, is_refused);
    answer(program, allows ? 0 : 1);
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

// The programs that are attached to the group itself.
std::vector<std::uint32_t> attached(int group) {
    std::uint32_t ids[64];
    bpf_attr attributes{};
    attributes.query.target_fd = static_cast<std::uint32_t>(group);
    attributes.query.attach_type = BPF_CGROUP_DEVICE;
    attributes.query.prog_ids = reinterpret_cast<std::uint64_t>(ids);
    attributes.query.prog_cnt = std::size(ids);
    if (bpf(BPF_PROG_QUERY, attributes) != 0) return {};
    return {ids, ids + std::min<std::size_t>(attributes.query.prog_cnt, std::size(ids))};
}

int attach(int group, int program) {
    bpf_attr attributes{};
    attributes.target_fd = static_cast<std::uint32_t>(group);
    attributes.attach_bpf_fd = static_cast<std::uint32_t>(program);
    attributes.attach_type = BPF_CGROUP_DEVICE;
    attributes.attach_flags = BPF_F_ALLOW_MULTI;
    return bpf(BPF_PROG_ATTACH, attributes) == 0 ? 0 : errno;
}

void detach(int group, std::uint32_t id) {
    bpf_attr named{};
    named.prog_id = id;
    const int program = static_cast<int>(bpf(BPF_PROG_GET_FD_BY_ID, named));
    if (program < 0) return;
    bpf_attr attributes{};
    attributes.target_fd = static_cast<std::uint32_t>(group);
    attributes.attach_bpf_fd = static_cast<std::uint32_t>(program);
    attributes.attach_type = BPF_CGROUP_DEVICE;
    bpf(BPF_PROG_DETACH, attributes);
    close(program);
}

}  // namespace

bool can_filter_devices() {
    const int program = load_program(make_program(false, {}));
    if (program >= 0) close(program);
    return program >= 0;
}

// The new rule before the old one goes: there is no moment without.
int rule_devices(const std::string& path, std::uint32_t rule, const spur_span& devices) {
    const int group = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (group < 0) return errno;
    const auto before = attached(group);
    int error = 0;
    if (rule != SPUR_CGROUP_DEVICES_ANY) {
        const int program = load_program(make_program(rule == SPUR_CGROUP_DEVICES_ALLOW, devices));
        error = program < 0 ? errno : attach(group, program);
        if (program >= 0) close(program);
    }
    if (error == 0)
        for (const auto id : before) detach(group, id);
    close(group);
    return error;
}

}  // namespace spur::cgroup_v2
