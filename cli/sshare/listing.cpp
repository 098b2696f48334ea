// sshare's columns, and the tree in the order Slurm prints it: an account's users by name, then its accounts by name.
#include "cli/sshare/listing.hpp"

#include "core/model/gres.hpp"
#include "core/text/lexical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace spur::cli::sshare {
namespace {

struct Row {
    const v1::Share* share = nullptr;
    const v1::ListSharesReply* reply = nullptr;
    std::size_t depth = 0;

    const v1::Association& association() const { return share->association(); }
    bool is_root() const { return association().parent() == 0; }
    bool is_user() const { return !association().user().empty(); }
};

std::string six(double value) { return fmt::format("{:f}", value); }

// Every resource that is tracked, in minutes.
std::string minutes_text(const Row& row, const google::protobuf::RepeatedPtrField<v1::TresTime>& times) {
    std::string text;
    for (const auto& name : row.reply->tres()) {
        double seconds = 0;
        for (const auto& entry : times)
            if (entry.name() == name) seconds = entry.seconds();
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, static_cast<std::uint64_t>(seconds / 60));
    }
    return text;
}

std::string limit_text(const google::protobuf::RepeatedPtrField<v1::TresCount>& limit) {
    std::string text;
    for (const auto& entry : limit)
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", entry.name(), entry.count());
    return text;
}

std::string level_text(const Row& row) {
    if (row.is_root() || row.association().shares_parent()) return {};
    return std::isinf(row.share->level()) ? "inf" : six(row.share->level());
}

struct Column {
    const char* name;
    int width;
    std::string (*get)(const Row&);
};
const Column columns[] = {
    {"Account", -20, [](const Row& r) { return std::string(r.depth, ' ') + r.association().account(); }},
    {"Cluster", 10, [](const Row& r) { return r.reply->cluster(); }},
    {"EffectvUsage", 13, [](const Row& r) { return six(r.share->effective_usage()); }},
    {"FairShare", 10,
     [](const Row& r) { return r.reply->fair_tree() && !r.is_user() ? std::string{} : six(r.share->factor()); }},
    {"GrpTRESMins", 30, [](const Row& r) { return limit_text(r.association().limits().grp_tres_mins()); }},
    {"GrpTRESRaw", 30, [](const Row& r) { return minutes_text(r, r.association().usage().tres_time()); }},
    {"ID", 6, [](const Row& r) { return std::to_string(r.association().id()); }},
    {"LevelFS", 10, level_text},
    {"NormShares", 11, [](const Row& r) { return six(r.share->normalised_shares()); }},
    {"NormUsage", 11, [](const Row& r) { return r.is_root() ? std::string{} : six(r.share->normalised_usage()); }},
    {"Partition", 12, [](const Row& r) { return r.association().partition(); }},
    {"RawShares", 10,
     [](const Row& r) {
         if (r.is_root()) return std::string{};
         return r.association().shares_parent() ? "parent" : std::to_string(r.association().shares());
     }},
    {"RawUsage", 11,
     [](const Row& r) { return std::to_string(static_cast<std::uint64_t>(r.association().usage().raw())); }},
    {"TRESRunMins", 30, [](const Row& r) { return minutes_text(r, r.association().usage().run_left()); }},
    {"User", 10, [](const Row& r) { return r.association().user(); }},
};

std::string default_format(const Options& options, bool fair_tree) {
    std::string format = options.partitions ? "Account,User,Partition" : "Account,User";
    format += ",RawShares,NormShares,RawUsage";
    if (options.long_listing) format += ",NormUsage";
    format += ",EffectvUsage,FairShare";
    if (options.long_listing) format += fair_tree ? ",LevelFS,GrpTRESMins,TRESRunMins" : ",GrpTRESMins,TRESRunMins";
    return format;
}

Result<std::vector<std::pair<const Column*, int>>> chosen_columns(std::string_view format) {
    SPUR_TRY(const auto wanted, parse_columns(format));
    std::vector<std::pair<const Column*, int>> chosen;
    for (const auto& request : wanted) {
        const auto* found =
            std::ranges::find_if(columns, [&](const Column& c) { return lower(c.name).starts_with(request.name); });
        if (found == std::end(columns))
            return fail(ErrorCode::invalid, "Invalid field requested: \"{}\"", request.name);
        chosen.emplace_back(found, request.width != 0 ? request.width : found->width);
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
    const std::vector<Row>& rows() const { return rows_; }

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
            if (shown) rows_.push_back({share, &reply_, options_.only_users ? 0 : depth});
            visit(share->association().id(), depth + (shown ? 1 : 0));
        }
    }

    const Options& options_;
    const v1::ListSharesReply& reply_;
    const std::string& self_;
    std::map<std::uint32_t, std::vector<const v1::Share*>> children_;
    std::vector<Row> rows_;
};

}  // namespace

std::string field_names() {
    std::string text;
    std::size_t at = 0;
    for (const auto& column : columns)
        text += fmt::format("{:<17}{}", column.name, ++at % 4 == 0 || at == std::size(columns) ? "\n" : " ");
    return text;
}

Result<std::string> print_listing(const Options& options, const v1::ListSharesReply& reply, const std::string& self) {
    SPUR_TRY(const auto chosen, chosen_columns(options.format.value_or(default_format(options, reply.fair_tree()))));
    std::vector<TableColumn> shape;
    for (const auto& [column, width] : chosen) shape.push_back({column->name, width});
    const Table table{options.style, options.header, std::move(shape)};
    std::string text = table.header();
    const Tree tree{options, reply, self};
    for (const auto& row : tree.rows()) {
        std::vector<std::string> cells;
        for (const auto& [column, width] : chosen) cells.push_back(column->get(row));
        text += table.row(cells);
    }
    return text;
}

}  // namespace spur::cli::sshare
