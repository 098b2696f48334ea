// sshare's options.
#include "cli/sshare/listing.hpp"
#include "core/text/lexical.hpp"

namespace spur::cli::sshare {
namespace {

using Set = Result<void>;

void add_names(std::vector<std::string>& list, const char* value) {
    for (const auto item : split(value, ','))
        if (!trim(item).empty()) list.push_back(lower(trim(item)));
}

constexpr OptionRow<Options> table[] = {
    {"accounts", 'A', Argument::required, "account[,...]", "display specific accounts",
     [](Options& o, const char* value) -> Set { return add_names(o.accounts, value), Set{}; }},
    {"all", 'a', Argument::none, nullptr, "display all users",
     [](Options& o, const char*) -> Set { return o.all = true, Set{}; }},
    {"clusters", 'M', Argument::required, "cluster[,...]", nullptr,
     [](Options&, const char* value) -> Set {
         return fail(ErrorCode::invalid,
                     "'{}' can't be reached: this command knows one cluster, the one it is configured for; leave out "
                     "--clusters",
                     value);
     }},
    {"format", 'o', Argument::required, "field[,...]", "fields to display, see --helpformat",
     [](Options& o, const char* value) -> Set { return o.format = o.format ? *o.format + "," + value : value, Set{}; }},
    {"helpformat", 'e', Argument::none, nullptr, "print the fields that --format knows",
     [](Options& o, const char*) -> Set { return o.help_format = true, Set{}; }},
    {"long", 'l', Argument::none, nullptr, "include normalized usage in output",
     [](Options& o, const char*) -> Set { return o.long_listing = true, Set{}; }},
    {"partition", 'm', Argument::none, nullptr, "print the partition part of the association",
     [](Options& o, const char*) -> Set { return o.partitions = true, Set{}; }},
    {"noheader", 'n', Argument::none, nullptr, "omit header from output",
     [](Options& o, const char*) -> Set { return o.header = false, Set{}; }},
    {"parsable", 'p', Argument::none, nullptr, "'|' delimited output with a trailing '|'",
     [](Options& o, const char*) -> Set { return o.style = TableStyle::bars, Set{}; }},
    {"parsable2", 'P', Argument::none, nullptr, "'|' delimited output without a trailing '|'",
     [](Options& o, const char*) -> Set { return o.style = TableStyle::bars_between, Set{}; }},
    {"users", 'u', Argument::required, "user[,...]", "display specific users",
     [](Options& o, const char* value) -> Set { return add_names(o.users, value), Set{}; }},
    {"Users", 'U', Argument::none, nullptr, "display only users, not the accounts above them",
     [](Options& o, const char*) -> Set { return o.only_users = true, Set{}; }},
    {"verbose", 'v', Argument::none, nullptr, "display more information",
     [](Options& o, const char*) -> Set { return ++o.verbose, Set{}; }},
};

}  // namespace

std::span<const OptionRow<Options>> option_table() { return table; }

}  // namespace spur::cli::sshare
