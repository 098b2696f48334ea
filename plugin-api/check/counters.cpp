// Stand-ins for malloc, clock_gettime and their relatives that count and then do the same. A plugin's calls arrive here
// because symbols of the executable come first in the search order. Under a sanitizer its own hooks do the counting.
#include "counters.hpp"

#include <malloc.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

thread_local spur::check::Counts mine;
std::atomic<std::int64_t> live_blocks{0};
std::atomic<std::int64_t> live_bytes{0};

void count_in(const void* block, std::size_t bytes) {
    if (block == nullptr) return;
    ++mine.allocations;
    live_blocks.fetch_add(1, std::memory_order_relaxed);
    live_bytes.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}
void count_out(std::size_t bytes) {
    live_blocks.fetch_sub(1, std::memory_order_relaxed);
    live_bytes.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
}

}  // namespace

namespace spur::check {

Counts counts() { return mine; }
Heap heap() { return {live_blocks.load(), live_bytes.load()}; }

}  // namespace spur::check

#define SPUR_STAND_IN extern "C" __attribute__((visibility("default")))

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);

namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void* block, std::size_t bytes) { count_in(const_cast<const void*>(block), bytes); },
    [](const volatile void* block) {
        if (block != nullptr) count_out(__sanitizer_get_allocated_size(block));
    });
}  // namespace

#else

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {
void* counted(void* block) {
    if (block != nullptr) count_in(block, malloc_usable_size(block));
    return block;
}
}  // namespace

SPUR_STAND_IN void* malloc(std::size_t bytes) { return counted(__libc_malloc(bytes)); }
SPUR_STAND_IN void* calloc(std::size_t count, std::size_t bytes) { return counted(__libc_calloc(count, bytes)); }
SPUR_STAND_IN void* memalign(std::size_t align, std::size_t bytes) { return counted(__libc_memalign(align, bytes)); }
SPUR_STAND_IN void* aligned_alloc(std::size_t align, std::size_t bytes) {
    return counted(__libc_memalign(align, bytes));
}
SPUR_STAND_IN int posix_memalign(void** out, std::size_t align, std::size_t bytes) {
    if (align % sizeof(void*) != 0 || (align & (align - 1)) != 0) return EINVAL;
    void* block = counted(__libc_memalign(align, bytes));
    if (block == nullptr) return ENOMEM;
    *out = block;
    return 0;
}
SPUR_STAND_IN void* realloc(void* block, std::size_t bytes) {
    const auto before = block != nullptr ? malloc_usable_size(block) : 0;
    void* moved = __libc_realloc(block, bytes);
    if (block != nullptr && (moved != nullptr || bytes == 0)) count_out(before);
    return counted(moved);
}
SPUR_STAND_IN void free(void* block) {
    if (block == nullptr) return;
    count_out(malloc_usable_size(block));
    __libc_free(block);
}

#endif

SPUR_STAND_IN int clock_gettime(clockid_t clock, struct timespec* out) {
    ++mine.clock_reads;
    return static_cast<int>(syscall(SYS_clock_gettime, clock, out));
}
SPUR_STAND_IN time_t time(time_t* out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != nullptr) *out = now.tv_sec;
    return now.tv_sec;
}
SPUR_STAND_IN int gettimeofday(struct timeval* out, void*) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = {now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
