// The tables of spur/plugin/draft/accounting_fields.h as data: what the SQL and the rows are made from.
#pragma once

#include <spur/plugin/draft/accounting.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace spur::accounting {

// TRES and the remainder are JSON inside a database.
enum class Kind : std::uint8_t { integer, time, real, text, bytes, json };
enum class Role : std::uint8_t { key, find, hosts, plain };

struct Column {
    std::string_view name;
    Kind kind;
    Role role;
};

struct Table {
    std::uint32_t number;  // SPUR_ROW_*
    std::string_view name;
    std::span<const Column> columns;  // keys first

    std::span<const Column> keys() const;
    const Column* find(std::string_view column) const;
    bool has_end() const { return find("end_time") != nullptr; }
    const Column* over() const;  // the time after which a row is history: its end, or when it was; nullptr: never
    // Jobs and steps: many, and gone through by the month they were submitted in.
    bool is_large() const { return number == SPUR_ROW_JOB || number == SPUR_ROW_STEP; }
};

std::span<const Table> tables();
const Table* find_table(std::uint32_t number);

}  // namespace spur::accounting
