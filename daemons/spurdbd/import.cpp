// Lines to rows, by tables of columns.
#include "daemons/spurdbd/import.hpp"

#include <spur/plugin/draft/accounting.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/model/array_spec.hpp"
#include "core/model/gres.hpp"
#include "core/model/job.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/history/row_message.hpp"

namespace spur::dbd {
namespace {

using history::RowMessage;
using Record = std::map<std::string, std::string, std::less<>>;  // cells by the column's name, lower case

enum class Cell { text, number, time, tres, status, seconds };
struct ImportColumn {
    std::string_view from, to;
    Cell cell;
};

constexpr ImportColumn run_columns[] = {
    {"eligible", "eligible_time", Cell::time},
    {"user", "user_name", Cell::text},
    {"uid", "uid", Cell::number},
    {"group", "group_name", Cell::text},
    {"gid", "gid", Cell::number},
    {"account", "account", Cell::text},
    {"partition", "partition", Cell::text},
    {"qos", "qos", Cell::text},
    {"reservation", "reservation", Cell::text},
    {"associd", "association_id", Cell::number},
    {"reason", "reason", Cell::text},
    {"derivedexitcode", "derived_exit_code", Cell::status},
    {"priority", "priority", Cell::number},
    {"suspended", "suspended_s", Cell::seconds},
    {"reqtres", "tres_requested", Cell::tres},
    {"constraints", "constraints", Cell::text},
    {"workdir", "work_dir", Cell::text},
    {"submitline", "submit_line", Cell::text},
    {"comment", "comment", Cell::text},
    {"admincomment", "admin_comment", Cell::text},
    {"systemcomment", "system_comment", Cell::text},
    {"mcslabel", "mcs_label", Cell::text},
    {"container", "container", Cell::text},
};
constexpr ImportColumn step_columns[] = {{"layout", "layout", Cell::text}};
// Of both.
constexpr ImportColumn common_columns[] = {{"jobname", "name", Cell::text},
                                           {"start", "start_time", Cell::time},
                                           {"end", "end_time", Cell::time},
                                           {"exitcode", "exit_code", Cell::status},
                                           {"allocnodes", "node_count", Cell::number},
                                           {"alloccpus", "cpus", Cell::number},
                                           {"ntasks", "tasks", Cell::number},
                                           {"nodelist", "nodes", Cell::text},
                                           {"timelimitraw", "time_limit_min", Cell::number},
                                           {"alloctres", "tres_allocated", Cell::tres}};

bool is_unknown(std::string_view text) {
    return text.empty() || text == "Unknown" || text == "None" || text == "None assigned" || text == "INVALID";
}

Result<std::optional<UnixSeconds>> time_in(std::string_view text) {
    if (is_unknown(text)) return std::nullopt;
    SPUR_TRY(const auto time, parse_past_time(text, 0));
    return time;
}

const std::string& cell(const Record& record, std::string_view name) {
    static const std::string none;
    const auto found = record.find(name);
    return found == record.end() ? none : found->second;
}

Result<void> put(RowMessage& row, const ImportColumn& column, const std::string& text) {
    const auto refuse = [&] { return fail(ErrorCode::invalid, "{} is no {}", spur::quoted(text), column.from); };
    switch (column.cell) {
        case Cell::text:
            row.text_if(column.to, text);
            return {};
        case Cell::number:
            if (const auto number = find_unsigned(text)) row.number(column.to, static_cast<std::int64_t>(*number));
            return {};
        case Cell::time: {
            SPUR_TRY(const auto time, time_in(text));
            if (time) row.number(column.to, *time);
            return {};
        }
        case Cell::tres: {
            const auto tres = TresList::parse(text);
            if (!tres) return refuse();
            if (!tres->empty()) row.tres(column.to, *tres);
            return {};
        }
        case Cell::status: {  // "code:signal"
            if (text.empty()) return {};
            const auto parts = split(text, ':');
            const auto code = find_unsigned(parts.front()), signal = find_unsigned(parts.back());
            if (parts.size() != 2 || !code || !signal) return refuse();
            row.number(column.to, static_cast<std::int64_t>((*code & 0xff) << 8U | (*signal & 0x7f)));
            return {};
        }
        case Cell::seconds: {
            if (text.empty()) return {};
            const auto seconds = parse_duration_s(text);
            if (!seconds) return refuse();
            row.number_if(column.to, *seconds);
            return {};
        }
    }
    return {};
}

template <class Columns>
Result<void> put_all(RowMessage& row, const Columns& columns, const Record& record) {
    for (const auto& column : columns) SPUR_CHECK(put(row, column, cell(record, column.from)));
    return {};
}

class Importer {
public:
    explicit Importer(const std::string& cluster) : cluster_{cluster} {}
    Imported take() { return std::move(all_); }

