// Order, columns, and the table.
#include "cli/sacct/listing.hpp"

#include "core/model/array_spec.hpp"
#include "core/model/job.hpp"
#include "daemons/common/records/job_text.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace spur::cli::sacct {
namespace {

std::uint32_t task_of(const v1::Job& job) { return job.has_array_task_id() ? job.array_task_id() : UINT32_MAX; }

}  // namespace

Result<std::vector<Column>> columns_of(const std::string& format) {
    SPUR_TRY(const auto wanted, parse_columns(format));
    std::vector<Column> columns;
    for (const auto& request : wanted) {
        const auto add = [&](const SacctField& field) {
            columns.push_back({&field, request.width != 0 ? request.width : field.width});
        };
        if (request.name == "all") {
            for (const auto& field : fields()) add(field);
            continue;
        }
        const auto* const field = find_field(request.name);
        if (field == nullptr) return fail(ErrorCode::invalid, "Invalid field requested: \"{}\"", request.name);
        add(*field);
    }
    return columns;
}

std::string help_format() {
    constexpr std::size_t a_line = 4;
    std::string text;
    std::size_t count = 0;
    for (const auto& field : fields()) text += fmt::format("{:<19}{}", field.name, ++count % a_line == 0 ? "\n" : " ");
    if (text.back() == ' ') text.back() = '\n';
    return text;
}

void put_in_order(Runs& runs, bool duplicates) {
    const auto place = [](const v1::HistoryJob& run) {
        const auto& job = run.job();
        return std::tuple{
            std::string_view{run.cluster()}, job.submit_time(), job.array_job_id(), task_of(job), job.id(), run.run()};
    };
    std::ranges::sort(runs, {}, place);
    // The batch script's first: its number is one of the last.
    const auto place_of_step = [](const v1::Step& step) { return static_cast<std::int32_t>(step.step_id()); };
    for (auto& run : runs) {
        auto& steps = *run.mutable_job()->mutable_steps();
        std::sort(steps.begin(), steps.end(),
                  [&](const v1::Step& a, const v1::Step& b) { return place_of_step(a) < place_of_step(b); });
    }
    if (duplicates) return;
    std::map<std::pair<std::string, std::uint32_t>, std::pair<std::int64_t, std::uint32_t>> last;
    const auto key = [](const v1::HistoryJob& run) { return std::pair{run.cluster(), run.job().id()}; };
    const auto when = [](const v1::HistoryJob& run) { return std::pair{run.job().submit_time(), run.run()}; };
    for (const auto& run : runs) last[key(run)] = std::max(last[key(run)], when(run));
    std::erase_if(runs, [&](const v1::HistoryJob& run) { return last[key(run)] != when(run); });
}

void expand_arrays(Runs& runs) {
    Runs all;
    for (auto& run : runs) {
        const auto tasks = run.job().array_tasks().empty() || run.job().has_array_task_id()
                               ? Result<ArraySpec>{fail(ErrorCode::not_found, "no tasks wait")}
                               : ArraySpec::parse_accepted(run.job().array_tasks(), highest_max_array_size);
        if (!tasks) {
            all.push_back(std::move(run));
            continue;
        }
        for (const auto task : tasks->tasks.ids()) {
            all.push_back(run);
            *all.back().mutable_job() = records::waiting_task(run.job(), task);
        }
    }
    runs = std::move(all);
}

void clip(v1::Job& job, const Window& window) {
    const auto clip_one = [&](auto& record) {
        if (record.start_time() == 0) return;
        record.set_start_time(std::max(record.start_time(), window.start));
        if (window.end != 0 && (record.end_time() == 0 || record.end_time() > window.end))
            record.set_end_time(window.end);
    };
    clip_one(job);
    for (auto& step : *job.mutable_steps()) clip_one(step);
}

std::string table_of(const Runs& runs, const Options& options, const std::vector<Column>& columns, const Look& look,
                     UnixSeconds now) {
    std::vector<TableColumn> shape;
    for (const auto& [field, width] : columns) shape.push_back({field->name, width, field->too_long});
    const Table table{options.style, options.header, std::move(shape), options.delimiter};
    auto text = table.header();
    std::vector<std::string> cells(columns.size());
    const auto add = [&](const Line& line) {
        for (std::size_t i = 0; i < columns.size(); ++i) cells[i] = text_of(*columns[i].field, line);
        text += table.row(cells);
    };
    records::Context context;
    context.now = now;
    for (const auto& run : runs) {
        if (!run.steps_only() || options.allocations) add({run, nullptr, context, look});
        if (options.allocations) continue;
        for (const auto& step : run.job().steps()) add({run, &step, context, look});
    }
    return text;
}

std::string scripts_of(const Runs& runs, Show what) {
    std::string text;
    for (const auto& run : runs) {
        const auto id = records::job_id_text(run.job(), records::array_text_limit());
        const auto& spec = run.job().spec();
        std::string content = what == Show::scripts ? spec.script() : std::string{};
        if (what == Show::environments)
            for (const auto& lines : spec.environment()) content += lines;
        if (content.empty()) content = "NONE";
        text += what == Show::scripts ? fmt::format("Batch Script for {}\n", id)
                                      : fmt::format("Environment used for {} (must be batch to display)\n", id);
        text += fmt::format("{:-<80}\n{}{}\n", "", content, content.back() == '\n' ? "" : "\n");
    }
    return text;
}

}  // namespace spur::cli::sacct
