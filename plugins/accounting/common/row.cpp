// Reading, merging and writing rows.
#include "plugins/accounting/common/row.hpp"

#include <fmt/format.h>
#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace spur::accounting {
namespace {

using nlohmann::json;
using plugin::Records;
using plugin::view;

constexpr const char* bytes_mark = "$bytes";  // how bytes are told from text in the remainder

// How long the sequence that begins with `first` is; 0: it begins none.
std::size_t utf8_length(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

const std::string& clean(std::string_view name, const std::string& text) {
    if (!is_clean_text(text)) throw Poison{fmt::format("{} is not UTF-8, or has a NUL in it", name)};
    return text;
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

std::string from_hex(const std::string& text) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
        bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    return bytes;
}

json counts_of(const spur_field& field) {
    auto counts = json::object();
    for (const auto& one : Records<spur_tres>(field.tres)) {
        const std::string name{view(one.name)};
        clean("the name of a TRES", name);
        if (one.count > static_cast<std::uint64_t>(INT64_MAX))
            throw Poison{fmt::format("{} has a count of {} {}, more than can be stored", field.name, one.count, name)};
        counts[name] = one.count;
    }
    return counts;
}

json as_json(const spur_field& field) {
    const std::string text{view(field.text)};
    switch (field.kind) {
        case SPUR_FIELD_INT:
            return field.integer;
        case SPUR_FIELD_REAL:
            if (!std::isfinite(field.real)) throw Poison{fmt::format("{} is not a number", field.name)};
            return field.real;
        case SPUR_FIELD_TEXT:
            return clean(field.name, text);
        case SPUR_FIELD_BYTES:
            return json{{bytes_mark, hex(text)}};
        case SPUR_FIELD_TRES:
            return counts_of(field);
        default:
            return nullptr;
    }
}

[[noreturn]] void wrong_kind(const spur_field& field, const Column& column) {
    constexpr const char* words[] = {"a number", "a time", "a real number", "a text", "bytes", "TRES"};
    throw Poison{fmt::format("{} is not {}", field.name, words[static_cast<std::size_t>(column.kind)])};
}

Value for_column(const spur_field& field, const Column& column) {
    if (field.kind == SPUR_FIELD_NULL) return {};
    const std::string text{view(field.text)};
    switch (column.kind) {
        case Kind::integer:
        case Kind::time:
            if (field.kind == SPUR_FIELD_INT) return field.integer;
            break;
        case Kind::real:
            if (field.kind == SPUR_FIELD_INT) return static_cast<double>(field.integer);
            if (field.kind == SPUR_FIELD_REAL && std::isfinite(field.real)) return field.real;
            break;
        case Kind::text:
            if (field.kind == SPUR_FIELD_TEXT) return clean(field.name, text);
            break;
        case Kind::bytes:
            if (field.kind == SPUR_FIELD_BYTES) return Bytes{text};
            break;
        case Kind::json:
            if (field.kind == SPUR_FIELD_TRES) return tres_json(field);
            break;
    }
    wrong_kind(field, column);
}

// Partitions are made by the month: a time far from any calendar would need its own for ever.
void check_key(const Row& row) {
    constexpr std::int64_t most = 253'402'300'799;  // the year 9999
    for (std::size_t i = 0; i < row.table->keys().size(); ++i) {
        const auto& column = row.table->columns[i];
        if (is_null(row.values[i])) throw Poison{fmt::format("it has no {}, which is part of its key", column.name)};
        const auto* const number = std::get_if<std::int64_t>(&row.values[i]);
        if (column.kind == Kind::time && (*number < 0 || *number > most))
            throw Poison{fmt::format("{} is {}, which is no time", column.name, *number)};
    }
}

}  // namespace

bool is_clean_text(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        const auto length = first == 0 ? 0 : utf8_length(first);
        if (length == 0 || i + length > text.size()) return false;
        for (std::size_t k = 1; k < length; ++k)
            if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
        const auto second = length > 2 ? static_cast<unsigned char>(text[i + 1]) : 0;
        const bool is_overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
        const bool is_no_character = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
        if (length > 2 && (is_overlong || is_no_character)) return false;
        i += length;
    }
    return true;
}

std::string tres_json(const spur_field& field) { return counts_of(field).dump(); }

