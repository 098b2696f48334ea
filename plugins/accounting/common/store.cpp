// The rules of accounting.h, kept by transactions.
#include "plugins/accounting/common/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "plugins/accounting/common/query.hpp"
#include "plugins/accounting/common/schema.hpp"

namespace spur::accounting {
namespace {

using plugin::Records;
using plugin::view;

constexpr std::uint32_t purge_step = 1000;  // rows that are archived and deleted at once

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t unsigned_of(const Value& value) { return static_cast<std::uint64_t>(std::get<std::int64_t>(value)); }

// What SPUR_TEST_HOSTS asks for, which no database knows how to.
bool meets_hosts(const Statement& statement, std::span<const Value> row) {
    return std::ranges::all_of(statement.host_tests, [&](const HostTest& test) {
        const auto* const text = std::get_if<std::string>(&row[test.column]);
        const auto hosts = text == nullptr ? HostSet{} : HostSet::parse(*text).value_or(HostSet{});
        return test.hosts.intersects(hosts) != test.negate;
    });
}

}  // namespace

Transaction::~Transaction() {
    if (!open_) return;
    try {
        connection_.run("ROLLBACK", stop_);
    } catch (...) {  // then the connection is broken, and nothing of it was kept either
    }
}

void Transaction::commit() {
    connection_.run("COMMIT", stop_);
    open_ = false;
}

// ---- connections -----------------------------------------------------------------------------------------------------

class Store::Lease {
public:
    Lease(Store& store, const Stop& stop) : store_{store}, connection_{store.take(stop)} {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { store_.give_back(std::move(connection_)); }
    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }

private:
    Store& store_;
    std::unique_ptr<Connection> connection_;
};

std::unique_ptr<Connection> Store::take(const Stop& stop) {
    {
        const std::lock_guard lock{pool_mutex_};
        if (!idle_.empty()) {
            auto connection = std::move(idle_.back());
            idle_.pop_back();
            return connection;
        }
    }
    return connect_(stop);
}

void Store::give_back(std::unique_ptr<Connection> connection) {
    const std::lock_guard lock{pool_mutex_};
    if (connection && !connection->is_broken() && idle_.size() < most_readers_) idle_.push_back(std::move(connection));
}

// [write_mutex_ held]
Connection& Store::writer(const Stop& stop) {
    if (writer_ && writer_->is_broken()) writer_.reset();
    if (!writer_) writer_ = connect_(stop);
    return *writer_;
}

// ---- schema ------------------------------------------------------------------------------------------------------------

// 0: none yet. A Failure where there is something else.
std::uint32_t Store::version_of(Connection& connection, const Stop& stop) {
    std::uint32_t version = 0;
    constexpr Kind kinds[] = {Kind::integer};
    connection.run("SELECT COALESCE(MAX(version), 0) FROM spurdb_schema", {}, kinds, stop, [&](auto row) {
        version = static_cast<std::uint32_t>(std::get<std::int64_t>(row[0]));
        return true;
    });
    return version;
}

spur_schema Store::schema(const Stop& stop) {
    const Lease connection{*this, stop};
    spur_schema result{sizeof(spur_schema), SPUR_SCHEMA_EMPTY, 0, newest_schema};
    try {
        result.found = version_of(*connection, stop);
    } catch (const NoSchema&) {
        result.state = connection->is_ours_or_empty(stop) ? SPUR_SCHEMA_EMPTY : SPUR_SCHEMA_FOREIGN;
        return result;
    }
    if (result.found == newest_schema) result.state = SPUR_SCHEMA_CURRENT;
    if (result.found > newest_schema) result.state = SPUR_SCHEMA_NEWER;
    if (result.found != 0 && result.found < newest_schema) result.state = SPUR_SCHEMA_OLDER;
    return result;
}

void Store::migrate(const spur_progress& progress, const Stop& stop) {
    const auto found = schema(stop);
    if (found.state == SPUR_SCHEMA_FOREIGN)
        throw Failure(SPUR_E_INVALID, "the database has tables that are not Spur's: name an empty one");
    if (found.state == SPUR_SCHEMA_NEWER)
        throw Failure(SPUR_E_UNSUPPORTED,
                      fmt::format("the database has version {} of the schema and this release knows {}: install the "
                                  "release that made it, or a later one",
                                  found.found, found.known));
    const std::lock_guard lock{write_mutex_};
    auto& connection = writer(stop);
    for (const auto& migration : migrations()) {
        stop.throw_if();
        connection.begin_migration(stop);
        Transaction transaction{connection, stop};
        connection.run(fmt::format("CREATE TABLE IF NOT EXISTS spurdb_schema (version {0} PRIMARY KEY, at {0} NOT NULL)",
                                   connection.dialect().integer),
                       stop);
        if (version_of(connection, stop) < migration.version) {  // nobody else has done it meanwhile
            const auto statements = migration.statements(connection.dialect());
            for (std::size_t i = 0; i < statements.size(); ++i) {
                progress.step(&progress, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(statements.size()),
                              plugin::str(migration.what));
                connection.run(statements[i], stop);
            }
            connection.run(fmt::format("INSERT INTO spurdb_schema VALUES ({}, {})", migration.version, std::time(nullptr)),
                           stop);
        }
        transaction.commit();
    }
}

// ---- storing -----------------------------------------------------------------------------------------------------------

// What is stored of the batch's numbers, and right beside them.
std::vector<Store::Range> Store::ranges(Connection& connection, const spur_batch& batch, const Stop& stop) {
    std::vector<Range> found;
    if (batch.first == 0) return found;
    const auto mark = connection.dialect().placeholder;
    const std::vector<Value> parameters{std::string{view(batch.cluster)}, std::string{view(batch.stream)},
                                        signed_of(batch.last + 1), signed_of(batch.first - 1)};
    constexpr Kind kinds[] = {Kind::integer, Kind::integer};
    connection.run(fmt::format("SELECT first, last FROM spurdb_stored WHERE cluster = {0}1 AND stream = {0}2 AND first <= "
                               "{0}3 AND last >= {0}4",
                               mark),
                   parameters, kinds, stop, [&](auto row) {
                       found.push_back({unsigned_of(row[0]), unsigned_of(row[1])});
                       return true;
                   });
    return found;
}

void Store::note(Connection& connection, const spur_batch& batch, std::vector<Range> known, const Stop& stop) {
    if (batch.first == 0) return;
    const auto mark = connection.dialect().placeholder;
    Range whole{batch.first, batch.last};
    const std::vector<Value> name{std::string{view(batch.cluster)}, std::string{view(batch.stream)}};
    for (const auto& range : known) {
        whole = {std::min(whole.first, range.first), std::max(whole.last, range.last)};
        auto parameters = name;
        parameters.emplace_back(signed_of(range.first));
        connection.run(
            fmt::format("DELETE FROM spurdb_stored WHERE cluster = {0}1 AND stream = {0}2 AND first = {0}3", mark), stop,
            parameters);
    }
    auto parameters = name;
    parameters.emplace_back(signed_of(whole.first));
    parameters.emplace_back(signed_of(whole.last));
    connection.run(
        fmt::format("INSERT INTO spurdb_stored (cluster, stream, first, last) VALUES ({0}1, {0}2, {0}3, {0}4)", mark), stop,
        parameters);
}

// The rows that are not stored yet, one for each key, by table.
std::vector<Row> Store::fresh_rows(const spur_batch& batch, const std::vector<Range>& known,
                                   const spur_store_report& report, bool& is_poisoned) {
    std::vector<Row> rows;
    std::map<std::pair<const Table*, std::vector<Value>>, std::size_t> by_key;
    std::uint32_t number = 0;
    for (const auto& row : Records<spur_row>(batch.rows)) {
        const auto index = number++;
        const auto has = [&](const Range& range) { return range.first <= row.sequence && row.sequence <= range.last; };
        if (row.sequence != 0 && std::ranges::any_of(known, has)) continue;
        try {
            auto read = read_row(row, index);
            const auto keys = read.table->keys().size();
            const auto end = read.values.begin() + static_cast<std::ptrdiff_t>(keys);
            const auto [place, is_new] =
                by_key.try_emplace({read.table, std::vector<Value>(read.values.begin(), end)}, rows.size());
            if (is_new)
                rows.push_back(std::move(read));
            else
                merge(rows[place->second], read);
        } catch (const Poison& poison) {
            is_poisoned = true;
            report.poison(&report, index, plugin::str(poison.why));
        }
    }
    std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.table->number; });
    return rows;
}

