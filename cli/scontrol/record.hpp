// How scontrol lays out a record: a first line, indented lines below it, a blank line after it; or all on one line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/text/quote.hpp"

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

}  // namespace spur::cli::scontrol
