// Reading options with getopt_long, and laying out --help.
#include "cli/common/options.hpp"

#include <getopt.h>

#include <array>

namespace spur::cli {
namespace {

constexpr int first_long_code = 1000;  // above every letter

int getopt_argument(Argument argument) {
    switch (argument) {
        case Argument::none:
            return no_argument;
        case Argument::required:
            return required_argument;
        case Argument::optional:
            return optional_argument;
    }
    return no_argument;
}

}  // namespace

std::expected<Parsed, BadOption> read_options(std::span<const OptionShape> table, std::vector<std::string>& words,
                                              Order order) {
    std::string letters = order == Order::stop_at_first_word ? "+" : "";
    std::vector<option> longs;
    std::array<std::size_t, 256> row_of_letter{};
    for (std::size_t row = 0; row < table.size(); ++row) {
        const auto& shape = table[row];
        if (shape.name)
            longs.push_back(
                {shape.name, getopt_argument(shape.argument), nullptr, first_long_code + static_cast<int>(row)});
        if (shape.letter == 0) continue;
        row_of_letter[static_cast<unsigned char>(shape.letter)] = row;
        letters += shape.letter;
        if (shape.argument != Argument::none) letters += ':';
        if (shape.argument == Argument::optional) letters += ':';
    }
    longs.push_back({nullptr, 0, nullptr, 0});

    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    Parsed parsed;
    optind = 0;  // glibc: start afresh
    opterr = 1;
    const int argc = static_cast<int>(words.size());
    for (;;) {
        const int code = getopt_long(argc, argv.data(), letters.c_str(), longs.data(), nullptr);
        if (code == -1) break;
        if (code == '?') return std::unexpected(BadOption{});
        const auto row = code >= first_long_code ? static_cast<std::size_t>(code - first_long_code)
                                                 : row_of_letter[static_cast<unsigned char>(code)];
        parsed.seen.push_back({row, optarg});
    }
    for (int i = optind; i < argc; ++i) parsed.rest.emplace_back(argv[i]);
    return parsed;
}

std::string help_text(std::string_view usage, std::span<const HelpLine> lines) {
    constexpr std::size_t column = 34;
    std::string text = fmt::format("Usage: {}\n\nOptions:\n", usage);
    for (const auto& line : lines) {
        std::string left = line.letter ? fmt::format("  -{}, ", line.letter) : "      ";
        left += fmt::format("--{}", line.name);
        const char* value = line.value_name ? line.value_name : "value";
        if (line.argument == Argument::required) left += fmt::format("={}", value);
        if (line.argument == Argument::optional) left += fmt::format("[={}]", value);
        if (left.size() + 1 > column)
            text += fmt::format("{}\n{:{}}{}\n", left, "", column, line.help);
        else
            text += fmt::format("{:<{}}{}\n", left, column, line.help);
    }
    text += fmt::format("\n{:<{}}{}\n", "      --help", column, "show this help");
    text += fmt::format("{:<{}}{}\n", "      --usage", column, "show a one-paragraph summary");
    text += fmt::format("{:<{}}{}\n", "  -V, --version", column, "show the Slurm release this command behaves like");
    return text;
}

int finish_early(const TableOutcome& outcome, const Console& console, const HelpTexts& texts, int wrong_code) {
    const auto say = [](std::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return 0;
    };
    switch (outcome.end) {
        case ParseEnd::help:
            return say(texts.help);
        case ParseEnd::usage:
            return say(texts.usage);
        case ParseEnd::version:
            return say(slurm_version_line);
        case ParseEnd::wrong:
            if (!outcome.error.empty())
                console.error_lines(outcome.error);
            else
                fmt::print(stderr, "Try \"{} --help\" for more information\n", console.program());
            return wrong_code;
        case ParseEnd::go_on:
            break;
    }
    return 0;
}

}  // namespace spur::cli
