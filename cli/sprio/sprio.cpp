// sprio: what each waiting job is worth, factor by factor.
#include "cli/sprio/sprio.hpp"

#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/sprio/listing.hpp"

namespace spur::cli {
namespace {

using namespace sprio;

constexpr std::string_view usage_text =
    "Usage: sprio [-j jid[s]] [-u user_name[s]] [-o format] [-p partitions]\n"
    "   [--federation] [--local] [--usage] [-hlnvVw]\n";

int explain(const Invocation& self, const Failure& failure) {
    failure.print_details(self.console);
    fmt::print(stderr, "Couldn't get factors from controller: {}\n", failure.text);
    return 1;
}

}  // namespace

int run_sprio(Invocation& self) {
    Options options;
    auto outcome = apply_environment(option_table(), options);
    if (outcome.end == ParseEnd::go_on) outcome = apply_words(option_table(), options, self.words);
    if (outcome.end != ParseEnd::go_on)
        return finish_early(outcome, self.console, {help_text("sprio [OPTIONS]", option_table()), usage_text});
    // -j may stand alone, so what follows it came as a word of its own: -j 12,13
    if (options.jobs && options.jobs->empty() && !outcome.rest.empty()) {
        if (const auto named = add_jobs(options, outcome.rest.front().c_str()); !named)
            return self.console.error("{}", named.error().text), 1;
        outcome.rest.erase(outcome.rest.begin());
    }
    if (!outcome.rest.empty()) {
        self.console.error("Unrecognized option: {}", outcome.rest.front());
        print_out(usage_text);
        return 1;
    }
    for (const auto& name : options.unknown_users) self.console.error("Invalid user: {}\n", name);
    v1::ListPrioritiesRequest request;
    if (options.jobs)
        for (const auto id : *options.jobs) request.add_ids(id);
    auto session = Session::open(self.controller, &self.console);
    if (!session) return explain(self, session.error());
    const auto reply = session->call<v1::ListPrioritiesReply>("ListPriorities", request);
    if (!reply) return explain(self, reply.error());
    if (reply->weights().empty()) {
        self.console.error(
            "this cluster's priority plugin has no factors; sprio needs one with weights, such as priority/fairshare");
        return 1;
    }
    const auto printed = print_listing(options, *reply);
    for (const auto& complaint : printed.complaints) self.console.error("{}", complaint);
    print_out(printed.text);
    return 0;
}

}  // namespace spur::cli
