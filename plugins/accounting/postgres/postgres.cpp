// libpq without blocking calls.
#include "plugins/accounting/postgres/postgres.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <ctime>

#include "plugins/accounting/common/schema.hpp"
#include "plugins/accounting/postgres/array_text.hpp"

namespace spur::accounting {
namespace {

constexpr int connect_ms = 10'000;
constexpr std::int64_t migration_lock = 0x53507572'6d696772;  // "SPurmigr"
constexpr std::int64_t writing_lock = 0x53507572'77726974;    // "SPurwrit"

constexpr Dialect own{.integer = "bigint",
                      .real = "double precision",
                      .text = "text",
                      .bytes = "bytea",
                      .json = "jsonb",
                      .placeholder = '$',
                      .has_partitions = true,
                      .no_such_rows = "FALSE",
                      .json_text = [](std::string_view column, const std::string& parameter) {
                          return fmt::format("({} ->> {}::text)", column, parameter);
                      },
                      .json_number = [](std::string_view column, const std::string& parameter) {
                          return fmt::format("({} ->> {}::text)::numeric", column, parameter);
                      },
                      .json_merge = [](const std::string& older, const std::string& newer) {
                          return fmt::format("{} || {}", older, newer);
                      },
                      .json_key = [](std::string_view key) { return std::string{key}; },
                      .time = [](const std::string& seconds) { return fmt::format("to_timestamp({})", seconds); }};

std::string_view array_type(Kind kind) {
    switch (kind) {
        case Kind::integer:
        case Kind::time:
            return "bigint[]";
        case Kind::real:
            return "double precision[]";
        case Kind::bytes:
            return "bytea[]";
        case Kind::json:
            return "jsonb[]";
        default:
            return "text[]";
    }
}

std::string one_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    for (auto& c : text)
        if (c == '\n') c = ' ';
    return text;
}

// Data the server will never take, as opposed to what is wrong with the server.
bool is_about_data(std::string_view state) {
    return state.starts_with("22") || state.starts_with("23") || state.starts_with("54");
}

// The month a time is in: its name, its beginning, and that of the next.
struct Month {
    std::string name;
    std::int64_t from, to;
};
Month month_of(std::int64_t time) {
    const auto moment = static_cast<std::time_t>(time);
    std::tm utc{};
    ::gmtime_r(&moment, &utc);
    const auto name = fmt::format("{:04}_{:02}", utc.tm_year + 1900, utc.tm_mon + 1);
    utc.tm_mday = 1;
    utc.tm_hour = utc.tm_min = utc.tm_sec = 0;
    const auto from = ::timegm(&utc);
    ++utc.tm_mon;
    return {name, from, ::timegm(&utc)};
}

}  // namespace

Postgres::Postgres(const std::string& address, const Stop& stop) { connect(address, stop); }

const Dialect& Postgres::dialect() const { return own; }

void Postgres::connect(const std::string& address, const Stop& stop) {
    const std::array keys{"dbname", "fallback_application_name", static_cast<const char*>(nullptr)};
    const std::array values{address.c_str(), "spurdbd", static_cast<const char*>(nullptr)};
    connection_.reset(PQconnectStartParams(keys.data(), values.data(), 1));
    if (!connection_) throw Failure(SPUR_E_INTERNAL, "out of memory");
    auto state = PQstatus(connection_.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK && state != PGRES_POLLING_FAILED) {
        const short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        if (!stop.wait(PQsocket(connection_.get()), events, connect_ms))
            throw Failure(SPUR_E_UNAVAILABLE, fmt::format("the database server does not answer within {} s", connect_ms / 1000));
        state = PQconnectPoll(connection_.get());
    }
    if (state == PGRES_POLLING_FAILED)
        throw Failure(SPUR_E_UNAVAILABLE,
                      fmt::format("cannot connect to the database: {}", one_line(PQerrorMessage(connection_.get()))));
    PQsetnonblocking(connection_.get(), 1);
    PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
    // Texts are UTF-8 whatever the server's own encoding; a backslash means what it says.
    run("SET client_encoding = 'UTF8'", stop);
    run("SET standard_conforming_strings = on", stop);
    std::string encoding;
    constexpr Kind kinds[] = {Kind::text};
    run("SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()", {}, kinds, stop,
        [&](auto row) { return encoding = std::get<std::string>(row[0]), true; });
    if (encoding != "UTF8")
        throw Failure(SPUR_E_INVALID,
                      fmt::format("the database has the encoding {}; make one with createdb -E UTF8 -T template0", encoding));
}

