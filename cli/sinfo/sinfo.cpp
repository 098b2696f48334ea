// sinfo: the nodes and partitions of the cluster.
#include "cli/sinfo/sinfo.hpp"

#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/sinfo/json.hpp"
#include "cli/sinfo/listing.hpp"

#include <unistd.h>

#include <ctime>
#include <utility>

namespace spur::cli {
namespace {

using namespace sinfo;

constexpr std::string_view usage_text =
    "Usage: sinfo [-abdelNRrsTv] [-i seconds] [-t states] [-p partition] [-n nodes]\n"
    "             [-S fields] [-o format] [-O Format] [--federation] [--local]\n";

int explain(const Invocation& self, std::string_view what, const Failure& failure) {
    failure.print_details(self.console);
    fmt::print(stderr, "{}: {}\n", what, failure.text);
    return 1;
}

int list_reservations(Invocation& self, Session& session, const Options& options) {
    const auto reply = session.call<v1::ListReservationsReply>("ListReservations", v1::ListReservationsRequest{});
    if (!reply) return explain(self, "slurm_load_reservations", reply.error());
    print_out(print_reservations(options, *reply, std::time(nullptr)));
    return 0;
}

int list_once(Invocation& self, Session& session, const Options& options) {
    if (options.reservations) return list_reservations(self, session, options);
    v1::ListPartitionsRequest for_partitions;
    v1::ListNodesRequest for_nodes;
    for_partitions.set_all_partitions(options.all_partitions);
    for_nodes.set_all_partitions(options.all_partitions);
    if (options.nodes) for_nodes.set_names(options.nodes->str());
    auto partitions = session.call<v1::ListPartitionsReply>("ListPartitions", for_partitions);
    if (!partitions) return explain(self, "slurm_load_partitions", partitions.error());
    auto nodes = session.call<v1::ListNodesReply>("ListNodes", for_nodes);
    // A name that no node has leaves the listing empty; it is no error.
    if (!nodes && nodes.error().code == ErrorCode::not_found && options.nodes) nodes = v1::ListNodesReply{};
    if (!nodes) return explain(self, "slurm_load_node", nodes.error());
    if (options.json) {
        print_out(nodes_json(*nodes));
        return 0;
    }
    const Snapshot snapshot{std::move(*partitions), std::move(*nodes), std::time(nullptr)};
    const auto printed = print_listing(options, snapshot);
    for (const auto& complaint : printed.complaints) fmt::print(stderr, "{}\n", complaint);
    print_out(printed.text);
    return 0;
}

// The environment, then the command line; -O typed there beats SINFO_FORMAT.
TableOutcome read_arguments(Invocation& self, Options& options) {
    if (auto outcome = apply_environment(option_table(), options); outcome.end != ParseEnd::go_on) return outcome;
    const auto from_environment = options.format;
    options.format.reset();
    auto outcome = apply_words(option_table(), options, self.words);
    if (!options.format && !options.long_format && !options.long_listing && !options.by_node && !options.summarize &&
        !options.reasons)
        options.format = from_environment;
    return outcome;
}

}  // namespace

int run_sinfo(Invocation& self) {
    Options options;
    const auto outcome = read_arguments(self, options);
    if (outcome.end != ParseEnd::go_on)
        return finish_early(outcome, self.console, {help_text("sinfo [OPTIONS]", option_table()), usage_text});
    auto session = Session::open(self.controller, &self.console);
    if (!session) return explain(self, "slurm_load_partitions", session.error());
    if (options.clusters) {
        const auto chosen = session->choose_cluster(*options.clusters);
        if (!chosen) return self.console.error("{}", chosen.error().text), 1;
        options.clusters = *chosen;
    }
    for (;;) {
        const int code = list_once(self, *session, options);
        if (options.iterate_s == 0 || code != 0) return code;
        print_out("\n");
        ::sleep(options.iterate_s);
    }
}

}  // namespace spur::cli
