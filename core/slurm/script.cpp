// Splitting #SBATCH lines into words as a shell would.
#include "core/slurm/script.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/text/lexical.hpp"

namespace spur {
namespace {

struct Prefix {
    std::string_view text;
    Directive::Kind kind;
};
constexpr std::array prefixes{Prefix{"#SBATCH", Directive::Kind::sbatch}, Prefix{"#PBS", Directive::Kind::pbs},
                              Prefix{"#BSUB", Directive::Kind::bsub}};

// Takes the next word off `rest`; nothing at the end of the line or at a comment. A backslash takes the special meaning
// from the character after it, inside quotes and out, except from a blank outside: that always ends a word.
Result<std::optional<std::string>> next_word(std::string_view& rest, std::size_t line) {
    const auto before = rest;
    while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
    std::optional<std::string> word;
    char quote = '\0';
    for (; !rest.empty(); rest.remove_prefix(1)) {
        char c = rest.front();
        if (c == '\\') {
            rest.remove_prefix(1);
            if (rest.empty() || (!quote && is_blank(rest.front()))) break;
            c = rest.front();
        } else if (quote && c == quote) {
            quote = '\0';
            continue;
        } else if (!quote && (c == '"' || c == '\'')) {
            quote = c;
            if (!word) word.emplace();
            continue;
        } else if (!quote && is_blank(c)) {
            break;
        } else if (!quote && c == '#') {
            rest = {};
            break;
        }
        if (!word) word.emplace();
        *word += c;
    }
    if (quote) return fail(ErrorCode::invalid, "line {}: Unmatched `{}` in [{}]", line, quote, before);
    return word;
}

Result<std::vector<std::string>> words_of(std::string_view text, std::size_t line) {
    std::vector<std::string> words;
    while (!text.empty()) {
        SPUR_TRY(auto word, next_word(text, line));
        if (word) words.push_back(*std::move(word));
    }
    return words;
}

std::string_view next_line(std::string_view& rest) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

bool is_command(std::string_view line) {
    const auto text = trim(line);
    return !text.empty() && text.front() != '#';
}

}  // namespace

Result<void> check_script(std::string_view script) {
    if (script.empty()) return fail(ErrorCode::invalid, "Batch script is empty!");
    if (!script.starts_with("#!"))
        return fail(ErrorCode::invalid,
                    "This does not look like a batch script.  The first\n"
                    "line must start with #! followed by the path to an interpreter.\n"
                    "For instance: #!/bin/sh");
    if (script.find('\0') != std::string_view::npos)
        return fail(ErrorCode::invalid,
                    "The Slurm controller does not allow scripts that\n"
                    "contain a NULL character '\\0'.");
    if (script.find("\r\n") != std::string_view::npos)
        return fail(ErrorCode::invalid,
                    "Batch script contains DOS line breaks (\\r\\n)\n"
                    "instead of expected UNIX line breaks (\\n).");
    return {};
}

bool Directive::starts_component() const {
    return kind == Kind::sbatch &&
           std::ranges::any_of(words, [](const std::string& word) { return word == "hetjob" || word == "packjob"; });
}

Result<std::vector<Directive>> script_directives(std::string_view script, bool ignore_pbs) {
    std::vector<Directive> directives;
    std::vector<Directive> foreign;  // of the present component
    const auto end_component = [&] {
        std::ranges::move(foreign, std::back_inserter(directives));
        foreign.clear();
    };
    for (std::size_t number = 1; !script.empty(); ++number) {
        const auto line = next_line(script);
        if (is_command(line)) break;
        const auto prefix = std::ranges::find_if(prefixes, [&](const Prefix& p) { return line.starts_with(p.text); });
        if (prefix == prefixes.end()) continue;
        const bool is_foreign = prefix->kind != Directive::Kind::sbatch;
        if (is_foreign && ignore_pbs) continue;
        SPUR_TRY(auto words, words_of(line.substr(prefix->text.size()), number));
        if (words.empty()) continue;
        Directive directive{prefix->kind, number, std::move(words)};
        if (directive.starts_component()) end_component();
        (is_foreign ? foreign : directives).push_back(std::move(directive));
    }
    end_component();
    return directives;
}

}  // namespace spur