    // A line of sacct.
    Result<void> add_run(const Record& record) {
        SPUR_TRY(const auto submit, time_in(cell(record, "submit")));
        SPUR_TRY(const auto ref,
                 JobRef::parse(cell(record, "jobidraw").empty() ? cell(record, "jobid") : cell(record, "jobidraw")));
        const auto state = split(cell(record, "state"), ' ');
        const auto known = find_job_state(state.front());
        if (!known) return fail(ErrorCode::invalid, "{} is no state of a job", spur::quoted(state.front()));
        const auto name = cluster_of(record);
        if (!ref.step) {
            if (!submit) return fail(ErrorCode::invalid, "job {} has no time of submission", ref.job);
            auto& attempts = attempts_[{name, ref.job, *submit}];
            last_[{name, ref.job}] = {*submit, ++attempts};
        }
        const auto run = last_.find({name, ref.job});
        if (run == last_.end()) return fail(ErrorCode::invalid, "a step of job {} comes before it", ref.job);
        const auto [submitted, attempt] = run->second;
        note(name, submitted);
        v1::HistoryRow made;
        RowMessage row{made, ref.step ? SPUR_ROW_STEP : SPUR_ROW_JOB};
        row.number("job_id", ref.job).number("submit_time", submitted).number("attempt", attempt);
        row.text("state", to_string(*known));
        SPUR_CHECK(put_all(row, common_columns, record));
        if (ref.step) {
            row.number("step_id", *ref.step);
            SPUR_CHECK(put_all(row, step_columns, record));
        } else {
            SPUR_CHECK(put_all(row, run_columns, record));
            put_job(row, name, record);
        }
        all_.rows[name].push_back(std::move(made));
        return {};
    }

    Result<void> add_event(const Record& record) {
        SPUR_TRY(const auto start, time_in(cell(record, "timestart")));
        if (!start) return fail(ErrorCode::invalid, "an event has no beginning");
        const auto name = cluster_of(record);
        note(name, *start);
        RowMessage row{all_.rows[name].emplace_back(), SPUR_ROW_EVENT};
        row.text("node", cell(record, "nodename")).number("start_time", *start).text("state", cell(record, "state"));
        row.text("reason", cell(record, "reason"));
        SPUR_CHECK(put(row, {"timeend", "end_time", Cell::time}, cell(record, "timeend")));
        const auto& user = cell(record, "user");  // "root(0)"
        if (const auto open = user.find('('); open != std::string::npos)
            if (const auto uid = find_unsigned(std::string_view{user}.substr(open + 1, user.size() - open - 2)))
                row.number("reason_uid", static_cast<std::int64_t>(*uid));
        return put(row, {"tres", "tres", Cell::tres}, cell(record, "tres"));
    }

