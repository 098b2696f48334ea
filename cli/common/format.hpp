// Output formats: "%.18i %.9P" and "JobID:20,Name". One table of fields a record type; this reads the user's string
// against it and lays the cells out as Slurm does, down to what it cuts and what it leaves whole.
#pragma once

#include "core/text/lexical.hpp"
#include "daemons/common/records/record.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli {

// A cell's content. Some values do not exist; Slurm prints those as printf prints a null string.
struct Value {
    std::string text;
    bool is_null = false;

    Value(std::string content) : text(std::move(content)) {}  // NOLINT: fields return strings
    Value(std::string_view content) : text(content) {}        // NOLINT
    Value(const char* content) : text(content) {}             // NOLINT
    static Value null() {
        Value value{"(null)"};
        value.is_null = true;
        return value;
    }
};
inline Value or_null(std::string_view text) { return text.empty() ? Value::null() : Value{text}; }

// How a cell is laid out. Width 0: as wide as its content.
struct Layout {
    std::size_t width = 0;
    bool right = false;
    std::string suffix;
};

using records::Cut;

void put_cell(std::string& line, const Value& value, const Layout& layout, Cut cut);

template <class Row>
struct Field {
    char letter;       // for -o; 0: none
    const char* name;  // for -O, in lower case; nullptr: none
    const char* header;
    Cut cut;
    Value (*get)(const Row&);
};

template <class Row>
struct Column {
    const Field<Row>* field;  // nullptr: only the suffix, literal text
    Layout layout;
};

template <class Row>
struct Format {
    std::string prefix;
    std::vector<Column<Row>> columns;

    bool has_letter(char letter) const {
        for (const auto& column : columns)
            if (column.field && column.field->letter == letter) return true;
        return false;
    }
    void header(std::string& out) const {
        out += prefix;
        for (const auto& column : columns)
            put_cell(out, column.field ? Value{column.field->header} : Value{""}, column.layout,
                     column.field && column.field->cut == Cut::unless_right ? Cut::unless_right : Cut::always);
        out += '\n';
    }
    void row(std::string& out, const Row& record) const {
        out += prefix;
        for (const auto& column : columns)
            put_cell(out, column.field ? column.field->get(record) : Value{""}, column.layout,
                     column.field ? column.field->cut : Cut::always);
        out += '\n';
    }
};

// One piece of a "%..." string after its percent sign, or of a comma list: what was asked for, not yet looked up.
struct LetterPiece {
    std::string whole;  // as typed, without the percent sign
    char letter = 0;
    bool all = false;  // "%all"
    Layout layout;
};
struct LetterPieces {
    std::string prefix;
    std::vector<LetterPiece> pieces;
};
LetterPieces split_letters(std::string_view format);

struct NamePiece {
    std::string name;  // as typed
    Layout layout;
};
std::vector<NamePiece> split_names(std::string_view format);

// What could not be understood, in Slurm's words and order; it is reported and printing goes on.
using Complaints = std::vector<std::string>;

template <class Row>
const Field<Row>* find_letter(std::span<const Field<Row>> fields, char letter) {
    for (const auto& field : fields)
        if (field.letter != 0 && field.letter == letter) return &field;
    return nullptr;
}

// `all` lists the letters of "%all" in the order Slurm prints them.
template <class Row>
Format<Row> letters_format(std::span<const Field<Row>> fields, std::string_view format, std::string_view all,
                           Complaints& complaints) {
    Format<Row> result;
    auto split = split_letters(format);
    result.prefix = std::move(split.prefix);
    for (auto& piece : split.pieces) {
        if (piece.all) {
            for (std::size_t i = 0; i < all.size(); ++i)
                result.columns.push_back(
                    {find_letter(fields, all[i]), Layout{0, false, i + 1 < all.size() ? "|" : piece.layout.suffix}});
        } else if (const auto* field = find_letter(fields, piece.letter)) {
            result.columns.push_back({field, std::move(piece.layout)});
        } else {
            complaints.push_back(piece.letter ? std::string(1, piece.letter) : std::string());
            result.columns.push_back({nullptr, Layout{0, false, "%" + piece.whole}});
        }
    }
    return result;
}

template <class Row>
Format<Row> names_format(std::span<const Field<Row>> fields, std::string_view format, Complaints& complaints) {
    Format<Row> result;
    for (auto& piece : split_names(format)) {
        const Field<Row>* found = nullptr;
        for (const auto& field : fields)
            if (field.name && equal_nocase(field.name, piece.name)) found = &field;
        if (found == nullptr) {
            complaints.push_back(piece.name);
            piece.layout.width = 0;
        }
        result.columns.push_back({found, std::move(piece.layout)});
    }
    return result;
}

}  // namespace spur::cli
