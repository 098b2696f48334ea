// sshare: shares and usage of the account tree.
#include "cli/sshare/sshare.hpp"

#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/common/users.hpp"
#include "cli/sshare/listing.hpp"

#include <unistd.h>

namespace spur::cli {
namespace {

using namespace sshare;

constexpr std::string_view usage_text = "Usage: sshare [OPTION]\n";

int explain(const Invocation& self, const Failure& failure) {
    failure.print_details(self.console);
    self.console.error("Couldn't get shares from controller: {}", failure.text);
    return 1;
}

}  // namespace

int run_sshare(Invocation& self) {
    Options options;
    const auto outcome = apply_words(option_table(), options, self.words);
    if (outcome.end != ParseEnd::go_on)
        return finish_early(outcome, self.console, {help_text("sshare [OPTION]", option_table()), usage_text});
    if (options.help_format) return print_out(field_names()), 0;
    auto session = Session::open(self.controller, &self.console);
    if (!session) return explain(self, session.error());
    const auto reply = session->call<v1::ListSharesReply>("ListShares", v1::ListSharesRequest{});
    if (!reply) return explain(self, reply.error());
    const auto text = print_listing(options, *reply, name_of_user(::getuid()));
    if (!text) {
        self.console.error("{}", text.error().text);
        return 1;
    }
    print_out(*text);
    return 0;
}

}  // namespace spur::cli
