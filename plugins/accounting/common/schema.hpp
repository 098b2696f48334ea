// The schema of the databases: its tables, its views, and how it came about version by version.
#pragma once

#include <string>
#include <vector>

#include "plugins/accounting/common/connection.hpp"

namespace spur::accounting {

inline constexpr std::uint32_t newest_schema = 1;

// What a migration to `version` runs, in order, inside one transaction.
struct Migration {
    std::uint32_t version;
    std::string_view what;
    std::vector<std::string> (*statements)(const Dialect& dialect);
};
std::span<const Migration> migrations();

std::string table_name(const Table& table);  // quoted
std::string quoted(std::string_view name);

// The statement that stores rows of a table: cluster, its columns, then row_stream, sequence, removed, more.
Upsert upsert_for(const Table& table, const Dialect& dialect);

}  // namespace spur::accounting
