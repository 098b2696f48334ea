// spur report: who used how much, for people; and as a page.
#include "cli/sreport/human.hpp"
#include "cli/common/output.hpp"
#include "cli/sreport/ask.hpp"
#include "cli/sreport/sreport.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/history/row_message.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>

namespace spur::cli {
namespace sreport {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view usage_page =
#include "usage_page.inc"
    ;
constexpr std::size_t most_series = 8;

std::string short_time(UnixSeconds time, std::string_view step) {
    const auto text = print_time(time);  // 2026-11-16T10:00:00
    return step == "hour" ? text.substr(5, 11) : text.substr(0, step == "month" ? 7 : 10);
}

// The largest ones by themselves, and the rest together.
Json series_of(const std::map<std::string, std::map<UnixSeconds, double>>& all, const std::vector<UnixSeconds>& times) {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, values] : all) {
        double sum = 0;
        for (const auto& [time, hours] : values) sum += hours;
        if (sum > 0) order.emplace_back(-sum, name);
    }
    std::ranges::sort(order);
    Json list = Json::array();
    std::vector<double> rest(times.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto& values = all.at(order[i].second);
        std::vector<double> hours;
        for (std::size_t k = 0; k < times.size(); ++k) {
            const auto found = values.find(times[k]);
            hours.push_back(found == values.end() ? 0 : found->second);
            if (i >= most_series) rest[k] += hours.back();
        }
        if (i < most_series)
            list.push_back({{"name", order[i].second.empty() ? "(none)" : order[i].second}, {"hours", hours}});
    }
    if (order.size() > most_series) list.push_back({{"name", "others"}, {"hours", rest}});
    return list;
}

}  // namespace

std::string usage_html(const std::string& cluster, const std::string& tres, const std::string& step, UnixSeconds start,
                       UnixSeconds end, const std::vector<v1::HistoryRow>& rows) {
    std::map<std::string, std::map<UnixSeconds, double>> accounts, users, states;
    std::vector<UnixSeconds> times;
    for (const auto& row : rows) {
        const auto time = history::number_in(row, "start_time");
        if (std::ranges::find(times, time) == times.end()) times.push_back(time);
        const auto line = line_of(row);
        const auto hours = [](double seconds) { return seconds / 3600; };
        if (line.account.empty() && line.user.empty()) {
            states["allocated"][time] += hours(line.usage.allocated);
            states["down"][time] += hours(line.usage.down + line.usage.planned_down);
            states["planned"][time] += hours(line.usage.planned);
            states["idle"][time] += hours(line.usage.idle);
            continue;
        }
        accounts[line.account][time] += hours(line.usage.allocated);
        if (!line.user.empty()) users[line.user][time] += hours(line.usage.allocated);
    }
    std::ranges::sort(times);
    Json data{{"cluster", cluster.empty() ? "every cluster" : cluster},
              {"tres", tres},
              {"step", step},
              {"from", print_time(start)},
              {"until", print_time(end)}};
    data["times"] = Json::array();
    for (const auto time : times) data["times"].push_back(short_time(time, step));
    data["accounts"] = series_of(accounts, times);
    data["users"] = series_of(users, times);
    data["states"] = series_of(states, times);
    auto text = data.dump(-1, ' ', true, Json::error_handler_t::replace);
    for (auto at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3))
        text.replace(at, 2, "<\\/");  // no name ends the script
    std::string page{usage_page};
    constexpr std::string_view place = "/*DATA*/";
    return page.replace(page.find(place), place.size(), text);
}

// "physics   ████████░░░░  42.0 h  35 %".
std::string usage_bars(std::string_view title, const std::map<std::string, double>& seconds, bool in_ascii) {
    double total = 0, most = 0;
    std::size_t width = 8;
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, amount] : seconds) {
        total += amount;
        most = std::max(most, amount);
        width = std::max(width, std::min<std::size_t>(name.size(), 24));
        if (amount > 0) order.emplace_back(-amount, name.empty() ? "(none)" : name);
    }
    std::ranges::sort(order);
    auto text = fmt::format("{}\n", title);
    if (order.empty()) return text + "  nothing was used\n";
    constexpr int length = 30;
    for (const auto& [amount, name] : order) {
        const auto filled = static_cast<int>(-amount / most * length + 0.5);
        std::string bar;
        for (int i = 0; i < length; ++i) bar += i < filled ? (in_ascii ? "#" : "█") : (in_ascii ? "." : "░");
        text += fmt::format("  {:<{}} {} {:>10.1f} h {:>5.1f} %\n", name, width, bar, -amount / 3600,
                            total > 0 ? -amount / total * 100 : 0);
    }
    return text;
}

}  // namespace sreport

