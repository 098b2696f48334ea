// How scontrol lays out a record: a first line, indented lines below it, a blank line after it; or all on one line.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "core/text/quote.hpp"
#include "daemons/common/records/record.hpp"

namespace spur::cli::scontrol {

struct Style {
    bool one_line = false;  // -o
    int details = 0;        // -d, -dd
    std::int64_t now = 0;
};

class Record {
public:
    // Users choose names and comments: what they say stays in its line.
    template <class... Args>
    void line(fmt::format_string<Args...> text, Args&&... args) {
        lines_.push_back(printable(fmt::format(text, std::forward<Args>(args)...), std::string::npos));
    }
    std::string text(const Style& style, const char* indent = "   ") const {
        std::string whole;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (i != 0) whole += style.one_line ? " " : std::string("\n") + indent;
            whole += lines_[i];
        }
        return whole + (style.one_line ? "\n" : "\n\n");
    }

private:
    std::vector<std::string> lines_;
};

// "(null)" for nothing, as printf says.
inline std::string shown(const std::string& text, const char* absent = "(null)") {
    return text.empty() ? absent : text;
}

// "Name=value"; nothing for a field that is left out.
template <class Row>
std::string field_text(const Row& field, const typename Row::ViewType& view) {
    const auto value = field.get(view);
    if (value.is_absent() && field.absent.record == records::left_out) return {};
    std::string scratch;
    return fmt::format("{}={}", field.name,
                       records::write(value, field.type, records::Look::record, field.absent.record, view.in, scratch));
}

enum class Only { always, details, batch };

// Fields that share a line.
template <class Id>
struct Line {
    std::initializer_list<Id> fields;
    Only only = Only::always;
    const char* tail = "";
    const char* gap = "";  // the tail where the last field is left out
};

// `text_of` is field_text(), or what a field has for it in this listing.
template <class Id, class TextOf>
void put_line(Record& record, const Line<Id>& line, TextOf text_of) {
    std::string text;
    bool left_out = false;
    for (const auto id : line.fields) {
        const std::string one = text_of(id);
        left_out = one.empty();
        if (!left_out) text += (text.empty() ? "" : " ") + one;
    }
    if (!text.empty()) record.line("{}{}", text, left_out ? line.gap : line.tail);
}

// A field that has no place yet has a line of its own.
template <class Row, class Lines, class TextOf>
void put_rest(Record& record, std::span<const Row> rows, const Lines& lines, TextOf text_of) {
    for (const auto& field : rows)
        if (field.name && std::ranges::none_of(lines, [&](const auto& line) {
                return std::ranges::find(line.fields, field.id) != line.fields.end();
            }))
            put_line(record, Line<decltype(field.id)>{{field.id}}, text_of);
}

}  // namespace spur::cli::scontrol