void Store::write(Connection& connection, const spur_batch& batch, std::span<const Row> rows, const Stop& stop) {
    for (std::size_t from = 0; from < rows.size();) {
        const auto& table = *rows[from].table;
        std::vector<std::vector<Value>> values;
        std::vector<std::int64_t> times;
        const auto* const by_time = table.is_large() ? table.find("submit_time") : nullptr;
        for (; from < rows.size() && rows[from].table == &table; ++from) {
            const auto& row = rows[from];
            auto& line = values.emplace_back();
            line.reserve(row.values.size() + 5);
            line.emplace_back(std::string{view(batch.cluster)});
            line.insert(line.end(), row.values.begin(), row.values.end());
            line.emplace_back(std::string{view(batch.stream)});
            line.emplace_back(signed_of(row.sequence));
            line.emplace_back(std::int64_t{row.removed});
            line.push_back(row.remainder.empty() ? Value{} : Value{row.remainder});
            if (by_time) times.push_back(std::get<std::int64_t>(row.values[static_cast<std::size_t>(by_time - table.columns.data())]));
        }
        if (by_time) connection.prepare_for(table, times, stop);
        connection.upsert(upsert_for(table, connection.dialect()), values, stop);
    }
}

// The database refused the rows together: which of them does it refuse alone?
bool Store::find_poison(Connection& connection, const spur_batch& batch, std::span<const Row> rows,
                        const spur_store_report& report, const Stop& stop) {
    bool found = false;
    for (const auto& row : rows) {
        connection.begin_writing(stop);
        const Transaction trial{connection, stop};
        try {
            write(connection, batch, {&row, 1}, stop);
        } catch (const DataError& refused) {
            found = true;
            report.poison(&report, row.number, plugin::str(refused.what()));
        }
    }
    return found;
}