    Result<void> add_reservation(const Record& record) {
        SPUR_TRY(const auto start, time_in(cell(record, "timestart")));
        SPUR_TRY(const auto end, time_in(cell(record, "timeend")));
        if (!start || !end) return fail(ErrorCode::invalid, "a reservation has no beginning or no end");
        const auto name = cluster_of(record);
        note(name, *start);
        RowMessage row{all_.rows[name].emplace_back(), SPUR_ROW_RESERVATION};
        row.text("name", cell(record, "name")).number("start_time", *start).number("end_time", *end);
        row.text("nodes", cell(record, "nodename")).text("flags", cell(record, "flags"));
        row.text_if("associations", cell(record, "assocs"));  // Slurm names those who may use it by these numbers
        return put(row, {"tres", "tres", Cell::tres}, cell(record, "tres"));
    }

    // A line of sacctmgr show association.
    Result<void> add_association_line(const Record& record) {
        const auto id = find_unsigned(cell(record, "id"));
        if (!id) return fail(ErrorCode::invalid, "{} is no number of an association", spur::quoted(cell(record, "id")));
        RowMessage{all_.rows[cluster_of(record)].emplace_back(), SPUR_ROW_ASSOCIATION}
            .number("id", static_cast<std::int64_t>(*id))
            .text("account", cell(record, "account"))
            .text("user_name", cell(record, "user"))
            .text("partition", cell(record, "partition"))
            .text("parent", cell(record, "par name"));
        return {};
    }

    // A line of sacctmgr dump: "User - 'ann':DefaultAccount='physics':Fairshare=1", under "Parent - 'physics'".
    Result<void> add_dumped(std::string_view line) {
        const auto dash = line.find(" - ");
        if (dash == std::string_view::npos)
            return fail(ErrorCode::invalid, "{} is no line of sacctmgr dump", spur::quoted(line));
        const auto kind = line.substr(0, dash);
        std::vector<std::string> parts{""};
        bool is_quoted = false;
        for (const char c : line.substr(dash + 3)) {
            if (c == '\'') is_quoted = !is_quoted;
            if (c == ':' && !is_quoted)
                parts.emplace_back();
            else if (c != '\'')
                parts.back() += c;
        }
        Record options;
        for (std::size_t i = 1; i < parts.size(); ++i) {
            const auto equals = parts[i].find('=');
            options[lower(parts[i].substr(0, equals))] =
                equals == std::string::npos ? std::string{} : parts[i].substr(equals + 1);
        }
        if (kind == "Cluster") {
            cluster_ = parts.front();
            RowMessage{all_.rows[cluster_].emplace_back(), SPUR_ROW_CLUSTER}.text("name", cluster_);
            add_association("root", {}, {}, options);
        } else if (kind == "Parent") {
            parent_ = parts.front();
        } else if (kind == "Account") {
            RowMessage{all_.rows[cluster_].emplace_back(), SPUR_ROW_ACCOUNT}
                .text("name", parts.front())
                .text("description", cell(options, "description"))
                .text("organization", cell(options, "organization"));
            add_association(parts.front(), {}, parent_, options);
        } else if (kind == "User") {
            RowMessage{all_.rows[cluster_].emplace_back(), SPUR_ROW_USER}
                .text("name", parts.front())
                .text("default_account", cell(options, "defaultaccount"))
                .text("default_wckey", cell(options, "defaultwckey"))
                .text("admin_level", cell(options, "adminlevel").empty() ? "None" : cell(options, "adminlevel"));
            add_association(parent_, parts.front(), {}, options);
        } else {
            return fail(ErrorCode::invalid, "{} is no line of sacctmgr dump", spur::quoted(line));
        }
        return {};
    }

private:
    // What is a job's alone, and no plain column.
    void put_job(RowMessage& row, const std::string& cluster, const Record& record) {
        const auto shown = JobRef::parse(cell(record, "jobid"));
        if (shown && shown->has_tasks() && shown->tasks.size() == 1)
            row.number("array_job_id", shown->job).number("array_task_id", *shown->tasks.first());
        else if (shown && shown->component)
            row.number("het_job_id", shown->job).number("het_job_offset", *shown->component);
        const auto state = split(cell(record, "state"), ' ');  // "CANCELLED by 1000"
        if (state.size() == 3 && state[1] == "by")
            if (const auto uid = find_unsigned(state[2])) row.number("cancelled_by", static_cast<std::int64_t>(*uid));
        const auto& wckey = cell(record, "wckey");
        if (wckey.empty() || wckey == "*") return;  // "*": it has none
        row.text("wckey", wckey);
        RowMessage{all_.rows[cluster].emplace_back(), SPUR_ROW_WCKEY}
            .text("name", wckey)
            .text("user_name", cell(record, "user"));
    }
    std::string cluster_of(const Record& record) const {
        const auto& named = cell(record, "cluster");
        return named.empty() ? cluster_ : named;
    }
    void note(const std::string& cluster, UnixSeconds time) {
        const auto [place, is_new] = all_.since.try_emplace(cluster, time);
        if (!is_new) place->second = std::min(place->second, time);
    }
    void add_association(const std::string& account, const std::string& user, const std::string& parent,
                         const Record& options) {
        RowMessage row{all_.rows[cluster_].emplace_back(), SPUR_ROW_ASSOCIATION};
        row.number("id", ++next_association_)
            .text("account", account)
            .text("user_name", user)
            .text("partition", "")
            .text("parent", parent);
        row.number("shares", static_cast<std::int64_t>(find_unsigned(cell(options, "fairshare")).value_or(1)));
        row.text("default_qos", cell(options, "defaultqos")).text("qos", cell(options, "qos"));
    }

