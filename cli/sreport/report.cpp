// Titles, columns and which report a word means.
#include "cli/sreport/report.hpp"

#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::cli::sreport {
namespace {

constexpr ReportKind kinds[] = {
    {"cluster", "accountutilizationbyuser", 1, Source::usage, accounts_by_user},
    {"cluster", "userutilizationbyaccount", 18, Source::usage, users_by_account},
    {"cluster", "userutilizationbywckey", 18, Source::usage, users_by_wckey},
    {"cluster", "utilization", 2, Source::usage, cluster_utilization},
    {"cluster", "wckeyutilizationbyuser", 1, Source::usage, wckeys_by_user},
    {"job", "sizesbyaccountandwckey", 15, Source::jobs, sizes_by_account_and_wckey},
    {"job", "sizesbyaccount", 8, Source::jobs, sizes_by_account},
    {"job", "sizesbywckey", 8, Source::jobs, sizes_by_wckey},
    {"reservation", "utilization", 1, Source::reservations, reservation_utilization},
    {"user", "topusage", 1, Source::usage, top_users},
};

constexpr std::string_view rule = "--------------------------------------------------------------------------------\n";

}  // namespace

std::span<const ReportKind> report_kinds() { return kinds; }

const ReportKind* find_report(std::string_view group, std::string_view name) {
    const auto typed_group = lower(group), typed = lower(name);
    const auto means = [&](const ReportKind& kind) {
        return !typed_group.empty() && kind.group.starts_with(typed_group) && typed.size() >= kind.least &&
               kind.name.starts_with(typed);
    };
    const auto* const found = std::ranges::find_if(kinds, means);
    return found == std::end(kinds) ? nullptr : found;
}

std::string Tree::parent_of(const std::string& cluster, const std::string& account) const {
    const auto found = parents.find({cluster, account});
    if (found != parents.end()) return found->second;
    return account == "root" ? std::string{} : "root";
}

bool Tree::is_within(const std::string& cluster, std::string account, const std::string& top) const {
    for (int depth = 0; depth < 1000 && !account.empty(); ++depth) {
        if (account == top) return true;
        account = parent_of(cluster, account);
    }
    return false;
}

Names tres_of(const Options& options, const Data& data) {
    if (options.tres.empty()) return {"cpu"};
    if (options.tres != Names{"all"}) return options.tres;
    Names names;
    for (const auto& line : data.usage)
        if (std::ranges::find(names, line.tres) == names.end()) names.push_back(line.tres);
    return names;
}

std::string window_text(const Conditions& conditions, bool with_seconds) {
    const auto text = fmt::format("{} - {}", print_time(conditions.start), print_time(conditions.end - 1));
    return with_seconds ? fmt::format("{} ({} secs)", text, conditions.end - conditions.start) : text;
}

std::string usage_unit(const Context& context, std::string_view one) {
    const auto unit = unit_of(context.options.time);
    if (context.options.time == TimeFormat::percent) return fmt::format("Usage reported in {}", unit);
    return fmt::format("Usage reported in {} {}", context.options.tres.empty() ? one : "TRES", unit);
}

Result<Layout> Layout::make(const Context& context, std::vector<std::string> title,
                            std::span<const ReportColumn> columns, const std::string& shown) {
    SPUR_TRY(const auto wanted, parse_columns(context.conditions.format.value_or(shown)));
    std::vector<TableColumn> shape;
    std::vector<std::string> names;
    for (const auto& request : wanted) {
        auto column = std::ranges::find(columns, std::string_view{request.name}, &ReportColumn::name);
        if (column == columns.end())
            column = std::ranges::find_if(
                columns, [&](const ReportColumn& one) { return one.name.starts_with(request.name); });
        if (column == columns.end()) return fail(ErrorCode::invalid, "Unknown field '{}'", request.name);
        shape.push_back({std::string{column->header}, request.width != 0 ? request.width : column->width});
        names.emplace_back(column->name);
    }
    Layout layout{Table{context.options.style, context.options.header, std::move(shape)}, std::move(names)};
    if (context.options.header) {
        layout.text_ = rule;
        for (const auto& line : title) layout.text_ += line + "\n";
        layout.text_ += rule;
        layout.text_ += layout.table_.header();
    }
    return layout;
}

void Layout::add(const Cells& cells) {
    std::vector<std::string> row;
    for (const auto& name : names_) {
        const auto found = cells.find(name);
        row.push_back(found == cells.end() ? std::string{} : found->second);
    }
    text_ += table_.row(row);
}

}  // namespace spur::cli::sreport
