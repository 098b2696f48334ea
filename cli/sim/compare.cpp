// Several configurations side by side: the first is what the others are measured against.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/sim/report.hpp"

namespace spur::cli::sim {
namespace {

constexpr double least_told = 0.0005;  // relative differences below it are noise of rounding

// "+12.3%", with a mark where it is the better or the worse.
std::string difference(const Figure& from, const Figure& to) {
    if (from.value == to.value) return "=";
    const auto mark = to.better == 0 ? ' ' : (to.value > from.value) == (to.better > 0) ? '+' : '-';
    const auto judged = mark == ' ' ? std::string{} : mark == '+' ? std::string{" better"} : std::string{" worse"};
    if (from.value == 0) return "new" + judged;
    const auto change = (to.value - from.value) / std::abs(from.value);
    if (std::abs(change) < least_told) return "=";
    return fmt::format("{:+.1f}%{}", change * 100, judged);
}

std::string comparison_columns(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i == widths.size()) widths.push_back(0);
            widths[i] = std::max(widths[i], row[i].size());
        }
    std::string text;
    for (const auto& row : rows) {
        std::string line = " ";
        for (std::size_t i = 0; i < row.size(); ++i)
            line += i < 2 || i % 2 == 1 ? fmt::format(" {:<{}} ", row[i], widths[i])
                                        : fmt::format(" {:>{}} ", row[i], widths[i]);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

}  // namespace

std::string print_comparison(const std::vector<Report>& reports, const Trace& trace) {
    std::string text;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const auto head = heading(reports[i], trace);
        text += i == 0 ? head : head.substr(head.find('\n') + 1);
    }
    for (const auto& report : reports) {
        const auto said = remarks(report, trace);
        if (!said.empty()) text += fmt::format("{}:\n{}", report.name, said);
    }
    // Columns: group, name, value of the first, then value and difference of each other.
    std::vector<std::vector<std::string>> rows{{"", "", reports.front().name}};
    std::vector<std::vector<Figure>> others;
    for (std::size_t i = 1; i < reports.size(); ++i) {
        rows[0].insert(rows[0].end(), {"", reports[i].name});
        others.push_back(figures_of(reports[i], trace));
    }
    std::string group;
    for (const auto& figure : figures_of(reports.front(), trace)) {
        std::vector<std::string> row{figure.group == group ? "" : figure.group, figure.name, figure.text};
        group = figure.group;
        for (const auto& figures : others) {
            const auto same = std::ranges::find_if(
                figures, [&](const Figure& one) { return one.group == figure.group && one.name == figure.name; });
            const bool has = same != figures.end();
            row.insert(row.end(), {has ? difference(figure, *same) : "", has ? same->text : "-"});
        }
        rows.push_back(std::move(row));
    }
    return text + '\n' + comparison_columns(rows);
}

}  // namespace spur::cli::sim
