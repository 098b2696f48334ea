// spur plugin debug: the daemon that loads a plugin, under gdb, stopped where the plugin has just been loaded.
#include "cli/common/cluster.hpp"
#include "cli/common/output.hpp"
#include "cli/plugin/commands.hpp"
#include "cli/srun/step_request.hpp"
#include "daemons/common/host/search.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace spur::cli::plugin {
namespace {

struct Loader {
    std::string_view axis, program;
};
constexpr Loader loaders[] = {
    {"state", "spurctld"},      {"sched", "spurctld"},     {"select", "spurctld"}, {"priority", "spurctld"},
    {"job_submit", "spurctld"}, {"auth", "spurctld"},      {"net", "spurctld"},    {"gpu", "spurd"},
    {"cgroup", "spurd"},        {"accounting", "spurdbd"},
};

// The daemon would not load it, or not into the process that gdb looks at.
Result<void> check_selected(const std::string& type, std::string_view axis, const Surroundings& found) {
    const auto is_rival = [&](const std::string& name) { return name.starts_with(fmt::format("{}/", axis)); };
    const auto rival = std::ranges::find_if(found.selected, is_rival);
    if (found.selected.contains(type) || rival == found.selected.end()) return {};
    return fail(ErrorCode::invalid, "{} is not loaded: spur.conf selects {}; write {} = \"{}\" under [plugins] first",
                type, *rival, axis, type);
}

}  // namespace

Result<int> debug(const Options& options, Invocation&) {
    const auto& type = options.words.front();
    const auto axis = std::string_view{type}.substr(0, type.find('/'));
    const auto* const loader = std::ranges::find(loaders, axis, &Loader::axis);
    if (!host::is_plugin_type(type) || loader == std::end(loaders))
        return fail(ErrorCode::invalid, "\"{}\" is no plugin of an axis: write it as sched/mine", type);
    SPUR_TRY(const auto cluster, find_cluster());
    if (cluster.config_path.empty())
        return fail(ErrorCode::not_found, "there is no spur.conf: name it in SPUR_CONF, and in it the plugin");
    SPUR_TRY(const auto found, find_surroundings(options));
    SPUR_CHECK(check_selected(type, axis, found));
    SPUR_TRY(const auto file, host::find_plugin(type, found.dirs));
    SPUR_TRY(const auto lines, ConfigLines::load(cluster.config_path));
    if (lines.value(fmt::format("plugin.{}.isolate", type)) == "true")
        return fail(
            ErrorCode::invalid,
            "{} has a process of its own (isolate = true), which gdb would not see; take that line out while you "
            "debug",
            type);

    std::vector<std::string> words{"gdb", "-q",  "-ex",   "set breakpoint pending on", "-ex", "catch load",
                                   "-ex", "run", "--args"};
    words[5] += fmt::format(" {}", file.path.filename().native());
    words.push_back((program_dir() / loader->program).native());
    words.insert(words.end(), {"-D", "-f", cluster.config_path});
    words.insert(words.end(), options.words.begin() + 1, options.words.end());
    std::string shown;
    for (const auto& word : words) shown += (shown.empty() ? "" : " ") + srun::shell_quoted(word);
    if (options.dry_run) return print_out(shown + "\n"), 0;

    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    return fail(ErrorCode::unavailable,
                "gdb cannot be started: {}; install it (package gdb), or have another debugger do what this "
                "would: {}",
                std::strerror(errno), shown);
}

}  // namespace spur::cli::plugin
