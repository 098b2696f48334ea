// A small JSON writer: enough to print what --json asks for, in the layout Slurm prints it.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace spur::cli {

class JsonWriter {
public:
    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }
    void key(std::string_view name) {
        comma();
        quote(name);
        text_ += ": ";
        after_key_ = true;
    }
    void value(std::string_view text) {
        comma();
        quote(text);
    }
    void value(const char* text) { value(std::string_view(text)); }
    void value(bool yes) { raw(yes ? "true" : "false"); }
    template <std::integral T>
    void value(T number) {
        raw(fmt::format("{}", number));
    }
    void value(double number) { raw(fmt::format("{}", number)); }
    void null() { raw("null"); }

    template <class T>
    void member(std::string_view name, const T& content) {
        key(name);
        value(content);
    }
    void member_null(std::string_view name) {
        key(name);
        null();
    }
    std::string take() { return std::move(text_) + "\n"; }

private:
    void raw(std::string_view text) {
        comma();
        text_ += text;
    }
    void comma() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (!first_) text_ += ',';
        if (depth_ != 0) new_line();
        first_ = false;
    }
    void new_line() {
        text_ += '\n';
        text_.append(2 * depth_, ' ');
    }
    void open(char bracket) {
        comma();
        text_ += bracket;
        ++depth_;
        first_ = true;
    }
    void close(char bracket) {
        --depth_;
        new_line();
        text_ += bracket;
        first_ = false;
    }
    void quote(std::string_view text) {
        text_ += '"';
        for (const char c : text) {
            switch (c) {
                case '"':
                    text_ += "\\\"";
                    break;
                case '\\':
                    text_ += "\\\\";
                    break;
                case '/':
                    text_ += "\\/";
                    break;
                case '\n':
                    text_ += "\\n";
                    break;
                case '\t':
                    text_ += "\\t";
                    break;
                case '\r':
                    text_ += "\\r";
                    break;
                default:
                    if (static_cast<unsigned char>(c) < 0x20)
                        text_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                    else
                        text_ += c;
            }
        }
        text_ += '"';
    }

    std::string text_;
    std::size_t depth_ = 0;
    bool first_ = true;
    bool after_key_ = false;
};

}  // namespace spur::cli
