// Reports from jobs: by their sizes; and from reservations: how much of them was used.
#include "cli/sreport/report.hpp"

#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/history/row_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace spur::cli::sreport {
namespace {

// The fields that jobs are summed up by, as sreport.cpp asks for them.
enum Grouped : int { by_account, by_wckey, by_cpus };

std::uint64_t cpus_of(const v1::JobSum& sum) { return find_unsigned(sum.group(by_cpus)).value_or(0); }
std::string wckey_of(const v1::JobSum& sum) { return sum.group(by_wckey).empty() ? "*" : sum.group(by_wckey); }

// "0-49 CPUs", "50-249 CPUs", ">= 1000 CPUs".
struct Sizes {
    std::vector<std::uint64_t> bounds;  // where each begins
    bool is_individual = false;

    std::size_t place(std::uint64_t cpus) const {
        if (is_individual) return static_cast<std::size_t>(std::ranges::find(bounds, cpus) - bounds.begin());
        const auto above = std::ranges::upper_bound(bounds, cpus);
        return above == bounds.begin() ? 0 : static_cast<std::size_t>(above - bounds.begin() - 1);
    }
    std::string header(std::size_t i, std::string_view what) const {
        if (is_individual) return fmt::format("{} {}", bounds[i], what);
        if (i + 1 == bounds.size()) return fmt::format(">= {} {}", bounds[i], what);
        return fmt::format("{}-{} {}", bounds[i], bounds[i + 1] - 1, what);
    }
};

Result<Sizes> sizes_of(const Context& context) {
    const auto& grouping = context.conditions.grouping;
    if (grouping == Names{"individual"}) {
        std::set<std::uint64_t> found;
        for (const auto& sum : context.data.jobs) found.insert(cpus_of(sum));
        return Sizes{{found.begin(), found.end()}, true};
    }
    Sizes sizes{{0}};
    for (const auto& word : grouping.empty() ? Names{"50", "250", "500", "1000"} : grouping) {
        const auto bound = find_unsigned(word);
        if (!bound || *bound <= sizes.bounds.back())
            return fail(ErrorCode::invalid, "grouping={} is not a list of growing sizes, such as 50,250,500", word);
        sizes.bounds.push_back(*bound);
    }
    return sizes;
}

// Under which account's line a job belongs; empty: under none.
std::string line_of(const Context& context, const v1::JobSum& sum) {
    const auto& wanted = context.conditions;
    const auto account = sum.group(by_account).empty() ? std::string{"root"} : sum.group(by_account);
    const auto& tree = context.data.tree;
    const Names tops = wanted.accounts.empty() ? Names{"root"} : wanted.accounts;
    if (wanted.flat) {
        const bool is_in = wanted.accounts.empty() || std::ranges::any_of(tops, [&](const auto& top) {
                               return tree.is_within(sum.cluster(), account, top);
                           });
        return is_in ? account : std::string{};
    }
    for (const auto& top : tops) {
        if (!tree.is_within(sum.cluster(), account, top)) continue;
        if (!wanted.as_parent) return top;
        for (auto at = account; !at.empty();) {  // the one right below
            const auto parent = tree.parent_of(sum.cluster(), at);
            if (parent == top) return at;
            at = parent;
        }
        return {};
    }
    return {};
}

Result<std::string> print_sizes(const Context& context, std::string_view title, std::string_view name, int name_width,
                                std::string (*line)(const Context&, const v1::JobSum&)) {
    if (context.options.tres.size() > 1) return fail(ErrorCode::invalid, "job reports are about a single TRES");
    const auto tres = context.options.tres.empty() ? std::string{"cpu"} : context.options.tres.front();
    SPUR_TRY(const auto sizes, sizes_of(context));
    const bool counts = context.conditions.count_jobs;
    std::map<std::pair<std::string, std::string>, std::vector<double>> rows;
    std::map<std::string, double> totals;
    for (const auto& sum : context.data.jobs) {
        const auto label = line(context, sum);
        if (label.empty()) continue;
        auto& row = rows[{sum.cluster(), label}];
        row.resize(sizes.bounds.size());
        const auto amount = counts ? static_cast<double>(sum.jobs()) : seconds_in(sum, tres);
        row[sizes.place(cpus_of(sum))] += amount;
        totals[sum.cluster()] += amount;
    }
    std::vector<ReportColumn> columns{{"cluster", "Cluster", 9},
                                      {name == "Wckey" ? "wckey" : "account", name, name_width}};
    auto shown = fmt::format("cluster,{}", columns[1].name);
    std::vector<std::string> headers(sizes.bounds.size()), names(sizes.bounds.size());
    for (std::size_t i = 0; i < sizes.bounds.size(); ++i) {
        headers[i] = sizes.header(i, "CPUs");
        names[i] = fmt::format("size{}", i);
    }
    for (std::size_t i = 0; i < headers.size(); ++i) columns.push_back({names[i], headers[i], 13});
    columns.push_back({"share", "% of cluster", 12});
    Conditions conditions = context.conditions;  // whichever columns are asked for, the sizes are shown
    auto all = conditions.format.value_or(shown);
    for (const auto& one : names) all += "," + one;
    conditions.format = all + ",share";
    const Context own{context.options, conditions, context.data};
    SPUR_TRY(auto layout, Layout::make(own,
                                       {fmt::format("{} {}", title, window_text(context.conditions, true)),
                                        counts ? std::string{"Units are in number of jobs ran"}
                                               : fmt::format("Time reported in {}", unit_of(context.options.time))},
                                       columns, {}));
    for (const auto& [key, row] : rows) {
        Cells cells{{"cluster", key.first}, {columns[1].name, key.second}};
        double sum = 0;
        const auto total = totals[key.first];
        for (std::size_t i = 0; i < row.size(); ++i) {
            sum += row[i];
            cells[names[i]] =
                counts ? fmt::format("{:.0f}", row[i]) : print_seconds(row[i], total, context.options.time);
        }
        cells["share"] = fmt::format("{:.2f}%", total > 0 ? sum / total * 100 : 0.0);
        layout.add(cells);
    }
    return layout.text();
}

}  // namespace

