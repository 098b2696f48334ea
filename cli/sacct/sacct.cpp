// sacct: from its words to its listing.
#include "cli/sacct/sacct.hpp"

#include "cli/common/output.hpp"
#include "cli/sacct/ask.hpp"
#include "cli/sacct/history.hpp"
#include "core/text/lexical.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace spur::cli {
namespace {

using namespace sacct;

constexpr std::string_view usage_text =
    "Usage: sacct [options]\n"
    "\tUse --help for help\n";

int explain(const Invocation& self, const Failure& failure) {
    failure.print_details(self.console);
    self.console.error("{}", failure.text);
    return 1;
}

// Some of Slurm's sentences come without the program's name.
int say_plainly(std::string_view text) {
    fmt::print(stderr, "{}\n", text);
    return 1;
}

int refuse(const Invocation& self, const Options& options, const std::string& text) {
    if (text.starts_with("Invalid time specification") || text.ends_with("is not a valid file"))
        return say_plainly(text);
    if (options.is_fatal)
        self.console.fatal("{}", text);
    else
        self.console.error("{}", text);
    if (text.starts_with("Invalid unit type")) self.console.fatal("Invalid unit type");
    return 1;
}

// QOS are the controller's; it is asked where they matter.
Answer<std::map<std::string, std::uint32_t>> ask_qos(Session& session) {
    const auto accounts = session.call<v1::ListAccountsReply>("ListAccounts", v1::ListAccountsRequest{});
    if (!accounts) return std::unexpected(accounts.error());
    std::map<std::string, std::uint32_t> ids;
    for (const auto& qos : accounts->qos()) ids[qos.name()] = qos.id();
    return ids;
}

// "You gave a bad qos ...": nothing if all are known.
std::string find_bad_qos(const std::vector<std::string>& wanted, const std::map<std::string, std::uint32_t>& known) {
    for (const auto& name : wanted) {
        if (known.contains(lower(name))) continue;
        std::vector<std::pair<std::uint32_t, std::string>> names;
        for (const auto& [one, id] : known) names.emplace_back(id, one);
        std::ranges::sort(names);
        std::string all;
        for (const auto& [id, one] : names) all += (all.empty() ? "" : ",") + one;
        return fmt::format("You gave a bad qos '{}'. Valid QOS's are {}", name, all);
    }
    return {};
}

enum class Face { slurm, human };

bool shows(const std::vector<Column>& columns, std::string_view name) {
    return std::ranges::any_of(columns, [&](const Column& column) { return name == column.field->name; });
}

int run(Invocation& self, Face face) {
    Options options;
    auto outcome = apply_environment(option_table(), options);
    if (outcome.end == ParseEnd::go_on) outcome = apply_words(option_table(), options, self.words);
    if (outcome.end == ParseEnd::wrong && !outcome.error.empty()) return refuse(self, options, outcome.error);
    if (outcome.end != ParseEnd::go_on)
        return finish_early(
            outcome, self.console,
            {help_text(face == Face::slurm ? "sacct [OPTIONS]" : "spur history [OPTIONS]", option_table()),
             usage_text});
    if (options.help_format) return print_out(help_format()), 0;
    if (!outcome.rest.empty()) {
        self.console.error("Unknown arguments:");
        for (const auto& word : outcome.rest) self.console.error(" {}", word);
        return 1;
    }
    // Whoever says what the table is to look like gets it.
    const bool is_human = face == Face::human && options.format.empty() && !options.is_long && !options.is_brief &&
                          options.show == Show::table && options.style == TableStyle::aligned;
    if (is_human && !options.start && options.jobs.empty() && options.states.empty()) options.start = "now-7days";
    if (const auto good = check(options); !good) return refuse(self, options, good.error().text);
    if (options.completion) return say_plainly("Slurm job completion is disabled");
    const auto columns = columns_of(options.format);
    if (!columns) return explain(self, to_failure(columns.error()));
    const auto now = std::time(nullptr);
    const auto window = window_of(options, now);
    if (!window) return refuse(self, options, window.error().text);
    if (options.verbose > 0) self.console.info("{}", window_text(options, *window, now));

    auto session = Session::open(self.controller, &self.console);
    if (!session) return explain(self, session.error());
    Look look{options.units, options.convert, !options.allocations, options.local_uids, {}};
    if (!options.qos.empty() || shows(*columns, "QOSRAW")) {
        auto known = ask_qos(*session);
        if (!known) return explain(self, known.error());
        if (const auto bad = find_bad_qos(options.qos, *known); !bad.empty()) {
            self.console.error("{}", bad);
            self.console.fatal("problem processing qos list");
            return 1;
        }
        look.qos_ids = std::move(*known);
    }
    std::string cluster;
    if (options.clusters.empty() && !options.all_clusters) {
        auto name = find_cluster_name(*session);
        if (!name) return explain(self, name.error());
        cluster = std::move(*name);
    }
    auto request = request_for(options, *window, cluster);
    if (!request) return explain(self, to_failure(request.error()));
    auto runs = ask(*session, std::move(*request));
    if (!runs) return explain(self, runs.error());

    put_in_order(*runs, options.duplicates);
    if (options.expand_arrays) expand_arrays(*runs);
    if (options.truncate)
        for (auto& run : *runs) clip(*run.mutable_job(), *window);
    switch (options.show) {
        case Show::json:
            print_out(json_of(*runs, now));
            break;
        case Show::scripts:
        case Show::environments:
            print_out(scripts_of(*runs, options.show));
            break;
        case Show::table:
            print_out(is_human ? history_of(*runs, options.allocations, ::isatty(STDOUT_FILENO) == 1, now)
                               : table_of(*runs, options, *columns, look, now));
            break;
    }
    return 0;
}

}  // namespace

int run_sacct(Invocation& self) { return run(self, Face::slurm); }
int run_history(Invocation& self) { return run(self, Face::human); }

}  // namespace spur::cli
