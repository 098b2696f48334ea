// Escaping and shortening foreign text.
#include "core/text/quote.hpp"

#include <fmt/format.h>

#include <iterator>

namespace spur {

namespace {

// Where to cut so that no character is torn: UTF-8's continuation bytes stay with what they continue.
std::size_t cut_at(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text.size();
    auto end = most;
    while (end > 0 && most - end < 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return end;
}

// U+0080 to U+009F: terminals take them for orders as well.
bool is_high_control(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]) == 0xc2 && at + 1 < text.size() &&
           static_cast<unsigned char>(text[at + 1]) < 0xa0;
}

void add(std::string& out, std::string_view text, std::string_view escaped) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\n')
            out += "\\n";
        else if (byte == '\t')
            out += "\\t";
        else if (byte < 0x20 || byte == 0x7f || is_high_control(text, i))
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
        else if (escaped.find(text[i]) != std::string_view::npos)
            out.append("\\").push_back(text[i]);
        else
            out.push_back(text[i]);
    }
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
    const auto end = cut_at(text, most);
    std::string out;
    add(out, text.substr(0, end), "");
    if (end < text.size()) out += fmt::format("... ({} more bytes)", text.size() - end);
    return out;
}

std::string quote(std::string_view text, std::size_t most) {
    const auto end = cut_at(text, most);
    std::string out{"\""};
    add(out, text.substr(0, end), "\"\\");
    out += end < text.size() ? fmt::format("...\" ({} more bytes)", text.size() - end) : "\"";
    return out;
}

}  // namespace spur
