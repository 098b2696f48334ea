// Laying out the cells of such tables, and reading the user's choice of columns: "account%20,user".
#include "cli/common/columns.hpp"

#include "core/text/lexical.hpp"

#include <cstdlib>

namespace spur::cli {

std::string Table::line(const std::vector<std::string>& cells) const {
    std::string text;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string_view cell = i < cells.size() ? std::string_view{cells[i]} : std::string_view{};
        if (style_ != TableStyle::aligned) {
            text += cell;
            if (style_ == TableStyle::bars || i + 1 < columns_.size()) text += bar_;
            continue;
        }
        const auto width = static_cast<std::size_t>(std::abs(columns_[i].width));
        const std::string pad(width > cell.size() ? width - cell.size() : 0, ' ');
        if (columns_[i].width > 0) text += pad;
        if (cell.size() > width && columns_[i].too_long == TooLong::plus)
            text += std::string{cell.substr(0, width > 0 ? width - 1 : 0)} + '+';
        else if (columns_[i].too_long == TooLong::cut)
            text += cell.substr(0, width);
        else
            text += cell;
        if (columns_[i].width < 0) text += pad;
        text += ' ';
    }
    return text + '\n';
}

std::string Table::header() const {
    if (!with_header_) return {};
    std::vector<std::string> names, dashes;
    for (const auto& column : columns_) {
        // Too long headers are cut, without the sign that says so.
        const auto width = static_cast<std::size_t>(std::abs(column.width));
        names.push_back(style_ == TableStyle::aligned ? column.header.substr(0, width) : column.header);
        dashes.emplace_back(static_cast<std::size_t>(std::abs(column.width)), '-');
    }
    return style_ == TableStyle::aligned ? line(names) + line(dashes) : line(names);
}

std::string Table::row(const std::vector<std::string>& cells) const { return line(cells); }

Result<std::vector<ColumnRequest>> parse_columns(std::string_view text) {
    std::vector<ColumnRequest> columns;
    for (const auto item : split(text, ',')) {
        const auto word = trim(item);
        if (word.empty()) continue;
        const auto percent = word.find('%');
        ColumnRequest column{lower(word.substr(0, percent)), 0};
        if (percent != std::string_view::npos) {
            auto digits = word.substr(percent + 1);
            const bool left = digits.starts_with('-');
            if (left) digits.remove_prefix(1);
            const auto width = find_unsigned(digits);
            if (!width || *width == 0 || *width > 100'000)
                return fail(ErrorCode::invalid, "Invalid field width in \"{}\"", word);
            column.width = left ? -static_cast<int>(*width) : static_cast<int>(*width);
        }
        columns.push_back(std::move(column));
    }
    return columns;
}

}  // namespace spur::cli
