// Reports as tables: the same for all of them, whatever they are about. No I/O.
#pragma once

#include "cli/sreport/request.hpp"
#include "spur/v1/accounting.pb.h"

#include <map>
#include <string>
#include <vector>

namespace spur::cli::sreport {

struct Usage {
    double allocated{}, planned{}, idle{}, down{}, planned_down{}, over{};  // seconds
    std::uint64_t count{};
    double reported() const { return allocated + planned + idle + down + planned_down; }
};
struct UsageLine {
    std::string cluster, account, user, wckey, tres;
    Usage usage;
};

// The tree of accounts of each cluster.
struct Tree {
    std::map<std::pair<std::string, std::string>, std::string> parents;  // (cluster, account): its parent
    std::string parent_of(const std::string& cluster, const std::string& account) const;
    bool is_within(const std::string& cluster, std::string account, const std::string& top) const;
};

// What the reports are made from.
struct Data {
    std::vector<UsageLine> usage;
    std::vector<v1::JobSum> jobs;
    struct Reserved {
        v1::HistoryRow row;
        std::map<std::string, double> used;  // seconds by TRES
    };
    std::vector<Reserved> reservations;
    Tree tree;
    std::map<std::string, std::string> proper_names;  // by login
};

enum class Source { usage, jobs, reservations };

struct Context {
    const Options& options;
    const Conditions& conditions;
    const Data& data;
};

struct ReportKind {
    std::string_view group, name;
    std::size_t least;  // letters of the name that are enough
    Source source;
    Result<std::string> (*print)(const Context& context);
};
std::span<const ReportKind> report_kinds();
// "cluster utilization": which one that is; nullptr: none.
const ReportKind* find_report(std::string_view group, std::string_view name);

// What -T means: cpu without it.
Names tres_of(const Options& options, const Data& data);
inline double seconds_in(const v1::JobSum& sum, std::string_view tres) {
    for (const auto& one : sum.tres())
        if (one.name() == tres) return one.seconds();
    return 0;
}

// A column that a report can have.
struct ReportColumn {
    std::string_view name;  // of format=, lower case, or any beginning of it
    std::string_view header;
    int width;
};
using Cells = std::map<std::string_view, std::string>;  // by the column's name

// The lines above a report, unless they are not wanted, and then its rows.
class Layout {
public:
    // `shown`: names of the columns, "%width" allowed; what the user asks for goes before it.
    static Result<Layout> make(const Context& context, std::vector<std::string> title,
                               std::span<const ReportColumn> columns, const std::string& shown);
    void add(const Cells& cells);
    std::string text() const { return text_; }

private:
    Layout(Table table, std::vector<std::string> names) : table_{std::move(table)}, names_{std::move(names)} {}
    Table table_;
    std::vector<std::string> names_;
    std::string text_;
};

std::string window_text(const Conditions& conditions, bool with_seconds);
std::string usage_unit(const Context& context, std::string_view one);  // "Usage reported in CPU Minutes"

Result<std::string> cluster_utilization(const Context& context);
Result<std::string> accounts_by_user(const Context& context);
Result<std::string> users_by_account(const Context& context);
Result<std::string> users_by_wckey(const Context& context);
Result<std::string> wckeys_by_user(const Context& context);
Result<std::string> sizes_by_account(const Context& context);
Result<std::string> sizes_by_account_and_wckey(const Context& context);
Result<std::string> sizes_by_wckey(const Context& context);
Result<std::string> reservation_utilization(const Context& context);
Result<std::string> top_users(const Context& context);

}  // namespace spur::cli::sreport
