// The kernel does the reading: it answers EFAULT where a load instruction would fault.
#include "daemons/common/host/memory.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace spur::host {
namespace {

constexpr std::size_t page = 4096;

// Where process_vm_readv is forbidden (old container profiles): push the bytes through a pipe, which never blocks below
// a page.
bool copy_through_pipe(void* to, const void* from, std::size_t size) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    bool good = true;
    for (std::size_t done = 0; good && done < size;) {
        const auto part = std::min(size - done, page);
        good = ::write(ends[1], static_cast<const char*>(from) + done, part) == static_cast<ssize_t>(part) &&
               ::read(ends[0], static_cast<char*>(to) + done, part) == static_cast<ssize_t>(part);
        done += part;
    }
    ::close(ends[0]);
    ::close(ends[1]);
    return good;
}

}  // namespace

bool copy_memory(void* to, const void* from, std::size_t size) {
    if (from == nullptr) return false;
    const iovec ours{to, size};
    const iovec theirs{const_cast<void*>(from), size};
    const auto copied = ::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0);
    if (copied == static_cast<ssize_t>(size)) return true;
    if (copied < 0 && (errno == EPERM || errno == ENOSYS)) return copy_through_pipe(to, from, size);
    return false;
}

std::optional<std::string> copy_string(const char* text, std::size_t longest) {
    std::string out;
    std::array<char, page> buffer{};
    while (out.size() <= longest) {
        // Never across a page border in one go: the string may end just before unmapped memory.
        const auto at = reinterpret_cast<std::uintptr_t>(text) + out.size();
        const auto part = std::min(page - at % page, longest + 1 - out.size());
        if (part == 0 || !copy_memory(buffer.data(), reinterpret_cast<const void*>(at), part)) return std::nullopt;
        auto* const end = std::find(buffer.data(), buffer.data() + part, '\0');
        out.append(buffer.data(), end);
        if (end != buffer.data() + part) return out;
    }
    return std::nullopt;
}

bool is_code(const void* address) {
    struct Search {
        std::uintptr_t wanted;
    } search{reinterpret_cast<std::uintptr_t>(address)};
    const auto look = [](dl_phdr_info* object, std::size_t, void* context) -> int {
        const auto wanted = static_cast<const Search*>(context)->wanted;
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto& segment = object->dlpi_phdr[i];
            const auto begin = object->dlpi_addr + segment.p_vaddr;
            if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && wanted >= begin &&
                wanted - begin < segment.p_memsz)
                return 1;
        }
        return 0;
    };
    return address != nullptr && ::dl_iterate_phdr(look, &search) == 1;
}

}  // namespace spur::host
