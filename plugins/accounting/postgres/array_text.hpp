// Values as PostgreSQL reads them from text: alone, and as a column of many rows at once.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/accounting/common/tables.hpp"
#include "plugins/accounting/common/value.hpp"

namespace spur::accounting {

std::string plain_text(const Value& value);  // not of an absent one
// '{1,NULL,"a \"quoted\" one"}' of column `column` of all rows.
std::string array_text(std::span<const std::vector<Value>> rows, std::size_t column);
Value from_text(std::string_view text, Kind kind);

}  // namespace spur::accounting
