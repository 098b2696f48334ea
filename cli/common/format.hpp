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

// How a cell is laid out. Width 0: as wide as its content.
struct Layout {
    std::size_t width = 0;
    bool right = false;
    std::string suffix;
};

using records::Cut;

void put_cell(std::string& line, std::string_view text, bool is_null, const Layout& layout, Cut cut);

// What a field is called in a listing, and one cell of it.
template <class View, class Id, class Target>
const records::Listing& listing_of(const records::Field<View, Id, Target>& field) {
    return field.listing;
}
template <class View, class Id, class Target>
void put_field(std::string& line, const records::Field<View, Id, Target>& field, const View& view,
               const Layout& layout) {
    const auto value = field.get(view);
    const char* absent = field.absent.listing;
    std::string scratch;
    put_cell(line, records::write(value, field.type, records::Look::listing, absent, view.in, scratch),
             value.is_absent() && absent == records::null, layout, field.listing.cut);
}

template <class F>
struct Column {
    const F* field;  // nullptr: only the suffix, literal text
    Layout layout;
};

template <class F>
struct FormatOf {
    std::string prefix;
    std::vector<Column<F>> columns;

    bool has_letter(char letter) const {
        for (const auto& column : columns)
            if (column.field && listing_of(*column.field).letter == letter) return true;
        return false;
    }
    void header(std::string& out) const {
        out += prefix;
        for (const auto& column : columns) {
            const auto listing = column.field ? listing_of(*column.field) : records::Listing{};
            put_cell(out, listing.header, false, column.layout,
                     listing.cut == Cut::unless_right ? Cut::unless_right : Cut::always);
        }
        out += '\n';
    }
    void row(std::string& out, const typename F::ViewType& record) const {
        out += prefix;
        for (const auto& column : columns) {
            if (column.field)
                put_field(out, *column.field, record, column.layout);
            else
                put_cell(out, "", false, column.layout, Cut::always);
        }
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

template <class F>
const F* find_letter(std::span<const F> fields, char letter) {
    for (const auto& field : fields)
        if (letter != 0 && listing_of(field).letter == letter) return &field;
    return nullptr;
}

// `all` lists the letters of "%all" in the order Slurm prints them.
template <class F>
FormatOf<F> letters_format(std::span<const F> fields, std::string_view format, std::string_view all,
                           Complaints& complaints) {
    FormatOf<F> result;
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

template <class F>
FormatOf<F> names_format(std::span<const F> fields, std::string_view format, Complaints& complaints) {
    FormatOf<F> result;
    for (auto& piece : split_names(format)) {
        const auto is_named = [&](const char* name) { return name && equal_nocase(name, piece.name); };
        const F* found = nullptr;
        for (const auto& field : fields)
            if (is_named(listing_of(field).name) || is_named(listing_of(field).older)) found = &field;
        if (found == nullptr) {
            complaints.push_back(piece.name);
            piece.layout.width = 0;
        }
        result.columns.push_back({found, std::move(piece.layout)});
    }
    return result;
}

}  // namespace spur::cli
