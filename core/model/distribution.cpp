// Reading -m, the one place where its words are known.
#include "core/model/distribution.hpp"

#include "core/text/lexical.hpp"

namespace spur {

namespace {

auto invalid(std::string_view text) {
    return fail(ErrorCode::invalid, "{} is not a task distribution; say block, cyclic, plane=N or arbitrary",
                quoted(text));
}

Result<Spread> read_level(std::string_view word, bool over_nodes, std::string_view text) {
    if (word == "*") return Spread::standard;
    if (equal_nocase(word, "block")) return Spread::block;
    if (equal_nocase(word, "cyclic")) return Spread::cyclic;
    if (over_nodes && equal_nocase(word, "arbitrary")) return Spread::arbitrary;
    if (!over_nodes && equal_nocase(word, "fcyclic")) return Spread::full_cyclic;
    return invalid(text);
}

}  // namespace

Result<Distribution> Distribution::parse(std::string_view text) {
    Distribution read;
    if (text.empty()) return read;
    const auto words = split(text, ',');
    if (words.size() > 2) return invalid(text);
    if (words.size() == 2) {
        read.pack = equal_nocase(words[1], "pack");
        if (!*read.pack && !equal_nocase(words[1], "nopack")) return invalid(text);
    }
    const auto levels = split(words[0], ':');
    if (levels.size() > 3) return invalid(text);
    if (equal_nocase(levels[0].substr(0, 5), "plane")) {
        read.nodes = Spread::plane;
        if (levels[0].size() > 5) {
            const auto size = levels[0][5] == '=' ? find_unsigned(levels[0].substr(6)) : std::nullopt;
            if (size.value_or(0) == 0 || *size > UINT32_MAX) return invalid(text);
            read.plane_size = static_cast<std::uint32_t>(*size);
        }
    } else {
        SPUR_TRY(read.nodes, read_level(levels[0], true, text));
    }
    if (levels.size() > 1) {
        SPUR_TRY(read.sockets, read_level(levels[1], false, text));
    }
    if (levels.size() > 2) {
        SPUR_TRY(read.cores, read_level(levels[2], false, text));
    }
    return read;
}

}  // namespace spur
