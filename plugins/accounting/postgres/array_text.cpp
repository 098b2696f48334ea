// Writing and reading PostgreSQL's text forms.
#include "plugins/accounting/postgres/array_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace spur::accounting {
namespace {

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "\\x";
    for (const unsigned char byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::string from_hex(std::string_view text) {
    std::string bytes;
    text.remove_prefix(std::min<std::size_t>(2, text.size()));  // "\x"
    for (; text.size() >= 2; text.remove_prefix(2)) {
        unsigned value = 0;
        std::from_chars(text.data(), text.data() + 2, value, 16);
        bytes += static_cast<char>(value);
    }
    return bytes;
}

void append_quoted(std::string& text, std::string_view item) {
    text += '"';
    for (const char c : item) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    text += '"';
}

}  // namespace

std::string plain_text(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
    if (const auto* bytes = std::get_if<Bytes>(&value)) return hex(bytes->data);
    return std::get<std::string>(value);
}

std::string array_text(std::span<const std::vector<Value>> rows, std::size_t column) {
    std::string text = "{";
    for (const auto& row : rows) {
        if (text.size() > 1) text += ',';
        const auto& value = row[column];
        if (is_null(value))
            text += "NULL";
        else if (const auto* number = std::get_if<std::int64_t>(&value))
            fmt::format_to(std::back_inserter(text), "{}", *number);
        else if (const auto* item = std::get_if<std::string>(&value))
            append_quoted(text, *item);
        else
            append_quoted(text, plain_text(value));
    }
    return text + '}';
}

Value from_text(std::string_view text, Kind kind) {
    switch (kind) {
        case Kind::integer:
        case Kind::time: {
            std::int64_t number = 0;
            std::from_chars(text.data(), text.data() + text.size(), number);
            return number;
        }
        case Kind::real:
            return std::strtod(std::string{text}.c_str(), nullptr);
        case Kind::bytes:
            return Bytes{from_hex(text)};
        default:
            return std::string{text};
    }
}

}  // namespace spur::accounting
