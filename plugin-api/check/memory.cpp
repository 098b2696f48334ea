// Blocks on the heap, or pages of their own with a fence behind.
#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace spur::check {

void* Memory::take(std::size_t bytes, std::size_t alignment) {
    constexpr int noise = 0xA5;
    if (!shape_.first) {
        auto& block = blocks_.emplace_back(new std::max_align_t[bytes / sizeof(std::max_align_t) + 1]);
        std::memset(block.get(), noise, bytes);
        return block.get();
    }
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const auto body = (bytes + page) / page * page;
    void* pages = mmap(nullptr, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    fenced_.emplace_back(pages, Unmap{body + page});
    mprotect(static_cast<char*>(pages) + body, page, PROT_NONE);
    const auto start = (body - bytes) / alignment * alignment;
    auto* place = static_cast<char*>(pages) + start;
    std::memset(place, noise, bytes);
    return place;
}

void Memory::Unmap::operator()(void* pages) const { munmap(pages, length); }

}  // namespace spur::check