Result<std::string> sizes_by_account(const Context& context) {
    return print_sizes(context, "Job Sizes", "Account", 9, line_of);
}

Result<std::string> sizes_by_account_and_wckey(const Context& context) {
    return print_sizes(context, "Job Sizes", "Account", -20, [](const Context& in, const v1::JobSum& sum) {
        const auto account = line_of(in, sum);
        return account.empty() ? account : fmt::format("{}:{}", account, wckey_of(sum));
    });
}

Result<std::string> sizes_by_wckey(const Context& context) {
    return print_sizes(context, "Job Sizes by Wckey", "Wckey", 9,
                       [](const Context&, const v1::JobSum& sum) { return wckey_of(sum); });
}

Result<std::string> reservation_utilization(const Context& context) {
    using history::number_in;
    using history::text_in;
    const int width = context.options.time >= TimeFormat::seconds_percent ? 29 : 20;
    const ReportColumn columns[] = {{"cluster", "Cluster", 9},
                                    {"name", "Name", 9},
                                    {"start", "Start", 19},
                                    {"end", "End", 19},
                                    {"flags", "Flags", 20},
                                    {"nodes", "Nodes", 15},
                                    {"associations", "Associations", 15},
                                    {"totaltime", "TotalTime", 9},
                                    {"tresname", "TRES Name", 14},
                                    {"trescount", "TRES Count", 10},
                                    {"trestime", "TRES Time", width},
                                    {"allocated", "Allocated", width},
                                    {"idle", "Idle", width}};
    SPUR_TRY(auto layout,
             Layout::make(context,
                          {fmt::format("Reservation Utilization {}", window_text(context.conditions, false)),
                           context.options.time == TimeFormat::percent
                               ? std::string{"Usage reported in Percentage of Total"}
                               : fmt::format("Usage reported in TRES {}", unit_of(context.options.time))},
                          columns, "cluster,name,start,end,tresname,allocated,idle"));
    for (const auto& reserved : context.data.reservations) {
        const auto& row = reserved.row;
        const auto start = number_in(row, "start_time"), end = number_in(row, "end_time");
        if (!context.conditions.nodes.empty()) {
            const auto nodes = HostSet::parse(text_in(row, "nodes"));
            std::string wanted;
            for (const auto& one : context.conditions.nodes) wanted += (wanted.empty() ? "" : ",") + one;
            const auto asked = HostSet::parse(wanted);
            if (!asked) return std::unexpected(asked.error());
            if (!nodes || !nodes->intersects(*asked)) continue;
        }
        const auto tres = history::tres_in(row, "tres");
        for (const auto& one : tres.entries()) {
            const std::string name{one.name};
            if (!context.options.tres.empty() && context.options.tres != Names{"all"} &&
                std::ranges::find(context.options.tres, name) == context.options.tres.end())
                continue;
            if (context.options.tres.empty() && name == "node") continue;
            const auto total = static_cast<double>(one.count) * static_cast<double>(end - start);
            const auto found = reserved.used.find(name);
            const auto used = std::min(total, found == reserved.used.end() ? 0.0 : found->second);
            const auto text = [&](double seconds) { return print_seconds(seconds, total, context.options.time); };
            layout.add({{"cluster", row.cluster()},
                        {"name", text_in(row, "name")},
                        {"start", print_time(start)},
                        {"end", print_time(end)},
                        {"flags", text_in(row, "flags")},
                        {"nodes", text_in(row, "nodes")},
                        {"associations", text_in(row, "users") +
                                             (text_in(row, "accounts").empty() ? "" : "," + text_in(row, "accounts"))},
                        {"totaltime", print_long_duration(end - start)},
                        {"tresname", name},
                        {"trescount", std::to_string(one.count)},
                        {"trestime", text(total)},
                        {"allocated", text(used)},
                        {"idle", text(total - used)}});
        }
    }
    return layout.text();
}

}  // namespace spur::cli::sreport
