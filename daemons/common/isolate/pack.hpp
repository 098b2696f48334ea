// Bytes between a daemon and a plugin's process: both are of one build, so numbers go as they lie in memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace spur::isolate {

class Pack {
public:
    template <class T>
    requires std::is_trivially_copyable_v<T>
    void raw(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
    void text(std::string_view text) {
        raw(std::uint64_t{text.size()});
        bytes_ += text;
    }
    std::string& bytes() { return bytes_; }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

// What is read past the end is zero, and good() is false from there on. Texts are views of the bytes.
class Unpack {
public:
    explicit Unpack(std::string_view bytes) : rest_{bytes} {}
    Unpack(const Unpack&) = delete;
    Unpack& operator=(const Unpack&) = delete;

    template <class T>
    requires std::is_trivially_copyable_v<T>
    void raw(T& value) {
        if (rest_.size() < sizeof(value)) return fail(), static_cast<void>(std::memset(&value, 0, sizeof(value)));
        std::memcpy(&value, rest_.data(), sizeof(value));
        rest_.remove_prefix(sizeof(value));
    }
    template <class T>
    T get() {
        T value{};
        raw(value);
        return value;
    }
    std::string_view text() {
        const auto size = get<std::uint64_t>();
        if (size > rest_.size()) return fail(), std::string_view{};
        const auto text = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return text;
    }
    // Memory that lives as long as this.
    void* store(std::size_t size) {
        kept_.push_back(std::make_unique<std::max_align_t[]>(size / sizeof(std::max_align_t) + 1));
        return kept_.back().get();
    }
    void refuse() { fail(); }  // what was read makes no sense
    bool good() const { return good_; }
    std::size_t left() const { return rest_.size(); }

private:
    void fail() {
        good_ = false;
        rest_ = {};
    }
    std::string_view rest_;
    bool good_{true};
    std::vector<std::unique_ptr<std::max_align_t[]>> kept_;
};

}  // namespace spur::isolate