spur_status Store::store(const spur_batch& batch, const spur_store_report& report, const Stop& stop) {
    if (batch.first > batch.last || batch.last >= static_cast<std::uint64_t>(INT64_MAX))
        throw Failure(SPUR_E_INVALID, fmt::format("a batch from {} to {} covers nothing", batch.first, batch.last));
    const std::lock_guard lock{write_mutex_};
    auto& connection = writer(stop);
    std::vector<Row> rows;
    try {
        connection.begin_writing(stop);
        Transaction transaction{connection, stop};
        const auto known = ranges(connection, batch, stop);
        bool is_poisoned = false;
        rows = fresh_rows(batch, known, report, is_poisoned);
        if (is_poisoned) return SPUR_STORE_POISON;
        write(connection, batch, rows, stop);
        note(connection, batch, known, stop);
        transaction.commit();
        return SPUR_OK;
    } catch (const DataError& refused) {
        if (find_poison(connection, batch, rows, report, stop)) return SPUR_STORE_POISON;
        throw Failure(SPUR_E_IO, fmt::format("the database refuses a batch, but none of its rows: {}", refused.what()));
    }
}

std::uint64_t Store::stored_up_to(std::string_view cluster, std::string_view stream, std::uint64_t from, const Stop& stop) {
    const Lease connection{*this, stop};
    const std::vector<Value> parameters{std::string{cluster}, std::string{stream}, signed_of(from)};
    std::uint64_t up_to = from == 0 ? 0 : from - 1;
    constexpr Kind kinds[] = {Kind::integer};
    connection->run(fmt::format("SELECT last FROM spurdb_stored WHERE cluster = {0}1 AND stream = {0}2 AND first <= {0}3 AND "
                                "last >= {0}3",
                                connection->dialect().placeholder),
                    parameters, kinds, stop, [&](auto row) {
                        up_to = unsigned_of(row[0]);
                        return true;
                    });
    return up_to;
}

// ---- asking ------------------------------------------------------------------------------------------------------------

