// Statements that make and fill the tables.
#include "plugins/accounting/common/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::accounting {
namespace {

std::string_view type_of(Kind kind, const Dialect& dialect) {
    switch (kind) {
        case Kind::integer:
        case Kind::time:
            return dialect.integer;
        case Kind::real:
            return dialect.real;
        case Kind::text:
            return dialect.text;
        case Kind::bytes:
            return dialect.bytes;
        case Kind::json:
            return dialect.json;
    }
    return dialect.text;
}

std::string key_list(const Table& table) {
    std::string list = "cluster";
    for (const auto& key : table.keys()) list += ", " + quoted(key.name);
    return list;
}

std::string create_table(const Table& table, const Dialect& dialect) {
    auto sql = fmt::format("CREATE TABLE {} (cluster {} NOT NULL", table_name(table), dialect.text);
    for (const auto& column : table.columns)
        sql += fmt::format(", {} {}{}", quoted(column.name), type_of(column.kind, dialect),
                           column.role == Role::key ? " NOT NULL" : "");
    sql +=
        fmt::format(", row_stream {} NOT NULL, sequence {} NOT NULL, removed {} NOT NULL, more {}, PRIMARY KEY ({}))",
                    dialect.text, dialect.integer, dialect.integer, dialect.json, key_list(table));
    if (table.is_large() && dialect.has_partitions) sql += " PARTITION BY RANGE (submit_time)";
    return sql;
}

// By what is often asked for, and within it by when it ended: history is asked for by time.
void add_indexes(const Table& table, std::vector<std::string>& statements) {
    for (const auto& column : table.columns) {
        if (column.role != Role::find) continue;
        const bool by_time = table.has_end() && column.kind != Kind::time;
        statements.push_back(fmt::format("CREATE INDEX spurdb_{}_{} ON {} (cluster, {}{})", table.name, column.name,
                                         table_name(table), quoted(column.name), by_time ? ", end_time" : ""));
    }
}

std::string view_name(const Table& table) {
    const bool is_plural = table.name.ends_with('s') || table.number == SPUR_ROW_SET_ASIDE;
    return fmt::format("spur_{}{}", table.name, is_plural ? "" : "s");
}

// What sites may rely on: names and types of these stay, and times are times.
std::string create_view(const Table& table, const Dialect& dialect, const std::string& name,
                        const std::string& condition) {
    auto sql = fmt::format("CREATE VIEW {} AS SELECT cluster", name);
    for (const auto& column : table.columns)
        sql += column.kind == Kind::time
                   ? fmt::format(", {} AS {}", dialect.time(quoted(column.name)), quoted(column.name))
                   : ", " + quoted(column.name);
    if (table.has_end()) sql += ", end_time - start_time AS elapsed_s";
    return sql + fmt::format(", more FROM {} WHERE removed = 0{}", table_name(table), condition);
}

std::vector<std::string> first_schema(const Dialect& dialect) {
    std::vector<std::string> statements;
    for (const auto& table : tables()) {
        statements.push_back(create_table(table, dialect));
        add_indexes(table, statements);
        if (table.number == SPUR_ROW_USAGE) {
            for (const auto* period : {"hour", "day", "month"}) {
                const std::string name = period == std::string_view{"day"} ? "dai" : period;
                statements.push_back(create_view(table, dialect, fmt::format("spur_usage_{}ly", name),
                                                 fmt::format(" AND period = '{}'", period)));
            }
        } else {
            statements.push_back(create_view(table, dialect, view_name(table), ""));
        }
    }
    statements.push_back(fmt::format(
        "CREATE TABLE spurdb_stored (cluster {} NOT NULL, stream {} NOT NULL, first {} NOT NULL, last {} NOT NULL, "
        "PRIMARY KEY (cluster, stream, first))",
        dialect.text, dialect.text, dialect.integer, dialect.integer));
    return statements;
}

constexpr Migration all_migrations[] = {{1, "tables and views", first_schema}};
static_assert(std::size(all_migrations) == newest_schema);

}  // namespace

std::span<const Migration> migrations() { return all_migrations; }

std::string quoted(std::string_view name) { return fmt::format("\"{}\"", name); }

std::string table_name(const Table& table) { return fmt::format("spurdb_{}", table.name); }

// The rule of accounting.h: of two values the one with the higher sequence, and none is no value.
Upsert upsert_for(const Table& table, const Dialect& dialect) {
    Upsert result{table_name(table), {"cluster"}, {Kind::text}, {}};
    const std::string newer =
        "(excluded.sequence = 0 OR excluded.row_stream <> t.row_stream OR excluded.sequence >= t.sequence)";
    std::string changes;
    const auto change = [&](const std::string& column, const std::string& if_newer, const std::string& if_older) {
        changes += fmt::format("{}{} = CASE WHEN {} THEN {} ELSE {} END", changes.empty() ? "" : ", ", column, newer,
                               if_newer, if_older);
    };
    for (const auto& column : table.columns) {
        const auto name = quoted(column.name);
        result.columns.push_back(name);
        result.kinds.push_back(column.kind);
        if (column.role != Role::key)
            change(name, fmt::format("COALESCE(excluded.{0}, t.{0})", name),
                   fmt::format("COALESCE(t.{0}, excluded.{0})", name));
    }
    for (const auto* own : {"row_stream", "sequence", "removed", "more"}) result.columns.emplace_back(own);
    result.kinds.insert(result.kinds.end(), {Kind::text, Kind::integer, Kind::integer, Kind::json});
    for (const auto* own : {"row_stream", "sequence", "removed"})
        change(own, fmt::format("excluded.{}", own), fmt::format("t.{}", own));
    change("more", fmt::format("COALESCE({}, excluded.more, t.more)", dialect.json_merge("t.more", "excluded.more")),
           fmt::format("COALESCE({}, t.more, excluded.more)", dialect.json_merge("excluded.more", "t.more")));
    result.conflict = fmt::format("ON CONFLICT ({}) DO UPDATE SET {}", key_list(table), changes);
    return result;
}

}  // namespace spur::accounting
