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

const char* word(Spread spread) {
    switch (spread) {
        case Spread::block:
            return "Block";
        case Spread::full_cyclic:
            return "FCyclic";
        case Spread::plane:
            return "Plane";
        case Spread::arbitrary:
            return "arbitrary task distribution";
        case Spread::standard:  // over sockets and cores
        case Spread::cyclic:
            break;
    }
    return "Cyclic";
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

std::string to_string(const Distribution& distribution) {
    const bool by_cores = distribution.cores != Spread::standard;
    std::string text = word(distribution.nodes);
    const bool may_go_on = distribution.nodes == Spread::block || distribution.nodes == Spread::cyclic;
    if (may_go_on && (by_cores || distribution.sockets != Spread::standard))
        text = text.substr(0, 1) + word(distribution.sockets) + (by_cores ? word(distribution.cores) : "");
    if (distribution.pack) text += *distribution.pack ? ",Pack" : ",NoPack";
    return text;
}

}  // namespace spur
