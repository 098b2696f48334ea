// The lists of the header, expanded.
#include "plugins/accounting/common/tables.hpp"

#include <algorithm>
#include <iterator>

namespace spur::accounting {
namespace {

// The header's words for kinds and roles.
constexpr auto INT = Kind::integer, TIME = Kind::time, REAL = Kind::real, TEXT = Kind::text, BYTES = Kind::bytes,
               TRES = Kind::json;
constexpr auto KEY = Role::key, FIND = Role::find, HOSTS = Role::hosts, PLAIN = Role::plain;

#define SPUR_COLUMN(name, kind, role) Column{#name, kind, role},
#define SPUR_COLUMNS(number, name, fields) constexpr Column name##_columns[] = {fields(SPUR_COLUMN)};
SPUR_ROW_TABLES(SPUR_COLUMNS)
#define SPUR_TABLE(number, name, fields) Table{number, #name, name##_columns},
constexpr Table all_tables[] = {SPUR_ROW_TABLES(SPUR_TABLE)};

}  // namespace

std::span<const Column> Table::keys() const {
    const auto end = std::ranges::find_if(columns, [](const Column& column) { return column.role != Role::key; });
    return columns.first(static_cast<std::size_t>(std::distance(columns.begin(), end)));
}

const Column* Table::find(std::string_view column) const {
    const auto found = std::ranges::find(columns, column, &Column::name);
    return found == columns.end() ? nullptr : &*found;
}

const Column* Table::over() const {
    for (const auto* name : {"end_time", "start_time", "time"})
        if (const auto* const column = find(name)) return column;
    return nullptr;
}

std::span<const Table> tables() { return all_tables; }

const Table* find_table(std::uint32_t number) {
    const auto* const found = std::ranges::find(all_tables, number, &Table::number);
    return found == std::end(all_tables) ? nullptr : found;
}

}  // namespace spur::accounting
