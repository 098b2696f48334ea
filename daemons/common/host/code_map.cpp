// A fixed table that only grows: nothing in it moves, so a signal handler can read it without a lock.
#include "daemons/common/host/code_map.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace spur::host {
namespace {

struct Segment {
    std::uintptr_t begin{}, end{};
    const char* plugin{nullptr};
    const char* file{nullptr};
    FileStamp stamp;
};
std::array<Segment, 256> segments;
std::atomic<std::size_t> segment_count{0};

struct Search {
    const link_map* wanted;
    const char *plugin, *file;
    const FileStamp& stamp;
};

int remember(dl_phdr_info* object, std::size_t, void* context) {
    const auto* const search = static_cast<const Search*>(context);
    if (object->dlpi_addr != search->wanted->l_addr) return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& segment = object->dlpi_phdr[i];
        const auto at = segment_count.load(std::memory_order_relaxed);
        if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || at >= segments.size()) continue;
        const auto begin = object->dlpi_addr + segment.p_vaddr;
        segments[at] = {begin, begin + segment.p_memsz, search->plugin, search->file, search->stamp};
        segment_count.store(at + 1, std::memory_order_release);
    }
    return 1;
}

}  // namespace

void map_code(void* handle, const char* plugin, const char* file, const FileStamp& stamp) {
    link_map* map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return;
    Search search{map, plugin, file, stamp};
    ::dl_iterate_phdr(remember, &search);
}

const char* find_code_owner(std::uintptr_t address) noexcept {
    const auto count = segment_count.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i)
        if (address >= segments[i].begin && address < segments[i].end) return segments[i].plugin;
    return nullptr;
}

bool is_written_over(const char* plugin) noexcept {
    const auto count = segment_count.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < count; ++i) {
        if (std::strcmp(segments[i].plugin, plugin) != 0) continue;
        const auto now = stamp_of(segments[i].file);
        if (now.is_same_file(segments[i].stamp) && now != segments[i].stamp) return true;
    }
    return false;
}

}  // namespace spur::host
