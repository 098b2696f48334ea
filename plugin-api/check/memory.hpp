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

namespace spur::check {

// How long T was in the release that introduced it. A struct that grows gets a specialisation with its old size here.
template <class T>
constexpr std::size_t first_size = sizeof(T);

struct Shape {
    std::uint32_t extra = 0;  // bytes of noise behind every struct and record
    bool first = false;       // as in the first release, each array or struct ending where readable memory ends
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
        std::memcpy(static_cast<void*>(place), &value, std::min(length, sizeof value));
        return place;
    }

    // A span over copies of records.
    template <class T>
    spur_span span(const std::vector<T>& records) {
        const auto stride = length_of<T>();
        auto* place = static_cast<char*>(take(stride * records.size(), alignof(T)));
        for (std::size_t i = 0; i < records.size(); ++i)
            std::memcpy(place + i * stride, &records[i], std::min(stride, sizeof(T)));
        return {place, static_cast<std::uint32_t>(records.size()), static_cast<std::uint32_t>(stride)};
    }
    spur_span numbers(const std::vector<std::uint32_t>& values) {
        return {copy(values.data(), values.size()), static_cast<std::uint32_t>(values.size()), sizeof(std::uint32_t)};
    }
    spur_bits bits(const std::vector<bool>& set) {
        std::vector<std::uint64_t> words((set.size() + 63) / 64);
        for (std::size_t i = 0; i < set.size(); ++i)
            if (set[i]) words[i / 64] |= std::uint64_t{1} << (i % 64);
        return {copy(words.data(), words.size()), static_cast<std::uint32_t>(set.size()), 0};
    }
    spur_str str(std::string_view text) {
        return {copy(text.data(), text.size()), static_cast<std::uint32_t>(text.size()), 0};
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
        return shape_.first ? first_size<T> : sizeof(T) + shape_.extra;
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
