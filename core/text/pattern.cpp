// Finding %-symbols in a file name and filling them in.
#include "core/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/ids.hpp"
#include "core/text/lexical.hpp"

namespace spur {
namespace {

constexpr std::size_t widest = 10;  // digits of the largest id

bool is_literal(std::string_view pattern) { return pattern.find('\\') != std::string_view::npos; }

std::string without_backslashes(std::string_view pattern) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '\\' && ++i == pattern.size()) break;
        name += pattern[i];
    }
    return name;
}

// A percent sign, digits and a letter. `end` is the position after it.
struct Symbol {
    std::size_t width{};
    bool has_width{};
    char letter{};
    std::size_t end{};
};

Symbol symbol_at(std::string_view pattern, std::size_t percent) {
    Symbol symbol;
    std::size_t at = percent + 1;
    for (; at < pattern.size() && is_digit(pattern[at]); ++at) {
        symbol.has_width = true;
        symbol.width = std::min(widest, symbol.width * 10 + static_cast<std::size_t>(pattern[at] - '0'));
    }
    symbol.letter = at < pattern.size() ? pattern[at] : '\0';
    symbol.end = std::min(at + 1, pattern.size());
    return symbol;
}

std::string padded(std::uint32_t number, std::size_t width) { return fmt::format("{:0{}}", number, width); }

std::optional<std::string> value_of(const Symbol& symbol, const PatternValues& values) {
    switch (symbol.letter) {
        case 'A':
            return padded(values.array_job.value_or(values.job), symbol.width);
        case 'a':
            return padded(values.array_task.value_or(no_value), symbol.width);
        case 'b':
            return padded(values.array_task.value_or(no_value) % 10, symbol.width);
        case 'J': {
            const auto job = padded(values.job, symbol.width);
            return values.step ? fmt::format("{}.{}", job, *values.step) : job;
        }
        case 'j':
            return padded(values.job, symbol.width);
        case 'N':
            return values.node;
        case 'n':
            return padded(values.node_index, symbol.width);
        case 's':
            return values.step ? padded(*values.step, symbol.width) : "batch";
        case 't':
            return padded(values.task, symbol.width);
        case 'u':
            return values.user;
        case 'x':
            return values.job_name;
        case '%':
            return symbol.has_width ? std::nullopt : std::optional<std::string>{"%"};
        default:
            return std::nullopt;
    }
}

bool has_symbol(std::string_view pattern, std::string_view letters) {
    if (is_literal(pattern)) return false;
    for (std::size_t i = 0; i < pattern.size();) {
        if (pattern[i] != '%') {
            ++i;
            continue;
        }
        const auto symbol = symbol_at(pattern, i);
        if (symbol.letter != '\0' && letters.find(symbol.letter) != std::string_view::npos) return true;
        i = symbol.end;
    }
    return false;
}

}  // namespace

std::string expand_pattern(std::string_view pattern, const PatternValues& values) {
    if (is_literal(pattern)) return without_backslashes(pattern);
    std::string name;
    for (std::size_t i = 0; i < pattern.size();) {
        if (pattern[i] != '%') {
            name += pattern[i++];
            continue;
        }
        const auto symbol = symbol_at(pattern, i);
        if (const auto value = value_of(symbol, values)) {
            name += *value;
            i = symbol.end;
        } else {
            if (!symbol.has_width) name += '%';  // Slurm drops the % of an unknown symbol with a width
            ++i;
        }
    }
    return name;
}

std::string expand_path(std::string_view pattern, const PatternValues& values, std::string_view work_dir) {
    auto name = expand_pattern(pattern, values);
    if (name.empty() || name.front() == '/') return name;
    return fmt::format("{}{}{}", work_dir, work_dir.ends_with('/') ? "" : "/", name);
}

bool differs_by_task(std::string_view pattern) { return has_symbol(pattern, "t"); }
bool differs_by_node(std::string_view pattern) { return has_symbol(pattern, "nN"); }

}  // namespace spur