// ---- one statement -----------------------------------------------------------------------------------------------------

void Postgres::fail(const PGresult* result) {
    const auto* const field = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string state = field == nullptr ? "" : field;
    const auto text = one_line(result == nullptr ? PQerrorMessage(connection_.get()) : PQresultErrorMessage(result));
    if (PQstatus(connection_.get()) == CONNECTION_BAD || state.empty() || state.starts_with("08") || state.starts_with("57P")) {
        broken_ = true;
        throw Failure(SPUR_E_UNAVAILABLE, fmt::format("the connection to the database broke: {}", text));
    }
    if (state == "42P01") throw NoSchema{};
    if (is_about_data(state)) throw DataError(text);
    if (state == "42501" || state == "25006") throw Failure(SPUR_E_DENIED, fmt::format("the database does not allow it: {}", text));
    throw Failure(SPUR_E_IO, fmt::format("the database failed: {}", text));
}

void Postgres::give_up(const Stop& stop) {
    broken_ = true;
    if (auto* const cancel = PQgetCancel(connection_.get())) {
        std::array<char, 256> why{};
        PQcancel(cancel, why.data(), static_cast<int>(why.size()));
        PQfreeCancel(cancel);
    }
    stop.throw_if();
}

void Postgres::flush(const Stop& stop) {
    for (;;) {
        const int left = PQflush(connection_.get());
        if (left == 0) return;
        if (left < 0) fail(nullptr);
        pollfd watched[2] = {{PQsocket(connection_.get()), POLLIN | POLLOUT, 0}, {stop.get()->fd, POLLIN, 0}};
        ::poll(watched, 2, SPUR_STOP_SLICE_MS);
        if (stop.stopped()) give_up(stop);
        if ((watched[0].revents & POLLIN) != 0 && PQconsumeInput(connection_.get()) == 0) fail(nullptr);
    }
}

Postgres::Result Postgres::next(const Stop& stop) {
    while (PQisBusy(connection_.get()) != 0) {
        if (spur_wait(stop.get(), PQsocket(connection_.get()), POLLIN, -1) == SPUR_E_STOPPED) give_up(stop);
        if (PQconsumeInput(connection_.get()) == 0) fail(nullptr);
    }
    return Result{PQgetResult(connection_.get())};
}

void Postgres::drain() {
    while (const Result rest{PQgetResult(connection_.get())}) {
    }
}

void Postgres::check(const Result& result) {
    const auto status = PQresultStatus(result.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_SINGLE_TUPLE) return;
    drain();
    fail(result.get());
}

const std::string& Postgres::prepared(const std::string& sql, std::size_t parameters, const Stop& stop) {
    if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
    constexpr std::size_t most = 200;
    if (statements_.size() >= most) {
        statements_.clear();
        run("DEALLOCATE ALL", stop);
    }
    auto name = fmt::format("s{}", statements_.size());
    if (PQsendPrepare(connection_.get(), name.c_str(), sql.c_str(), static_cast<int>(parameters), nullptr) == 0) fail(nullptr);
    flush(stop);
    while (const auto result = next(stop)) check(result);
    return statements_[sql] = std::move(name);
}

