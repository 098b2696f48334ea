// Tables as sacctmgr and sshare print them: columns of fixed width, numbers and names to the right unless the width is
// negative, too long cells cut with a plus sign; or with bars between them for scripts.
#pragma once

#include "core/base/result.hpp"
#include "daemons/common/records/record.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spur::cli {

enum class TableStyle { aligned, bars, bars_between };  // plain, -p, -P

enum class TooLong { plus, cut, keep };  // a cell that does not fit: cut with a plus sign, without one, or not at all

struct TableColumn {
    std::string header;
    int width;  // negative: to the left
    TooLong too_long = TooLong::plus;
};

class Table {
public:
    // `bar`: what stands between cells where the style has bars.
    Table(TableStyle style, bool header, std::vector<TableColumn> columns, std::string bar = "|")
        : style_{style}, with_header_{header}, columns_{std::move(columns)}, bar_{std::move(bar)} {}
    std::string header() const;
    std::string row(const std::vector<std::string>& cells) const;

private:
    std::string line(const std::vector<std::string>& cells) const;
    TableStyle style_;
    bool with_header_;
    std::vector<TableColumn> columns_;
    std::string bar_;
};

// "account%20", "User%-12": what a user asks of --format.
struct ColumnRequest {
    std::string name;  // lower case
    int width = 0;     // 0: the column's own
};
Result<std::vector<ColumnRequest>> parse_columns(std::string_view text);

// Records as a table; an absent value is an empty cell.
template <class F>
std::string table_text(TableStyle style, bool header, const std::vector<std::pair<const F*, int>>& columns,
                       const std::vector<typename F::ViewType>& views) {
    std::vector<TableColumn> shape;
    for (const auto& [field, width] : columns) shape.push_back({field->listing.header, width});
    const Table table{style, header, std::move(shape)};
    std::string text = table.header(), scratch;
    for (const auto& view : views) {
        std::vector<std::string> cells;
        for (const auto& [field, width] : columns)
            cells.emplace_back(
                records::write(field->get(view), field->type, records::Look::record, "", view.in, scratch));
        text += table.row(cells);
    }
    return text;
}

}  // namespace spur::cli
