// The table of commands under `spur plugin`.
#include "cli/plugin/plugin.hpp"

#include "cli/common/cluster.hpp"
#include "cli/common/options.hpp"
#include "cli/common/output.hpp"
#include "cli/plugin/commands.hpp"
#include "core/text/suggest.hpp"
#include "daemons/common/host/search.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace spur::cli {
namespace {

using plugin::Options;

struct Subcommand {
    const char* name;
    Result<int> (*run)(const Options&, Invocation&);
    const char* arguments;
    const char* options;  // of the table below, by letter
    std::size_t least_words, most_words;
    const char* summary;
};

constexpr Subcommand commands[] = {
    {"list", plugin::list, "", "jd", 0, 0, "every plugin found, and what would become of it"},
    {"info", plugin::info, "TYPE|FILE.so", "jd", 1, 1, "what a plugin says about itself: summary, options, interfaces"},
    {"new", plugin::create, "AXIS/NAME --lang c|cpp|rust DIR", "l", 2, 2, "a new plugin, complete and working, in DIR"},
    {"debug", plugin::debug, "AXIS/NAME [-- DAEMON-OPTION...]", "n", 1, 64,
     "the daemon that loads it, under gdb, stopped there"},
    {"stats", plugin::stats, "", "j", 0, 0, "what calls into the controller's plugins cost"},
    {"metrics", plugin::metrics, "[NODE]", "", 0, 1, "what its plugins count, or a node's, as OpenMetrics text"},
};

constexpr OptionShape option_shapes[] = {
    {"json", 'j', Argument::none},    {"dir", 'd', Argument::required}, {"lang", 'l', Argument::required},
    {"dry-run", 'n', Argument::none}, {"help", 'h', Argument::none},
};

std::string help() {
    std::string text = "Usage: spur plugin COMMAND ...\n\nCommands:\n";
    std::vector<std::vector<std::string>> rows;
    for (const auto& command : commands)
        rows.push_back({fmt::format("{} {}", command.name, command.arguments), command.summary});
    rows.push_back({"check FILE.so [fuzz] ...", "try a plugin against every promise of its interface"});
    text += plugin::in_columns(rows, "  ");
    text +=
        "\nOptions:\n"
        "  -j, --json      print JSON (list, info, stats)\n"
        "  -d, --dir DIR   look for plugins here before anywhere else; may be repeated (list, info)\n"
        "  -l, --lang LANG language of the new plugin (new)\n"
        "  -n, --dry-run   print the command instead of running it (debug)\n"
        "\nPlugins are looked for in [plugins] dirs of spur.conf, then where Spur is installed.\n"
        "`spur plugin check --help` shows the options of the checker.\n";
    return text;
}

int complain(const Console& console, std::string_view text) {
    console.error("{}", text);
    return 2;
}

// The options of `command`, or nothing if the user has been told what is wrong.
std::optional<Options> read(const Subcommand& command, Invocation& self, std::vector<std::string> words) {
    words.front() = fmt::format("spur plugin {}", command.name);
    auto parsed = read_options(option_shapes, words, Order::permute);
    if (!parsed) return std::nullopt;
    Options options;
    for (const auto& seen : parsed->seen) {
        const auto& shape = option_shapes[seen.row];
        if (shape.letter == 'h') {
            print_out(help());
            std::exit(0);
        }
        if (std::string_view(command.options).find(shape.letter) == std::string_view::npos)
            return complain(self.console, fmt::format("{} has no option --{}", command.name, shape.name)), std::nullopt;
        if (shape.letter == 'j') options.json = true;
        if (shape.letter == 'n') options.dry_run = true;
        if (shape.letter == 'd') options.dirs.emplace_back(seen.value);
        if (shape.letter == 'l') options.language = seen.value;
    }
    options.words = std::move(parsed->rest);
    if (options.words.size() < command.least_words || options.words.size() > command.most_words)
        return complain(self.console, fmt::format("usage: spur plugin {} {}", command.name, command.arguments)),
               std::nullopt;
    return options;
}

int unknown(const Console& console, std::string_view word) {
    std::vector<std::string> names{"check"};
    for (const auto& command : commands) names.emplace_back(command.name);
    return complain(console, fmt::format("there is no command \"{}\"{}; `spur plugin --help` lists them", word,
                                         suggestion(word, names)));
}

}  // namespace

int run_plugin(Invocation& self) {
    std::vector<std::string> words(self.words.begin() + 1, self.words.end());
    if (words.empty() || words.front() == "--help" || words.front() == "-h")
        return print_out(help()), words.empty() ? 2 : 0;
    if (words.front() == "check") return plugin::check(words);
    const auto* command = std::ranges::find(commands, words.front(), &Subcommand::name);
    if (command == std::end(commands)) return unknown(self.console, words.front());
    const auto options = read(*command, self, words);
    if (!options) return 2;
    const auto result = command->run(*options, self);
    if (result) return *result;
    self.console.error("{}", result.error().text);
    return 1;
}

namespace plugin {

std::filesystem::path program_dir() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

Result<Surroundings> find_surroundings(const Options& options) {
    SPUR_TRY(const auto cluster, find_cluster());
    auto configured = options.dirs;
    configured.insert(configured.end(), cluster.plugin_dirs.begin(), cluster.plugin_dirs.end());
    Surroundings found{host::plugin_search_path(configured), {}};
    if (cluster.config_path.empty()) return found;
    SPUR_TRY(const auto lines, ConfigLines::load(cluster.config_path));
    for (const char* axis :
         {"state", "sched", "select", "priority", "accounting", "auth", "net", "gpu", "cgroup", "job_submit"})
        if (const auto* names = lines.find(fmt::format("plugins.{}", axis)))
            for (const auto& name : *names)
                found.selected.insert(name.find('/') == std::string::npos ? fmt::format("{}/{}", axis, name) : name);
    return found;
}

std::string in_columns(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i == widths.size()) widths.push_back(0);
            widths[i] = std::max(widths[i], row[i].size());
        }
    std::string text;
    for (const auto& row : rows) {
        text += indent;
        for (std::size_t i = 0; i < row.size(); ++i)
            text += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}", row[i], widths[i] + 2);
        text += '\n';
    }
    return text;
}

}  // namespace plugin
}  // namespace spur::cli