void Postgres::run(const std::string& sql, std::span<const Value> parameters, std::span<const Kind> kinds, const Stop& stop,
                   const OnRow& on_row) {
    std::vector<std::string> texts;
    std::vector<const char*> values;
    texts.reserve(parameters.size());
    for (const auto& parameter : parameters)
        values.push_back(is_null(parameter) ? nullptr : texts.emplace_back(plain_text(parameter)).c_str());
    const auto count = static_cast<int>(parameters.size());
    const bool is_prepared = !parameters.empty();
    const int sent = is_prepared ? PQsendQueryPrepared(connection_.get(), prepared(sql, parameters.size(), stop).c_str(), count,
                                                       values.data(), nullptr, nullptr, 0)
                                 : PQsendQueryParams(connection_.get(), sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
    if (sent == 0) fail(nullptr);
    if (on_row) PQsetSingleRowMode(connection_.get());
    flush(stop);
    std::vector<Value> row(kinds.size());
    bool wants_more = true;
    while (const auto result = next(stop)) {
        check(result);
        for (int i = 0; on_row && wants_more && i < PQntuples(result.get()); ++i) {
            for (std::size_t k = 0; k < kinds.size(); ++k) {
                const auto column = static_cast<int>(k);
                const std::string_view text{PQgetvalue(result.get(), i, column),
                                            static_cast<std::size_t>(PQgetlength(result.get(), i, column))};
                row[k] = PQgetisnull(result.get(), i, column) != 0 ? Value{} : from_text(text, kinds[k]);
            }
            wants_more = on_row(row);
        }
    }
    if (sql == "COMMIT") partitions_.merge(new_partitions_);
    if (sql == "COMMIT" || sql == "ROLLBACK") new_partitions_.clear();
}

// ---- writing -----------------------------------------------------------------------------------------------------------

// One statement for all rows: an array for each column.
void Postgres::upsert(const Upsert& statement, std::span<const std::vector<Value>> rows, const Stop& stop) {
    std::string columns, arrays;
    std::vector<Value> parameters;
    for (std::size_t i = 0; i < statement.columns.size(); ++i) {
        columns += (i ? ", " : "") + statement.columns[i];
        arrays += fmt::format("{}${}::{}", i ? ", " : "", i + 1, array_type(statement.kinds[i]));
        parameters.emplace_back(array_text(rows, i));
    }
    run(fmt::format("INSERT INTO {} AS t ({}) SELECT * FROM unnest({}) {}", statement.table, columns, arrays, statement.conflict),
        parameters, {}, stop, {});
}

void Postgres::begin_writing(const Stop& stop) {
    run("BEGIN", stop);
    run(fmt::format("SELECT pg_advisory_xact_lock({})", writing_lock), stop);
}

void Postgres::begin_migration(const Stop& stop) {
    run("BEGIN", stop);
    run(fmt::format("SELECT pg_advisory_xact_lock({})", migration_lock), stop);
    run("SET LOCAL client_min_messages = warning", stop);
}

// Large tables are kept by the month, so that purging one is dropping it.
void Postgres::prepare_for(const Table& table, std::span<const std::int64_t> times, const Stop& stop) {
    for (const auto time : times) {
        const auto month = month_of(time);
        const auto name = fmt::format("{}_{}", table_name(table), month.name);
        if (partitions_.contains(name) || new_partitions_.contains(name)) continue;
        run(fmt::format("CREATE TABLE IF NOT EXISTS {} PARTITION OF {} FOR VALUES FROM ({}) TO ({})", name, table_name(table),
                        month.from, month.to),
            stop);
        new_partitions_.insert(name);
    }
}

void Postgres::drop_empty_parts(const Table& table, std::int64_t before, const Stop& stop) {
    const auto last = fmt::format("{}_{}", table_name(table), month_of(before).name);
    std::vector<std::string> old;
    constexpr Kind text[] = {Kind::text}, number[] = {Kind::integer};
    run(fmt::format("SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = '{}'::regclass",
                    table_name(table)),
        {}, text, stop, [&](auto row) {
            if (const auto& name = std::get<std::string>(row[0]); name < last) old.push_back(name);
            return true;
        });
    for (const auto& name : old) {
        std::int64_t has_rows = 1;
        run(fmt::format("SELECT EXISTS (SELECT 1 FROM {})::int", quoted(name)), {}, number, stop,
            [&](auto row) { return has_rows = std::get<std::int64_t>(row[0]), true; });
        if (has_rows != 0) continue;
        run(fmt::format("DROP TABLE {}", quoted(name)), stop);
        partitions_.erase(name);
    }
}

bool Postgres::is_ours_or_empty(const Stop& stop) {
    std::int64_t tables = 0;
    constexpr Kind kinds[] = {Kind::integer};
    run("SELECT COUNT(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND "
        "c.relkind IN ('r', 'p', 'v', 'm', 'S')",
        {}, kinds, stop, [&](auto row) { return tables = std::get<std::int64_t>(row[0]), true; });
    return tables == 0;
}

}  // namespace spur::accounting
