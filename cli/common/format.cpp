// Reading format strings and laying out cells.
#include "cli/common/format.hpp"

#include "core/text/quote.hpp"

#include <algorithm>

namespace spur::cli {
namespace {

constexpr std::size_t default_name_width = 20;

// "[.][size]" at the start of `text`; what follows is left in it.
Layout take_layout(std::string_view& text) {
    Layout layout;
    if (text.starts_with('.')) {
        layout.right = true;
        text.remove_prefix(1);
    }
    while (!text.empty() && is_digit(text.front())) {
        if (layout.width < 100'000) layout.width = layout.width * 10 + static_cast<std::size_t>(text.front() - '0');
        text.remove_prefix(1);
    }
    return layout;
}

}  // namespace

// A job's name may hold anything; Slurm prints even its newlines, with which somebody could forge lines of a listing.
void put_cell(std::string& line, std::string_view text, bool is_null, const Layout& layout, Cut cut) {
    std::string starred, escaped;
    if (std::ranges::any_of(text, [](unsigned char byte) { return byte < 0x20 || byte == 0x7f || byte == 0xc2; })) {
        escaped = printable(text, std::string::npos);
        text = escaped;
    }
    if (cut == Cut::keep_star && layout.width != 0 && text.size() > layout.width && text.ends_with('*')) {
        starred = std::string(text.substr(0, layout.width - 1)) + '*';
        text = starred;
    }
    if (layout.width == 0) {
        line += text;
    } else {
        if (layout.right) {
            if (cut == Cut::always || cut == Cut::keep_star) text = text.substr(0, layout.width);
            if (text.size() < layout.width) line.append(layout.width - text.size(), ' ');
            line += text;
        } else {
            // printf("%-*.*s") writes "(null)" whole or not at all.
            if (is_null && layout.width < text.size()) text = {};
            text = text.substr(0, layout.width);
            line += text;
            if (text.size() < layout.width) line.append(layout.width - text.size(), ' ');
        }
    }
    line += layout.suffix;
}

LetterPieces split_letters(std::string_view format) {
    LetterPieces result;
    if (!format.starts_with('%')) {
        const auto end = std::min(format.find('%'), format.size());
        result.prefix = format.substr(0, end);
        format.remove_prefix(end);
    }
    while (!format.empty()) {
        format.remove_prefix(1);  // the percent sign
        const auto end = std::min(format.find('%'), format.size());
        std::string_view text = format.substr(0, end);
        format.remove_prefix(end);
        if (text.empty()) continue;
        LetterPiece piece;
        piece.whole = text;
        if (text.starts_with("all")) {
            piece.all = true;
            piece.layout.suffix = text.substr(3);
        } else {
            piece.layout = take_layout(text);
            if (!text.empty()) {
                piece.letter = text.front();
                piece.layout.suffix = text.substr(1);
            }
        }
        result.pieces.push_back(std::move(piece));
    }
    return result;
}

std::vector<NamePiece> split_names(std::string_view format) {
    std::vector<NamePiece> pieces;
    for (const auto text : split(format, ',')) {
        if (text.empty()) continue;
        const auto colon = text.find(':');
        NamePiece piece;
        piece.name = text.substr(0, colon);
        if (colon == std::string_view::npos) {
            piece.layout.width = default_name_width;
        } else {
            auto rest = text.substr(colon + 1);
            piece.layout = take_layout(rest);
            piece.layout.suffix = rest;
        }
        pieces.push_back(std::move(piece));
    }
    return pieces;
}

}  // namespace spur::cli
