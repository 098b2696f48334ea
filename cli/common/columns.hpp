// Tables as sacctmgr and sshare print them: columns of fixed width, numbers and names to the right unless the width is
// negative, too long cells cut with a plus sign; or with bars between them for scripts.
#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace spur::cli {

enum class TableStyle { aligned, bars, bars_between };  // plain, -p, -P

struct TableColumn {
    std::string header;
    int width;  // negative: to the left
};

class Table {
public:
    Table(TableStyle style, bool header, std::vector<TableColumn> columns)
        : style_{style}, with_header_{header}, columns_{std::move(columns)} {}
    std::string header() const;
    std::string row(const std::vector<std::string>& cells) const;

private:
    std::string line(const std::vector<std::string>& cells) const;
    TableStyle style_;
    bool with_header_;
    std::vector<TableColumn> columns_;
};

// "account%20", "User%-12": what a user asks of --format.
struct ColumnRequest {
    std::string name;  // lower case
    int width = 0;     // 0: the column's own
};
Result<std::vector<ColumnRequest>> parse_columns(std::string_view text);

}  // namespace spur::cli
