// sshare's output: the tree in the order Slurm prints it: an account's users by name, then its accounts by name.
#include "cli/sshare/listing.hpp"

#include "core/text/lexical.hpp"
#include "daemons/common/records/priority.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace spur::cli::sshare {
namespace {

using records::ShareField;
using records::ShareView;

std::string default_format(const Options& options, bool fair_tree) {
    std::string format = options.partitions ? "Account,User,Partition" : "Account,User";
    format += ",RawShares,NormShares,RawUsage";
    if (options.long_listing) format += ",NormUsage";
    format += ",EffectvUsage,FairShare";
    if (options.long_listing) format += fair_tree ? ",LevelFS,GrpTRESMins,TRESRunMins" : ",GrpTRESMins,TRESRunMins";
    return format;
}

Result<std::vector<std::pair<const ShareField*, int>>> chosen_columns(std::string_view format) {
    SPUR_TRY(const auto wanted, parse_columns(format));
    const auto fields = records::share_fields();
    std::vector<std::pair<const ShareField*, int>> chosen;
    for (const auto& request : wanted) {
        const auto found = std::ranges::find_if(
            fields, [&](const auto& field) { return lower(field.listing.header).starts_with(request.name); });
        if (found == fields.end()) return fail(ErrorCode::invalid, "Invalid field requested: \"{}\"", request.name);
        chosen.emplace_back(&*found, request.width != 0 ? request.width : found->listing.width);
    }
    return chosen;
}

// The lines to show, each with how many of those above it are shown.
class Tree {
public:
    Tree(const Options& options, const v1::ListSharesReply& reply, const std::string& self)
        : options_{options}, reply_{reply}, self_{self} {
        for (const auto& share : reply.shares()) children_[share.association().parent()].push_back(&share);
        for (auto& [parent, list] : children_)
            std::ranges::stable_sort(list, [](const v1::Share* a, const v1::Share* b) {
                const auto &x = a->association(), &y = b->association();
                if (x.user().empty() != y.user().empty()) return !x.user().empty();
                return x.user().empty() ? x.account() < y.account()
                                        : std::tie(x.user(), x.partition()) < std::tie(y.user(), y.partition());
            });
        visit(0, 0);
    }
    const std::vector<ShareView>& rows() const { return rows_; }

private:
    bool is_wanted(const v1::Association& entry) const {
        const auto in = [](const auto& list, const std::string& name) {
            return std::ranges::find(list, lower(name)) != list.end();
        };
        if (!options_.accounts.empty() && !in(options_.accounts, entry.account())) return false;
        if (entry.user().empty()) return !options_.only_users;
        if (options_.all) return true;
        return options_.users.empty() ? entry.user() == self_ : in(options_.users, entry.user());
    }
    void visit(std::uint32_t parent, std::size_t depth) {
        const auto found = children_.find(parent);
        if (found == children_.end()) return;
        for (const auto* share : found->second) {
            const bool shown = is_wanted(share->association());
            if (shown) rows_.push_back({*share, reply_, context_, options_.only_users ? 0 : depth});
            visit(share->association().id(), depth + (shown ? 1 : 0));
        }
    }

    const Options& options_;
    const v1::ListSharesReply& reply_;
    const std::string& self_;
    std::map<std::uint32_t, std::vector<const v1::Share*>> children_;
    records::Context context_;
    std::vector<ShareView> rows_;
};

}  // namespace

std::string field_names() {
    std::string text;
    std::size_t at = 0;
    const auto fields = records::share_fields();
    for (const auto& field : fields)
        text += fmt::format("{:<17}{}", field.listing.header, ++at % 4 == 0 || at == fields.size() ? "\n" : " ");
    return text;
}

Result<std::string> print_listing(const Options& options, const v1::ListSharesReply& reply, const std::string& self) {
    SPUR_TRY(const auto chosen, chosen_columns(options.format.value_or(default_format(options, reply.fair_tree()))));
    const Tree tree{options, reply, self};
    return table_text(options.style, options.header, chosen, tree.rows());
}

}  // namespace spur::cli::sshare