spur_status Store::query(const spur_query& query, const spur_row_sink& sink, const Stop& stop) {
    const Lease connection{*this, stop};
    const auto statement = make_statement(query, connection->dialect());
    RowWriter out;
    spur_status status = SPUR_OK;
    std::uint32_t sent = 0;
    std::string cursor;
    connection->run(statement.sql, statement.parameters, statement.kinds, stop, [&](std::span<const Value> row) {
        if (!meets_hosts(statement, row)) return true;
        if (statement.limit != 0 && sent == statement.limit) {
            if (statement.has_cursor && SPUR_CAN(spur_row_sink, &sink, more)) status = sink.more(&sink, plugin::str(cursor));
            return false;
        }
        out.begin(query.table, statement.removed && std::get<std::int64_t>(row[*statement.removed]) != 0,
                  statement.sequence ? unsigned_of(row[*statement.sequence]) : 0);
        for (std::size_t i = 0; i < statement.results.size(); ++i)
            if (statement.results[i].is_shown) out.add(statement.results[i].name, statement.results[i].kind, row[i]);
        if (statement.more && !is_null(row[*statement.more]))
            out.add_remainder(std::get<std::string>(row[*statement.more]), statement.wanted);
        status = sink.row(&sink, &out.row());
        ++sent;
        if (statement.limit != 0 && statement.has_cursor) cursor = statement.cursor_at(row);
        return status == SPUR_OK;
    });
    return status;
}

// ---- purging -----------------------------------------------------------------------------------------------------------

// In steps of its own transaction each: what was archived is deleted, and nothing else, whatever is stored meanwhile.
spur_status Store::purge(std::string_view cluster, std::uint32_t number, std::int64_t before, const spur_archive* archive,
                         const Stop& stop) {
    const auto* const table = find_table(number);
    const auto* const over = table == nullptr ? nullptr : table->over();
    if (over == nullptr) throw Failure(SPUR_E_INVALID, fmt::format("table {} has no time to purge by", number));
    const std::lock_guard lock{write_mutex_};
    auto& connection = writer(stop);
    const auto mark = connection.dialect().placeholder;
    std::vector<Kind> kinds{Kind::integer, Kind::integer, Kind::json};
    std::string columns = "sequence, removed, more", key;
    for (const auto& column : table->columns) {
        columns += ", " + quoted(column.name);
        kinds.push_back(column.kind);
    }
    for (const auto& column : table->keys()) key += (key.empty() ? "" : ", ") + quoted(column.name);
    const auto select = fmt::format("SELECT {} FROM {} WHERE cluster = {}1 AND {} < {}2 ORDER BY {} LIMIT {}", columns,
                                    table_name(*table), mark, quoted(over->name), mark, key, purge_step);
    const std::vector<Value> parameters{std::string{cluster}, before};
    for (;;) {
        stop.throw_if();
        connection.begin_writing(stop);
        Transaction transaction{connection, stop};
        std::vector<std::vector<Value>> rows;
        connection.run(select, parameters, kinds, stop, [&](auto row) { return rows.emplace_back(row.begin(), row.end()), true; });
        if (rows.empty()) {
            if (table->is_large()) connection.drop_empty_parts(*table, before, stop);
            transaction.commit();
            return SPUR_OK;
        }
        RowWriter out;
        for (const auto& row : rows) {
            if (archive == nullptr) break;
            out.begin(number, std::get<std::int64_t>(row[1]) != 0, unsigned_of(row[0]));
            for (std::size_t i = 0; i < table->columns.size(); ++i)
                out.add(table->columns[i].name, table->columns[i].kind, row[i + 3]);
            if (!is_null(row[2])) out.add_remainder(std::get<std::string>(row[2]), {});
            if (const auto kept = archive->row(archive, plugin::str(cluster), &out.row()); kept != SPUR_OK) return kept;
        }
        if (archive != nullptr)
            if (const auto kept = archive->durable(archive); kept != SPUR_OK) return kept;
        std::string condition = fmt::format("cluster = {}1", mark);
        for (std::size_t i = 0; i < table->keys().size(); ++i)
            condition += fmt::format(" AND {} = {}{}", quoted(table->columns[i].name), mark, i + 2);
        const auto remove = fmt::format("DELETE FROM {} WHERE {}", table_name(*table), condition);
        for (const auto& row : rows) {
            std::vector<Value> keys{std::string{cluster}};
            keys.insert(keys.end(), row.begin() + 3, row.begin() + 3 + static_cast<std::ptrdiff_t>(table->keys().size()));
            connection.run(remove, stop, keys);
        }
        transaction.commit();
    }
}

}  // namespace spur::accounting