Row read_row(const spur_row& row, std::uint32_t number) {
    const auto* const table = find_table(row.table);
    if (table == nullptr) throw Poison{fmt::format("this release has no table {}", row.table)};
    Row result{table, {}, {}, row.sequence, row.removed != 0, number};
    result.values.resize(table->columns.size());
    auto rest = json::object();
    for (const auto& field : Records<spur_field>(row.fields)) {
        if (field.name == nullptr) throw Poison{"a field has no name"};
        const std::string_view name{field.name};
        if (const auto* const column = table->find(name)) {
            result.values[static_cast<std::size_t>(column - table->columns.data())] = for_column(field, *column);
        } else if (auto value = as_json(field); name != "cluster" && !value.is_null()) {
            rest[clean("the name of a field", std::string{name})] = std::move(value);
        }
    }
    if (!rest.empty()) result.remainder = rest.dump();
    check_key(result);
    return result;
}

void merge(Row& row, const Row& other) {
    const bool newer = other.sequence == 0 || other.sequence >= row.sequence;
    for (std::size_t i = 0; i < row.values.size(); ++i)
        if (!is_null(other.values[i]) && (newer || is_null(row.values[i]))) row.values[i] = other.values[i];
    if (!other.remainder.empty()) {
        auto mine = row.remainder.empty() ? json::object() : json::parse(row.remainder);
        const auto theirs = json::parse(other.remainder);
        for (const auto& [name, value] : theirs.items())
            if (newer || !mine.contains(name)) mine[name] = value;
        row.remainder = mine.dump();
    }
    if (newer) row.removed = other.removed;
    row.sequence = std::max(row.sequence, other.sequence);
}

void RowWriter::begin(std::uint32_t table, bool removed, std::uint64_t sequence) {
    fields_.clear();
    row_ = {table, removed ? 1U : 0U, sequence, {}};
}

void RowWriter::add_tres(Field& field, const json& counts) {
    field.kind = SPUR_FIELD_TRES;
    for (const auto& [name, count] : counts.items())
        field.tres.emplace_back(name, count.is_number() ? count.get<std::uint64_t>() : 0);
}

void RowWriter::add(std::string_view name, Kind kind, const Value& value) {
    if (is_null(value)) return;
    auto& field = fields_.emplace_back(Field{std::string{name}, SPUR_FIELD_INT, value, {}});
    if (kind == Kind::real) field.kind = SPUR_FIELD_REAL;
    if (kind == Kind::text) field.kind = SPUR_FIELD_TEXT;
    if (kind == Kind::bytes) field.kind = SPUR_FIELD_BYTES;
    if (kind == Kind::json) add_tres(field, json::parse(std::get<std::string>(value)));
}

void RowWriter::add_remainder(std::string_view text, std::span<const std::string> wanted) {
    if (text.empty()) return;
    const auto rest = json::parse(text);
    for (const auto& [name, value] : rest.items()) {
        if (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end()) continue;
        if (value.is_number_integer())
            add(name, Kind::integer, value.get<std::int64_t>());
        else if (value.is_number())
            add(name, Kind::real, value.get<double>());
        else if (value.is_string())
            add(name, Kind::text, value.get<std::string>());
        else if (value.is_object() && value.contains(bytes_mark))
            add(name, Kind::bytes, Bytes{from_hex(value[bytes_mark].get<std::string>())});
        else if (value.is_object())
            add_tres(fields_.emplace_back(Field{name, SPUR_FIELD_TRES, {}, {}}), value);
    }
}

const spur_row& RowWriter::row() {
    counts_.clear();
    counts_.reserve(fields_.size());
    out_.clear();
    for (const auto& field : fields_) {
        spur_field out{};
        out.name = field.name.c_str();
        out.kind = field.kind;
        if (const auto* number = std::get_if<std::int64_t>(&field.value)) out.integer = *number;
        if (const auto* real = std::get_if<double>(&field.value)) out.real = *real;
        if (field.kind == SPUR_FIELD_TEXT) out.text = plugin::str(std::get<std::string>(field.value));
        if (field.kind == SPUR_FIELD_BYTES) out.text = plugin::str(std::get<Bytes>(field.value).data);
        auto& counts = counts_.emplace_back();
        for (const auto& [name, count] : field.tres) counts.push_back({plugin::str(name), count});
        out.tres = plugin::span_of(counts);
        out_.push_back(out);
    }
    row_.fields = plugin::span_of(out_);
    return row_;
}

}  // namespace spur::accounting
