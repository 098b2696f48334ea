// Rows of the boundary as values by column, and back. What has no column goes into a remainder in JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/accounting/common/tables.hpp"
#include "plugins/accounting/common/value.hpp"

namespace spur::accounting {

struct Row {
    const Table* table{};
    std::vector<Value> values;  // as table->columns
    std::string remainder;      // a JSON object; empty: none
    std::uint64_t sequence{};
    bool removed{false};
    std::uint32_t number{};  // in its batch
};

// The sentence says why this row can never be stored.
struct Poison {
    std::string why;
};
Row read_row(const spur_row& row, std::uint32_t number);  // throws Poison

// What two rows with the same key come to; `other` came after `row`.
void merge(Row& row, const Row& other);

// A field as it is compared with a column of that kind; nullopt is for another kind, which nothing meets.
std::string tres_json(const spur_field& field);
bool is_clean_text(std::string_view text);  // UTF-8 without NUL

// Rows for the host. What it points to lives as long as this, until the next row.
class RowWriter {
public:
    void begin(std::uint32_t table, bool removed, std::uint64_t sequence);
    void add(std::string_view name, Kind kind, const Value& value);
    void add_remainder(std::string_view json, std::span<const std::string> wanted);  // empty: all
    const spur_row& row();

private:
    struct Field {
        std::string name;
        std::uint32_t kind{};
        Value value;
        std::vector<std::pair<std::string, std::uint64_t>> tres;
    };
    void add_tres(Field& field, const nlohmann::json& counts);

    std::vector<Field> fields_;
    std::vector<std::vector<spur_tres>> counts_;
    std::vector<spur_field> out_;
    spur_row row_{};
};

}  // namespace spur::accounting