namespace {

using namespace sreport;
using Set = Result<void>;

struct ReportOptions {
    std::string start = "now-30days", end = "now", html, cluster, tres = "cpu", step;
    bool all_clusters = false;
};
constexpr OptionRow<ReportOptions> report_table[] = {
    {"start", 'S', Argument::required, "time", "from when on; 30 days ago by default",
     [](ReportOptions& o, const char* value) -> Set { return o.start = value, Set{}; }},
    {"end", 'E', Argument::required, "time", "until when; now by default",
     [](ReportOptions& o, const char* value) -> Set { return o.end = value, Set{}; }},
    {"clusters", 'M', Argument::required, "name", "another cluster that shares spurdbd",
     [](ReportOptions& o, const char* value) -> Set { return o.cluster = value, Set{}; }},
    {"all_clusters", 'a', Argument::none, nullptr, "all of them",
     [](ReportOptions& o, const char*) -> Set { return o.all_clusters = true, Set{}; }},
    {"tres", 'T', Argument::required, "name", "the resource, cpu by default",
     [](ReportOptions& o, const char* value) -> Set { return o.tres = lower(value), Set{}; }},
    {"by", 0, Argument::required, "hour|day|month", "how fine the page is; what fits by default",
     [](ReportOptions& o, const char* value) -> Set {
         o.step = value;
         if (o.step != "hour" && o.step != "day" && o.step != "month")
             return fail(ErrorCode::invalid, "--by takes hour, day or month");
         return {};
     }},
    {"html", 0, Argument::required, "FILE", "write a page with usage over time, by account and user",
     [](ReportOptions& o, const char* value) -> Set { return o.html = value, Set{}; }},
};

}  // namespace

int run_report(Invocation& self) {
    ReportOptions options;
    const auto outcome = apply_words<ReportOptions>(report_table, options, self.words);
    if (outcome.end != ParseEnd::go_on)
        return finish_early(
            outcome, self.console,
            {help_text("spur report [OPTIONS]; as Slurm has it: sreport",
                       std::span<const OptionRow<ReportOptions>>{report_table}),
             "Usage: spur report [-S time] [-E time] [-M cluster] [-T tres] [--by step] [--html FILE]\n"});
    const auto complain = [&](const Failure& failure) {
        failure.print_details(self.console);
        self.console.error("{}", failure.text);
        return 1;
    };
    if (!outcome.rest.empty())
        return self.console.error("spur report takes options only; sreport has the single reports"), 1;
    const auto now = static_cast<UnixSeconds>(std::time(nullptr));
    const auto start = parse_past_time(options.start, now), end = parse_past_time(options.end, now);
    if (!start || !end) return self.console.error("{}", (!start ? start : end).error().text), 1;
    if (*end <= *start) return self.console.error("the report would end before it begins"), 1;
    auto session = Session::open(self.controller, &self.console);
    if (!session) return complain(session.error());
    auto history = open_accounting(*session);
    if (!history) return complain(history.error());
    auto cluster = options.cluster;
    if (cluster.empty() && !options.all_clusters) {
        const auto about = session->call<v1::PingReply>("Ping", v1::PingRequest{});
        if (about) cluster = about->cluster();
    }
    constexpr UnixSeconds day_s = 86'400;
    if (options.step.empty())
        options.step = *end - *start <= 3 * day_s ? "hour" : *end - *start <= 200 * day_s ? "day" : "month";
    const auto rows = ask_series(*history, cluster, *start, *end, options.html.empty() ? std::string{} : options.step,
                                 {options.tres});
    if (!rows) return complain(rows.error());
    if (!options.html.empty()) {
        std::ofstream file{options.html, std::ios::binary | std::ios::trunc};
        file << usage_html(cluster, options.tres, options.step, *start, *end, *rows);
        file.close();
        if (!file) return self.console.error("{} cannot be written", options.html), 1;
        print_out(fmt::format("{}\n", options.html));
        return 0;
    }
    std::map<std::string, double> accounts, users;
    Usage whole;
    for (const auto& row : *rows) {
        const auto line = line_of(row);
        if (line.account.empty() && line.user.empty()) {
            whole.allocated += line.usage.allocated;
            whole.down += line.usage.down + line.usage.planned_down;
            whole.planned += line.usage.planned;
            whole.idle += line.usage.idle;
            continue;
        }
        accounts[line.account] += line.usage.allocated;
        if (!line.user.empty()) users[line.user] += line.usage.allocated;
    }
    const char* charset = std::getenv("LC_ALL") != nullptr ? std::getenv("LC_ALL") : std::getenv("LANG");
    const bool in_ascii = charset == nullptr || lower(charset).find("utf") == std::string::npos;
    const auto hours = [](double seconds) { return seconds / 3600; };
    print_out(fmt::format("{}, {} to {}, in hours of {}\n", cluster.empty() ? "every cluster" : cluster,
                          print_time(*start), print_time(*end), options.tres) +
              fmt::format("used {:.1f} of {:.1f}; down {:.1f}, planned {:.1f}, idle {:.1f}\n\n", hours(whole.allocated),
                          hours(whole.reported()), hours(whole.down), hours(whole.planned), hours(whole.idle)) +
              usage_bars("By account", accounts, in_ascii) + "\n" + usage_bars("By user", users, in_ascii));
    return 0;
}

}  // namespace spur::cli