    std::string cluster_, parent_{"root"};
    std::int64_t next_association_{};
    std::map<std::tuple<std::string, std::uint32_t, UnixSeconds>, std::int64_t> attempts_;
    std::map<std::pair<std::string, std::uint32_t>, std::pair<UnixSeconds, std::int64_t>> last_;
    Imported all_;
};

}  // namespace

std::size_t Imported::count() const {
    std::size_t sum = 0;
    for (const auto& [cluster, list] : rows) sum += list.size();
    return sum;
}

Result<Imported> read_import(std::string_view content, const std::string& cluster) {
    Importer importer{cluster};
    std::vector<std::string> columns;
    Result<void> (Importer::*add)(const Record&) = nullptr;
    std::size_t number = 0;
    for (const auto line : split(content, '\n')) {
        ++number;
        const auto refuse = [&](const Error& why) { return fail(why.code, "line {}: {}", number, why.text); };
        if (trim(line).empty() || line.starts_with('#')) continue;
        if (line.find('|') == std::string_view::npos) {
            if (const auto added = importer.add_dumped(line); !added) return refuse(added.error());
            continue;
        }
        auto cells = split(line, '|');
        if (columns.empty()) {
            for (const auto name : cells) columns.push_back(lower(name));
            const auto has = [&](std::string_view name) { return std::ranges::find(columns, name) != columns.end(); };
            add = has("submit") && has("state")      ? &Importer::add_run
                  : has("nodename") && has("reason") ? &Importer::add_event
                  : has("name") && has("timestart")  ? &Importer::add_reservation
                  : has("account") && has("id")      ? &Importer::add_association_line
                                                     : nullptr;
            if (add == nullptr)
                return fail(
                    ErrorCode::invalid,
                    "the first line names the columns of none of the listings that can be imported: jobs need at "
                    "least JobIDRaw, Submit and State");
            continue;
        }
        if (cells.size() != columns.size())
            return fail(ErrorCode::invalid, "line {} has {} cells and not {}", number, cells.size(), columns.size());
        Record record;
        for (std::size_t i = 0; i < cells.size(); ++i) record[columns[i]] = cells[i];
        if (const auto added = (importer.*add)(record); !added) return refuse(added.error());
    }
    return importer.take();
}

}  // namespace spur::dbd
