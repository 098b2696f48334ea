// Text: an immutable string in one pointer. A pending job has some forty of them, most empty, many shared with the
// user's previous job; copies cost a counter, and may be made and dropped on any thread.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace spur {

class Text {
public:
    Text() = default;
    Text(std::string_view text) : body_{make(text)} {}
    Text(const std::string& text) : Text{std::string_view{text}} {}
    Text(const char* text) : Text{std::string_view{text}} {}
    Text(const Text& other) noexcept : body_{other.body_} { keep(); }
    Text(Text&& other) noexcept : body_{std::exchange(other.body_, nullptr)} {}
    Text& operator=(Text other) noexcept {
        std::swap(body_, other.body_);
        return *this;
    }
    ~Text() { drop(); }

    std::string_view view() const;
    operator std::string_view() const { return view(); }
    std::string str() const { return std::string{view()}; }
    bool empty() const { return body_ == nullptr; }
    std::size_t size() const { return view().size(); }

    // True when both are one and the same string in memory; equal texts need not be.
    bool is_same(const Text& other) const { return body_ == other.body_; }

    friend bool operator==(const Text& a, const Text& b) { return a.body_ == b.body_ || a.view() == b.view(); }
    friend auto operator<=>(const Text& a, const Text& b) { return a.view() <=> b.view(); }
    friend bool operator==(const Text& a, std::string_view b) { return a.view() == b; }
    friend auto operator<=>(const Text& a, std::string_view b) { return a.view() <=> b; }
    friend bool operator==(const Text& a, const char* b) { return a.view() == b; }
    friend auto operator<=>(const Text& a, const char* b) { return a.view() <=> std::string_view{b}; }
    friend bool operator==(const Text& a, const std::string& b) { return a.view() == b; }

private:
    struct Body;  // count, size, characters
    static Body* make(std::string_view text);
    void keep() const noexcept;
    void drop() noexcept;
    Body* body_{nullptr};
};

}  // namespace spur

template <>
struct std::hash<spur::Text> {
    std::size_t operator()(const spur::Text& text) const noexcept { return std::hash<std::string_view>{}(text.view()); }
};

template <>
struct fmt::formatter<spur::Text> : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const spur::Text& text, Context& context) const {
        return fmt::formatter<std::string_view>::format(text.view(), context);
    }
};
