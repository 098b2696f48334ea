// Memory as an older or a newer host would lay it out: structs and records longer than ours with noise behind, or of
// exactly the first release's length with an unreadable page behind.
#pragma once

#include <spur/plugin/abi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "case.hpp"
#include "plugin-api/abi/first_sizes.hpp"

namespace spur::check {

using abi::first_size;

// A member named `reserved` is ignored when it is read: newer hosts have something there.
template <class T>
void fill_reserved(T& record) {
    if constexpr (requires { record.reserved; }) record.reserved = 0xA5A5A5A5u;
}

struct Shape {
    std::uint32_t extra = 0;  // bytes of noise behind every struct and record
    bool first = false;       // as in the first release, each array or struct ending where readable memory ends
};

template <class T>
std::size_t length_in(Shape shape) {
    return shape.first ? first_size<T> : sizeof(T) + shape.extra;
}

// Memory for answers, a fence of guard bytes behind it: `count` records of `stride` bytes each, or one struct that
// opens with its size. What the plugin may write is exactly what it was told there is.
class Fence {
public:
    static constexpr unsigned char guard = 0xC3;
    Fence(std::size_t bytes) : bytes_(bytes), memory_((bytes + margin) / sizeof(std::max_align_t) + 1) {
        std::memset(data(), guard, memory_.size() * sizeof(std::max_align_t));
    }
    void* data() const { return const_cast<std::max_align_t*>(memory_.data()); }
    // Fails if `call` wrote behind it.
    void check(const char* call) const {
        const auto* const behind = static_cast<const unsigned char*>(data()) + bytes_;
        for (std::size_t i = 0; i < margin; ++i)
            require(behind[i] == guard, "{} wrote past the {} bytes its caller has: copy with SPUR_PUT", call, bytes_);
    }

private:
    static constexpr std::size_t margin = 512;
    std::size_t bytes_;
    std::vector<std::max_align_t> memory_;
};

// One struct that opens with `size`, for a plugin to fill.
template <class T>
class Output {
public:
    explicit Output(Shape shape = {}) : size_(length_in<T>(shape)), fence_(size_) {
        std::memset(fence_.data(), 0, size_);
        get()->size = static_cast<std::uint32_t>(size_);
    }
    T* get() const { return static_cast<T*>(fence_.data()); }
    // What was written; fails if `call` wrote behind it, or changed `size`.
    T read(const char* call) const {
        fence_.check(call);
        require(get()->size == size_, "{} changed `size` of its caller's memory from {} to {}: it is not the plugin's",
                call, size_, get()->size);
        T value{};
        std::memcpy(static_cast<void*>(&value), get(), std::min(size_, sizeof value));
        return value;
    }

private:
    std::size_t size_;
    Fence fence_;
};

class Memory {
public:
    explicit Memory(Shape shape = {}) : shape_(shape) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    // A copy of a struct that opens with `size`, which is set.
    template <class T>
    T* one(T value) {
        const auto length = length_of<T>();
        auto* place = static_cast<T*>(take(length, alignof(T)));
        value.size = static_cast<std::uint32_t>(length);
        if (shape_.extra != 0) fill_reserved(value);
        std::memcpy(static_cast<void*>(place), &value, std::min(length, sizeof value));
        return place;
    }

    // A span over copies of records.
    template <class T>
    spur_span span(const std::vector<T>& records) {
        const auto stride = length_of<T>();
        auto* place = static_cast<char*>(take(stride * records.size(), alignof(T)));
        for (std::size_t i = 0; i < records.size(); ++i) {
            auto record = records[i];
            if (shape_.extra != 0) fill_reserved(record);
            std::memcpy(place + i * stride, &record, std::min(stride, sizeof(T)));
        }
        return {place, static_cast<std::uint32_t>(records.size()), static_cast<std::uint32_t>(stride)};
    }
    spur_span numbers(const std::vector<std::uint32_t>& values) {
        return {copy(values.data(), values.size()), static_cast<std::uint32_t>(values.size()), sizeof(std::uint32_t)};
    }
    spur_bits bits(const std::vector<bool>& set) {
        std::vector<std::uint64_t> words((set.size() + 63) / 64);
        for (std::size_t i = 0; i < set.size(); ++i)
            if (set[i]) words[i / 64] |= std::uint64_t{1} << (i % 64);
        return {copy(words.data(), words.size()), static_cast<std::uint32_t>(set.size()), shape_.extra};
    }
    spur_str str(std::string_view text) {
        return {copy(text.data(), text.size()), static_cast<std::uint32_t>(text.size()), shape_.extra};
    }
    const char* c_str(std::string_view text) {
        auto* place = static_cast<char*>(take(text.size() + 1, 1));
        std::memcpy(place, text.data(), text.size());
        place[text.size()] = '\0';
        return place;
    }
    template <class T>
    T* copy(const T* values, std::size_t count) {
        auto* place = static_cast<T*>(take(sizeof(T) * count, alignof(T)));
        if (count != 0) std::memcpy(static_cast<void*>(place), values, sizeof(T) * count);
        return place;
    }

    // `bytes` of noise, aligned.
    void* take(std::size_t bytes, std::size_t alignment);

private:
    template <class T>
    std::size_t length_of() const {
        return length_in<T>(shape_);
    }
    struct Unmap {
        std::size_t length;
        void operator()(void* pages) const;
    };

    Shape shape_;
    std::vector<std::unique_ptr<std::max_align_t[]>> blocks_;
    std::vector<std::unique_ptr<void, Unmap>> fenced_;
};

}  // namespace spur::check
