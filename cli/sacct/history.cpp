// The table for people.
#include "cli/sacct/history.hpp"

#include "core/model/gres.hpp"
#include "core/model/job.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/job_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>

namespace spur::cli::sacct {
namespace {

constexpr std::string_view green = "\x1b[32m", red = "\x1b[31m", yellow = "\x1b[33m", cyan = "\x1b[36m",
                           plain = "\x1b[0m";

int percent_of(double part, double whole) { return static_cast<int>(part * 100 / whole + 0.5); }

std::string_view colour_of(std::string_view state) {
    if (state.starts_with("COMPLETED")) return green;
    if (state.starts_with("RUNNING") || state.starts_with("PENDING") || state.starts_with("SUSPENDED")) return cyan;
    if (state.starts_with("CANCELLED") || state.starts_with("REQUEUED") || state.starts_with("PREEMPTED"))
        return yellow;
    return red;
}

// "FAILED (3)", "CANCELLED by alice".
std::string state_words(const Line& line) {
    const auto state = state_text(line);
    const auto status = exit_status_of(line);
    if (state != "FAILED" || status == 0) return state;
    return (status & 0x7f) != 0 ? fmt::format("FAILED (signal {})", status & 0x7f)
                                : fmt::format("FAILED ({})", status >> 8 & 0xff);
}

std::string ran_for(std::int64_t seconds) {
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{} min", seconds / 60);
    if (seconds < 86400) return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
    return fmt::format("{} d {:02} h", seconds / 86400, seconds / 3600 % 24);
}

std::string share(const std::optional<int>& percent, bool with_bar) {
    if (!percent) return "-";
    return with_bar ? fmt::format("{} {:3}%", bar(*percent), *percent) : fmt::format("{}%", *percent);
}

// Columns as wide as characters, not bytes.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

struct Place {
    enum : std::size_t { job, name, user, state, when, ran, cpus, cpu, memory, count };
};
using Row = std::array<std::string, Place::count>;

}  // namespace

Efficiency efficiency_of(const v1::HistoryJob& run, UnixSeconds now) {
    records::Context context;
    context.now = now;
    const Look look;
    const Line line{run, nullptr, context, look};
    Efficiency found;
    const bool is_measured =
        std::ranges::any_of(run.job().steps(), [](const v1::Step& step) { return step.has_usage(); });
    if (!is_measured) return found;
    const auto had_s = static_cast<double>(elapsed_s(line)) * run.job().cpus();
    if (had_s > 0) found.cpu = percent_of(static_cast<double>(cpu_used_us(line)) / 1e6, had_s);
    std::uint64_t peak_kib = 0;
    for (const auto& step : run.job().steps()) peak_kib = std::max(peak_kib, step.usage().max_rss_kib());
    const auto tres = TresList::parse(run.job().tres_allocated());
    if (const auto had_mib = tres ? tres->get("mem") : 0; had_mib != 0 && peak_kib != 0)
        found.memory = percent_of(static_cast<double>(peak_kib) / 1024, static_cast<double>(had_mib));
    return found;
}

std::string ago(UnixSeconds then, UnixSeconds now) {
    const auto seconds = now - then;
    if (seconds < 0) return print_time(then, now, "relative");
    if (seconds < 60) return "just now";
    if (seconds < 3600) return fmt::format("{} min ago", seconds / 60);
    const auto day_and_time = [](UnixSeconds time) {
        const auto moment = static_cast<std::time_t>(time);
        std::tm local{};
        ::localtime_r(&moment, &local);
        return local;
    };
    const auto today = day_and_time(now), day = day_and_time(then), before = day_and_time(now - 86400);
    if (day.tm_yday == today.tm_yday && day.tm_year == today.tm_year) return fmt::format("{} h ago", seconds / 3600);
    if (day.tm_yday == before.tm_yday && day.tm_year == before.tm_year)
        return fmt::format("yesterday {:02}:{:02}", day.tm_hour, day.tm_min);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), day.tm_year == today.tm_year ? "%-d %b %H:%M" : "%-d %b %Y", &day);
    return text.data();
}

std::string bar(int percent) {
    constexpr int cells = 10;
    const int full = std::clamp((percent * cells + 50) / 100, percent > 0 ? 1 : 0, cells);
    std::string text;
    for (int i = 0; i < cells; ++i) text += i < full ? "█" : "░";
    return text;
}

std::string history_of(const Runs& runs, bool without_steps, bool is_terminal, UnixSeconds now) {
    if (runs.empty()) return "No jobs. `spur history -S now-30days` looks further back, `-a` at everybody's.\n";
    records::Context context;
    context.now = now;
    const Look look;
    std::vector<Row> rows;
    rows.push_back(Row{"JOB", "NAME", "USER", "STATE", "WHEN", "RAN", "CPUS", "CPU USED", "MEMORY USED"});
    for (const auto& run : runs) {
        const Line line{run, nullptr, context, look};
        const auto& of = run.job();
        const auto efficiency = without_steps ? Efficiency{} : efficiency_of(run, now);
        const auto last = of.end_time() != 0     ? of.end_time()
                          : of.start_time() != 0 ? of.start_time()
                                                 : of.submit_time();
        const std::string_view what = of.end_time() != 0 ? "" : of.start_time() != 0 ? "began " : "sent ";
        rows.push_back(Row{records::job_id_text(of, records::array_text_limit()), of.spec().name(),
                           records::user_name(of), state_words(line), fmt::format("{}{}", what, ago(last, now)),
                           of.start_time() == 0 ? "-" : ran_for(elapsed_s(line)), fmt::format("{}", of.cpus()),
                           share(efficiency.cpu, is_terminal), share(efficiency.memory, is_terminal)});
    }
    std::array<std::size_t, Place::count> widths{};
    for (const auto& row : rows)
        for (std::size_t i = 0; i < Place::count; ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    std::string text;
    for (std::size_t number = 0; number < rows.size(); ++number) {
        for (std::size_t i = 0; i < Place::count; ++i) {
            const auto& cell = rows[number][i];
            const bool is_coloured = is_terminal && number != 0 && i == Place::state;
            const std::string pad(i + 1 == Place::count ? 0 : widths[i] - width_of(cell) + 2, ' ');
            text += is_coloured ? fmt::format("{}{}{}{}", colour_of(cell), cell, plain, pad) : cell + pad;
        }
        text += '\n';
    }
    return text;
}

}  // namespace spur::cli::sacct
