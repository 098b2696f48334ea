// sreport's commands, from the command line or one after the other.
#include "cli/sreport/sreport.hpp"

#include "cli/common/options.hpp"
#include "cli/common/output.hpp"
#include "cli/sreport/ask.hpp"
#include "core/text/lexical.hpp"

#include <ctime>
#include <iostream>
#include <optional>

namespace spur::cli {
namespace {

using namespace sreport;
using Words = std::span<const std::string>;

constexpr std::string_view usage_text =
    "sreport [<OPTION>] [<COMMAND>]\n"
    "    Valid <COMMAND> values are:\n"
    "     cluster "
    "AccountUtilizationByUser|UserUtilizationByAccount|UserUtilizationByWckey|Utilization|WCKeyUtilizationByUser\n"
    "     job SizesByAccount|SizesByAccountAndWckey|SizesByWckey\n"
    "     reservation Utilization\n"
    "     user TopUsage\n"
    "     time <format>, parsable, parsable2, nonparsable, version, exit, quit\n"
    "    with conditions such as start=2026-11-01 end=now accounts=physics users=ann format=cluster,used;\n"
    "    see Slurm's manual of sreport(1).\n";

struct Reporter {
    Console& console;
    Session& session;
    wire::Channel& history;
    Options options;

    int report(Words words) {
        const auto* const kind =
            find_report(words[0], words.size() > 1 ? std::string_view{words[1]} : std::string_view{});
        if (kind == nullptr) {
            std::string names;
            for (const auto& one : report_kinds())
                if (one.group.starts_with(lower(words[0])))
                    names += fmt::format("{}{}", names.empty() ? "" : ", ", one.name);
            if (names.empty()) return console.error("invalid keyword: {}", words[0]), 1;
            return console.error("Not valid report {}\nValid {} reports are, {}",
                                 words.size() > 1 ? words[1] : std::string{}, words[0], names),
                   1;
        }
        const auto conditions = read_conditions(words.subspan(2), std::time(nullptr));
        if (!conditions) return console.error("{}", conditions.error().text), 1;
        const auto data = ask(session, history, options, *conditions, kind->source);
        if (!data) {
            data.error().print_details(console);
            return console.error("{}", data.error().text), 1;
        }
        const auto text = kind->print({options, *conditions, *data});
        if (!text) return console.fatal("{}", text.error().text), 1;
        print_out(*text);
        return 0;
    }

    // The exit code; none: leave the interactive mode.
    std::optional<int> run(Words words) {
        if (words.empty()) return 0;
        const auto verb = lower(words[0]);
        if (verb == "exit" || verb == "quit" || verb == "q") return std::nullopt;
        if (verb == "help") return print_out(usage_text), 0;
        if (verb == "version") return print_out(slurm_version_line), 0;
        if (verb == "parsable") return options.style = TableStyle::bars, 0;
        if (verb == "parsable2") return options.style = TableStyle::bars_between, 0;
        if (verb == "nonparsable") return options.style = TableStyle::aligned, 0;
        if (verb == "time" && words.size() > 1) {
            const auto format = parse_time_format(words[1]);
            if (!format) return console.error("{}", format.error().text), 1;
            return options.time = *format, 0;
        }
        return report(words);
    }

    int interact() {
        int code = 0;
        std::string last;
        for (std::string line;;) {
            print_out("sreport: ");
            if (!std::getline(std::cin, line)) return print_out("\n"), code;
            if (trim(line) == "!!") line = last;
            last = line;
            std::vector<std::string> words;
            for (const auto word : split(line, ' '))
                if (!trim(word).empty()) words.emplace_back(trim(word));
            const auto done = run(words);
            if (!done) return code;
            code = *done;
        }
    }
};

}  // namespace

int run_sreport(Invocation& self) {
    Options options;
    auto outcome = apply_environment<Options>(option_table(), options);
    if (outcome.end == ParseEnd::go_on) outcome = apply_words<Options>(option_table(), options, self.words);
    if (outcome.end != ParseEnd::go_on)
        return finish_early(outcome, self.console,
                            {help_text("sreport [<OPTION>] [<COMMAND>]", option_table()), usage_text});
    const auto complain = [&](const Failure& failure) {
        failure.print_details(self.console);
        self.console.error("{}", failure.text);
        return 1;
    };
    auto session = Session::open(self.controller, &self.console);
    if (!session) return complain(session.error());
    auto history = open_accounting(*session);
    if (!history) return complain(history.error());
    Reporter reporter{self.console, *session, *history, options};
    return outcome.rest.empty() ? reporter.interact() : reporter.run(outcome.rest).value_or(0);
}

}  // namespace spur::cli
