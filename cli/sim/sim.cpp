// The commands under `spur sim` and their options.
#include "cli/sim/sim.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>

#include "cli/common/options.hpp"
#include "cli/common/output.hpp"
#include "cli/sim/commands.hpp"
#include "core/text/timefmt.hpp"

namespace spur::cli {
namespace {

using sim::RecordOptions;
using sim::RunOptions;
using sim::SynthOptions;

template <class T>
Result<void> read_number(T& out, const char* text, T least, T most, const char* what) {
    T value{};
    const std::string_view all{text};
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
    if (error != std::errc{} || end != all.data() + all.size() || value < least || value > most)
        return fail(ErrorCode::invalid, "{} is \"{}\"; it must be a number from {} to {}", what, text, least, most);
    out = value;
    return {};
}

Result<void> read_pair(std::vector<std::pair<std::string, std::string>>& out, const char* text, const char* form) {
    const std::string_view all{text};
    const auto at = all.find('=');
    if (at == 0 || at == std::string_view::npos || at + 1 == all.size())
        return fail(ErrorCode::invalid, "\"{}\" must be {}", text, form);
    out.emplace_back(all.substr(0, at), all.substr(at + 1));
    return {};
}

Result<void> read_seconds(std::int64_t& out, const char* text, const char* what) {
    const auto seconds = parse_duration_s(text);
    if (!seconds || *seconds < 1)
        return fail(ErrorCode::invalid, "{} is \"{}\"; it must be a time such as 30 (minutes), 1:00:00 or 2-0", what,
                    text);
    out = *seconds;
    return {};
}

constexpr OptionRow<RunOptions> run_table[] = {
    {"config", 'c', Argument::required, "FILE", "the cluster: a spur.conf (default: the one commands use)",
     [](RunOptions& o, const char* v) -> Result<void> { return o.config = v, Result<void>{}; }},
    {"plugin", 'p', Argument::required, "AXIS=TYPE", "use this plugin: sched=sched/fifo; may be repeated",
     [](RunOptions& o, const char* v) { return read_pair(o.plugins, v, "AXIS=TYPE, as in sched=sched/fifo"); }},
    {"set", 's', Argument::required, "TYPE.KEY=VALUE", "an option of a plugin; may be repeated",
     [](RunOptions& o, const char* v) {
         return read_pair(o.settings, v, "TYPE.KEY=VALUE, as in sched/fifo.strict=true");
     }},
    {"dir", 'd', Argument::required, "DIR", "look for plugins here before anywhere else; may be repeated",
     [](RunOptions& o, const char* v) -> Result<void> { return o.dirs.emplace_back(v), Result<void>{}; }},
    {"interval", 'i', Argument::required, "SECONDS", "virtual time between two cycles, at least (default 1)",
     [](RunOptions& o, const char* v) {
         return read_number<std::int64_t>(o.simulation.interval_s, v, 1, 86'400, "--interval");
     }},
    {"json", 'j', Argument::none, nullptr, "print JSON",
     [](RunOptions& o, const char*) -> Result<void> { return o.json = true, Result<void>{}; }},
    {"html", 'H', Argument::required, "FILE", "write a page with plots and a Gantt view",
     [](RunOptions& o, const char* v) -> Result<void> { return o.page = v, Result<void>{}; }},
    {"schedule", 'S', Argument::required, "FILE", "write when and where each job ran, as CSV",
     [](RunOptions& o, const char* v) -> Result<void> { return o.schedule = v, Result<void>{}; }},
};

struct SynthWords {
    SynthOptions options;
    std::string config, output;
};

constexpr OptionRow<SynthWords> synth_table[] = {
    {"seed", 0, Argument::required, "N", "the same seed gives the same trace (default 1)",
     [](SynthWords& o, const char* v) {
         return read_number<std::uint64_t>(o.options.seed, v, 0, UINT64_MAX, "--seed");
     }},
    {"jobs", 'n', Argument::required, "N", "how many (default 1000)",
     [](SynthWords& o, const char* v) {
         return read_number<std::uint32_t>(o.options.jobs, v, 1, 10'000'000, "--jobs");
     }},
    {"duration", 't', Argument::required, "TIME", "how long jobs are submitted (default 1-0: a day)",
     [](SynthWords& o, const char* v) { return read_seconds(o.options.duration_s, v, "--duration"); }},
    {"config", 'c', Argument::required, "FILE", "the cluster it is meant for (default: 1024 cores on nodes of 64)",
     [](SynthWords& o, const char* v) -> Result<void> { return o.config = v, Result<void>{}; }},
    {"load", 'l', Argument::required, "SHARE", "what is asked for against what the cluster has (default 0.9)",
     [](SynthWords& o, const char* v) { return read_number<double>(o.options.load, v, 0.01, 100, "--load"); }},
    {"users", 'u', Argument::required, "N", "how many users (default 32)",
     [](SynthWords& o, const char* v) {
         return read_number<std::uint32_t>(o.options.users, v, 1, 100'000, "--users");
     }},
    {"accounts", 0, Argument::required, "N", "how many accounts they share (default 8)",
     [](SynthWords& o, const char* v) {
         return read_number<std::uint32_t>(o.options.accounts, v, 1, 100'000, "--accounts");
     }},
    {"max-cpus", 0, Argument::required, "N", "the widest job (default: half the cluster)",
     [](SynthWords& o, const char* v) {
         return read_number<std::uint32_t>(o.options.max_cpus, v, 1, 100'000'000, "--max-cpus");
     }},
    {"gpu-share", 'g', Argument::required, "SHARE", "of jobs that want GPUs (default: 0.6 where the cluster has some)",
     [](SynthWords& o, const char* v) {
         return read_number<double>(o.options.gpu_share.emplace(), v, 0, 1, "--gpu-share");
     }},
    {"output", 'o', Argument::required, "FILE", "write it here (default: standard output)",
     [](SynthWords& o, const char* v) -> Result<void> { return o.output = v, Result<void>{}; }},
};

constexpr OptionRow<RecordOptions> record_table[] = {
    {"for", 't', Argument::required, "TIME", "stop after this time (default: when interrupted)",
     [](RecordOptions& o, const char* v) { return read_seconds(o.for_s, v, "--for"); }},
};

constexpr std::string_view run_usage =
    "usage: spur sim [OPTIONS] TRACE\n"
    "       spur sim compare [OPTIONS] CONF CONF ... TRACE\n"
    "       spur sim synth [OPTIONS]\n"
    "       spur sim record [--for TIME] FILE\n";

constexpr std::string_view run_about =
    "Run a workload against a cluster's configuration in virtual time, with the plugins it would use, and tell how it "
    "went.\n"
    "TRACE is in Standard Workload Format (*.swf) or Spur's own: JSON, one job a line. `compare` runs it against each "
    "CONF;\n"
    "`synth` makes up a trace, `record` takes one down from a live cluster; `--help` after each tells its options.\n\n";

template <class Options>
std::string help_of(std::string_view about, std::span<const OptionRow<Options>> table) {
    return help_text(about, table);
}

int complain(const Console& console, std::string_view text) {
    console.error("{}", text);
    return 2;
}

int tell(const Console& console, const Result<int>& result) {
    if (result) return *result;
    console.error_lines(result.error().text);
    return 1;
}

// Reads the words into `options`; nothing if that is all there is to do, with the exit code in `code`.
template <class Options>
std::optional<std::vector<std::string>> read(std::span<const OptionRow<Options>> table, Options& options,
                                             std::vector<std::string>& words, const Console& console,
                                             std::string_view usage, std::string_view about, int& code) {
    auto parsed = apply_words(table, options, words);
    if (parsed.end == ParseEnd::go_on) return std::move(parsed.rest);
    code = finish_early(parsed, console, {help_of(fmt::format("{}{}", usage, about), table), usage}, 2);
    return std::nullopt;
}

int run_trace(Invocation& self, std::vector<std::string> words, bool compares) {
    RunOptions options;
    int code = 0;
    const auto rest = read<RunOptions>(run_table, options, words, self.console, run_usage, run_about, code);
    if (!rest) return code;
    if (!compares && rest->size() != 1)
        return complain(self.console, rest->empty() ? "which trace? `spur sim --help` tells more"
                                                    : "one trace at a time; `spur sim compare` takes configurations");
    if (compares && rest->size() < 2) return complain(self.console, "usage: spur sim compare CONF CONF ... TRACE");
    if (compares && !(options.page.empty() && options.schedule.empty() && options.config.empty()))
        return complain(self.console, "compare takes its configurations as words, and has no --html or --schedule");
    return tell(self.console, compares ? sim::compare(options, *rest) : sim::run(options, *rest));
}

int run_synth(Invocation& self, std::vector<std::string> words) {
    SynthWords wanted;
    int code = 0;
    constexpr std::string_view usage = "usage: spur sim synth [OPTIONS]\n";
    constexpr std::string_view about = "Make up a day like those of real clusters, as a trace.\n\n";
    const auto rest = read<SynthWords>(synth_table, wanted, words, self.console, usage, about, code);
    if (!rest) return code;
    if (!rest->empty()) return complain(self.console, "synth takes options only; -o FILE says where to write");
    return tell(self.console, sim::synth(wanted.options, wanted.config, wanted.output));
}

int run_record(Invocation& self, std::vector<std::string> words) {
    RecordOptions options;
    int code = 0;
    constexpr std::string_view usage = "usage: spur sim record [--for TIME] FILE\n";
    constexpr std::string_view about =
        "Take down what a live cluster is asked for and how long jobs run, as a trace.\n\n";
    const auto rest = read<RecordOptions>(record_table, options, words, self.console, usage, about, code);
    if (!rest) return code;
    if (rest->size() != 1) return complain(self.console, "usage: spur sim record [--for TIME] FILE");
    options.output = rest->front();
    return tell(self.console, sim::record(options, self));
}

}  // namespace

int run_sim(Invocation& self) {
    auto words = self.words;
    const std::string_view first = words.size() > 1 ? std::string_view{words[1]} : std::string_view{};
    const auto without_first = [&] {
        words.erase(words.begin() + 1);
        return words;
    };
    if (first == "compare") return run_trace(self, without_first(), true);
    if (first == "synth") return run_synth(self, without_first());
    if (first == "record" || first == "--record") return run_record(self, without_first());
    return run_trace(self, std::move(words), false);
}

}  // namespace spur::cli
