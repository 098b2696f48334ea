// Options of PBS and LSF as sbatch reads them: observed behaviour, which is not always what PBS or LSF would do.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/slurm/script.hpp"
#include "core/text/lexical.hpp"

namespace spur {
namespace {

using Words = std::vector<std::string>;

std::string mail_types(std::string_view letters) {
    std::string types;
    const auto add = [&](char letter, std::string_view type) {
        if (letters.find(letter) == std::string_view::npos) return;
        types += fmt::format("{}{}", types.empty() ? "" : ",", type);
    };
    add('b', "BEGIN");
    add('e', "END");
    add('a', "FAIL");
    return types.empty() ? "NONE" : types;
}

// [[CC]YY]MMDDhhmm[.SS] and hhmm; anything else is passed on as it is.
std::string begin_time(std::string_view text) {
    const auto digits = text.substr(0, text.find('.'));
    const bool all_digits = std::ranges::all_of(digits, is_digit);
    if (!all_digits || digits.size() < 4) return std::string{text};
    const auto clock = fmt::format("{}:{}", digits.substr(digits.size() - 4, 2), digits.substr(digits.size() - 2));
    const auto pair = [&](std::size_t at) { return digits.substr(at, 2); };
    if (digits.size() == 4) return clock;
    if (digits.size() == 8) return fmt::format("{}/{}-{}", pair(0), pair(2), clock);
    if (digits.size() == 10) return fmt::format("20{}-{}-{}T{}", pair(0), pair(2), pair(4), clock);
    if (digits.size() == 12) return fmt::format("{}{}-{}-{}T{}", pair(0), pair(2), pair(4), pair(6), clock);
    return std::string{text};
}

// 4gb, 1000mb and 1000000kb are sbatch's own words; only bytes (4000000000b) are not.
std::string memory(std::string_view text) {
    if (text.size() < 2 || text.back() != 'b' || !is_digit(text[text.size() - 2])) return std::string{text};
    const auto bytes = find_unsigned(text.substr(0, text.size() - 1));
    return bytes ? fmt::format("{}K", *bytes / 1024 + (*bytes % 1024 != 0)) : std::string{text};
}

// days:hours:minutes:seconds is the one form sbatch does not read itself.
std::string wall_time(std::string_view text) {
    std::string result{text};
    if (std::ranges::count(text, ':') == 3) result[text.find(':')] = '-';
    return result;
}

// ---- -l ------------------------------------------------------------------------------------------------------------

std::pair<std::string_view, std::string_view> key_and_value(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return {text, {}};
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<std::uint64_t> find_small(std::string_view text) {
    const auto value = find_unsigned(text);
    return value && *value <= 10'000'000 ? value : std::nullopt;
}

// nodes=2:ppn=4+n7:ppn=2:gpus=1: counts and host names, each with tasks, devices and features.
Words nodes_words(std::string_view text) {
    std::uint64_t nodes = 0;
    std::uint64_t tasks = 0;
    std::optional<std::uint64_t> gpus;
    std::string hosts;
    std::string features;
    const auto append = [](std::string& list, char separator, std::string_view item) {
        if (!list.empty()) list += separator;
        list += item;
    };
    for (const auto chunk : split(text, '+')) {
        const auto parts = split(chunk, ':');
        const auto count = find_small(parts[0]);
        if (count)
            nodes += *count;
        else
            append(hosts, ',', parts[0]);
        std::optional<std::uint64_t> tasks_per_node;
        for (std::size_t i = 1; i < parts.size(); ++i) {
            const auto [key, value] = key_and_value(parts[i]);
            if (key == "ppn" && find_small(value))
                tasks_per_node = find_small(value);
            else if (key == "gpus" && find_small(value))
                gpus = find_small(value);
            else if (!key.empty() && value.empty())
                append(features, '&', key);
        }
        if (tasks_per_node) tasks += count.value_or(1) * *tasks_per_node;
    }
    Words words;
    if (nodes > 0 && hosts.empty()) words.push_back(fmt::format("--nodes={}", nodes));
    if (!hosts.empty()) words.push_back(fmt::format("--nodelist={}", hosts));
    if (tasks > 0) words.push_back(fmt::format("--ntasks={}", tasks));
    if (gpus) words.push_back(fmt::format("--gres=gpu:{}", *gpus));
    if (!features.empty()) words.push_back(fmt::format("--constraint={}", features));
    return words;
}

std::optional<std::string> resource_word(std::string_view key, std::string_view value) {
    if (key == "walltime" || key == "cput" || key == "pcput") return fmt::format("--time={}", wall_time(value));
    if (key == "mem") return fmt::format("--mem={}", memory(value));
    if (key == "file") return fmt::format("--tmp={}", memory(value));
    if (key == "nice") return fmt::format("--nice={}", value);
    if (key == "ncpus") return fmt::format("--mincpus={}", value);
    if (key == "mpiprocs") return fmt::format("--ntasks-per-node={}", value);
    if (key == "mppnodes") return fmt::format("--nodes={}", value);
    if (key == "proc") return fmt::format("--constraint={}", value);
    if (key == "naccelerators" || key == "gpus" || key == "ngpus") return fmt::format("--gres=gpu:{}", value);
    if (key == "accelerator" && (value.starts_with('T') || value.starts_with('t'))) return "--gres=gpu:1";
    return std::nullopt;
}

Result<Words> select_words(std::string_view text) {
    if (text.find('+') != std::string_view::npos)
        return fail(ErrorCode::invalid, "select={} has more than one chunk; use #SBATCH hetjob for unequal nodes",
                    text);
    Words words;
    for (const auto part : split(text, ':')) {
        const auto [key, value] = key_and_value(part);
        if (value.empty() && find_small(key))
            words.push_back(fmt::format("--nodes={}", key));
        else if (auto word = resource_word(key, value))
            words.push_back(*std::move(word));
    }
    return words;
}

Result<Words> resource_words(std::string_view list) {
    Words words;
    for (const auto item : split_outside_brackets(list, ',')) {
        const auto [key, value] = key_and_value(trim(item));
        if (key == "nodes") {
            std::ranges::move(nodes_words(value), std::back_inserter(words));
        } else if (key == "select") {
            SPUR_TRY(auto chunk, select_words(value));
            std::ranges::move(chunk, std::back_inserter(words));
        } else if (auto word = resource_word(key, value)) {
            words.push_back(*std::move(word));
        }
    }
    return words;
}

// ---- options -------------------------------------------------------------------------------------------------------

struct OptionRow {
    std::string_view letters;
    std::string_view option;                                 // sbatch's, up to its value
    std::string (*value)(std::string_view typed) = nullptr;  // nullptr: as it was typed
};

constexpr OptionRow pbs_options[] = {
    {"a", "--begin=", begin_time},
    {"A", "--account="},
    {"dw", "--chdir="},
    {"e", "--error="},
    {"h", "--hold"},
    {"Jt", "--array="},
    {"m", "--mail-type=", mail_types},
    {"M", "--mail-user="},
    {"N", "--job-name="},
    {"o", "--output="},
    {"p", "--nice="},
    {"q", "--partition="},
    {"r", "--",
     [](std::string_view typed) -> std::string { return typed.starts_with('n') ? "no-requeue" : "requeue"; }},
    {"v", "--export=ALL,"},
    {"V", "--export=ALL"},
    // -c -C -I -j -k -S -u -z mean nothing here
};

constexpr OptionRow bsub_options[] = {
    {"c", "--chdir="},
    {"e", "--error="},
    {"J", "--job-name="},
    {"m", "--nodelist=",
     [](std::string_view typed) {
         std::string hosts{typed};
         std::ranges::replace(hosts, ' ', ',');
         return hosts;
     }},
    {"M", "--mem-per-cpu=",
     [](std::string_view typed) { return fmt::format("{}{}", typed, find_unsigned(typed) ? "K" : ""); }},
    {"n", "--ntasks=",  // min,max: the maximum
     [](std::string_view typed) { return std::string{typed.substr(typed.rfind(',') + 1)}; }},
    {"o", "--output="},
    {"q", "--partition="},
    {"W", "--time="},
    {"x", "--exclusive"},
};

Words option_words(std::span<const OptionRow> rows, char letter, const std::string& value) {
    for (const auto& row : rows)
        if (row.letters.find(letter) != std::string_view::npos)
            return {std::string{row.option} + (row.value ? row.value(value) : value)};
    return {};
}

Result<Words> pbs_option(char letter, const std::string& value) {
    if (letter == 'l') return resource_words(value);
    if (letter == 'W' && value.starts_with("depend=")) return Words{"--dependency=" + value.substr(7)};
    return option_words(pbs_options, letter, value);
}
Result<Words> bsub_option(char letter, const std::string& value) { return option_words(bsub_options, letter, value); }

// Which letters there are, in getopt's notation.
constexpr std::string_view pbs_letters = "a:A:c:C:d:e:hIj:J:k:l:m:M:N:o:p:q:r:S:t:u:v:Vw:W:z";
constexpr std::string_view bsub_letters = "c:e:J:m:M:n:o:q:W:x";

// Walks words as getopt does: -N name, -Nname, -hV.
template <class Translate>
Result<Words> translate(const Directive& directive, std::string_view name, std::string_view letters, Translate option) {
    Words result;
    for (auto word = directive.words.begin(); word != directive.words.end(); ++word) {
        if (word->size() < 2 || word->front() != '-')
            return fail(ErrorCode::invalid, "line {}: Invalid argument: {}", directive.line, *word);
        for (std::size_t i = 1; i < word->size(); ++i) {
            const char letter = (*word)[i];
            const auto at = is_alpha(letter) ? letters.find(letter) : std::string_view::npos;
            if (at == std::string_view::npos)
                return fail(ErrorCode::invalid,
                            "line {}: {} option {} has no counterpart in sbatch; remove it or use --ignore-pbs",
                            directive.line, name, quoted(*word));
            const bool takes_value = letters.substr(at + 1).starts_with(':');
            std::string value;
            if (takes_value) {
                value = word->substr(i + 1);
                if (value.empty() && std::next(word) == directive.words.end())
                    return fail(ErrorCode::invalid, "line {}: {} option -{} needs a value", directive.line, name,
                                letter);
                if (value.empty()) value = *++word;
            }
            auto words = option(letter, value);
            if (!words) return fail(words.error().code, "line {}: {}", directive.line, words.error().text);
            std::ranges::move(*words, std::back_inserter(result));
            if (takes_value) break;
        }
    }
    return result;
}

}  // namespace

Result<std::vector<std::string>> sbatch_words(const Directive& directive) {
    if (directive.kind == Directive::Kind::sbatch) return directive.words;
    if (directive.kind == Directive::Kind::pbs) return translate(directive, "#PBS", pbs_letters, pbs_option);
    auto lsf = directive;
    std::ranges::replace(lsf.words, "-cwd", "-c");  // the one word among LSF's letters
    return translate(lsf, "#BSUB", bsub_letters, bsub_option);
}

}  // namespace spur
