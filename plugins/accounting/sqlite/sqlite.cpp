// SQLite's C interface, with its errors as exceptions.
#include "plugins/accounting/sqlite/sqlite.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace spur::accounting {
namespace {

constexpr int operations_between_questions = 10'000;
constexpr int pause_ms = 5;  // while another process writes
constexpr std::uint64_t batches_between_counts = 500, first_count = 4;
constexpr std::int64_t application_id = 0x53507572;  // "SPur": how file(1) and we tell ours

std::string merged(const std::string& older, const std::string& newer) {
    return fmt::format("spur_merge({}, {})", older, newer);
}
std::string shown_time(const std::string& seconds) { return fmt::format("datetime({}, 'unixepoch')", seconds); }

constexpr Dialect own{.integer = "INTEGER",
                      .real = "REAL",
                      .text = "TEXT",
                      .bytes = "BLOB",
                      .json = "TEXT",
                      .placeholder = '?',
                      .has_partitions = false,
                      .no_such_rows = "FALSE",
                      .json_text = [](std::string_view column, const std::string& parameter) {
                          return fmt::format("CAST(spur_get({}, {}) AS TEXT)", column, parameter);
                      },
                      .json_number = [](std::string_view column, const std::string& parameter) {
                          return fmt::format("spur_get({}, {})", column, parameter);
                      },
                      .json_merge = merged,
                      .json_key = [](std::string_view key) { return std::string{key}; },
                      .time = shown_time};

// The first object with what the second has in its place: json_patch() would go into objects inside as well.
void merge_objects(sqlite3_context* context, int, sqlite3_value** arguments) {
    const auto* const older = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
    const auto* const newer = reinterpret_cast<const char*>(sqlite3_value_text(arguments[1]));
    if (older == nullptr || newer == nullptr) return sqlite3_result_null(context);
    auto result = nlohmann::json::parse(older, nullptr, false);
    const auto added = nlohmann::json::parse(newer, nullptr, false);
    if (!result.is_object() || !added.is_object()) return sqlite3_result_error(context, "more is not an object", -1);
    result.update(added);
    const auto text = result.dump();
    sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

// What an object has under a key, whatever is in the key: json_extract() takes no quotes in its paths.
void get_member(sqlite3_context* context, int, sqlite3_value** arguments) {
    const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(arguments[0]));
    const auto* const key = reinterpret_cast<const char*>(sqlite3_value_text(arguments[1]));
    if (text == nullptr || key == nullptr) return sqlite3_result_null(context);
    const auto object = nlohmann::json::parse(text, nullptr, false);
    const auto found = object.is_object() ? object.find(key) : object.end();
    if (found == object.end() || found->is_null()) return sqlite3_result_null(context);
    if (found->is_number_integer()) return sqlite3_result_int64(context, found->get<std::int64_t>());
    if (found->is_number()) return sqlite3_result_double(context, found->get<double>());
    const auto value = found->is_string() ? found->get<std::string>() : found->dump();
    sqlite3_result_text(context, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT);
}

Value read(sqlite3_stmt* statement, int index, Kind kind) {
    if (sqlite3_column_type(statement, index) == SQLITE_NULL) return {};
    const auto bytes = [&] {
        const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement, index));
        return std::string{data == nullptr ? "" : data, static_cast<std::size_t>(sqlite3_column_bytes(statement, index))};
    };
    if (kind == Kind::integer || kind == Kind::time) return static_cast<std::int64_t>(sqlite3_column_int64(statement, index));
    if (kind == Kind::real) return sqlite3_column_double(statement, index);
    if (kind == Kind::bytes) return Bytes{bytes()};
    return bytes();
}

// What the database will never take, as opposed to what is wrong with it or with the machine.
bool is_about_data(int code) {
    return code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH || code == SQLITE_TOOBIG || code == SQLITE_RANGE;
}

}  // namespace

// Resets the statement, so that it can be used again and holds no lock.
class Sqlite::Use {
public:
    Use(Sqlite& owner, const std::string& sql, const Stop& stop) : sign_{owner, stop}, statement_{owner.prepared(sql)} {}
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
    }
    sqlite3_stmt* get() const { return statement_; }

private:
    struct Sign {  // whom SQLite's handlers ask meanwhile
        Sign(Sqlite& of, const Stop& stop) : owner{of} { owner.stop_ = &stop; }
        Sign(const Sign&) = delete;
        Sign& operator=(const Sign&) = delete;
        ~Sign() { owner.stop_ = nullptr; }
        Sqlite& owner;
    };
    Sign sign_;
    sqlite3_stmt* statement_;
};

Sqlite::Sqlite(const std::string& path, const Stop& stop) : path_{path} {
    // Who ran what is nobody else's business. A file that is there keeps its mode, and is not opened here: closing it would
    // let go of the locks that SQLite holds on it.
    if (const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); made >= 0) ::close(made);
    const int opened = sqlite3_open_v2(path.c_str(), &database_,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    if (opened != SQLITE_OK) {
        const std::string why = database_ == nullptr ? "out of memory" : sqlite3_errmsg(database_);
        sqlite3_close(database_);
        throw Failure(SPUR_E_IO, fmt::format("cannot open the database {}: {}", path, why));
    }
    sqlite3_extended_result_codes(database_, 1);
    sqlite3_busy_handler(
        database_,
        [](void* self, int) {
            const auto* const asked = static_cast<Sqlite*>(self)->stop_;
            if (asked != nullptr && asked->stopped()) return 0;
            ::poll(nullptr, 0, pause_ms);
            return 1;
        },
        this);
    sqlite3_progress_handler(
        database_, operations_between_questions,
        [](void* self) {
            const auto* const asked = static_cast<Sqlite*>(self)->stop_;
            return asked != nullptr && asked->stopped() ? 1 : 0;
        },
        this);
    constexpr int plain = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    sqlite3_create_function(database_, "spur_merge", 2, plain, nullptr, merge_objects, nullptr, nullptr);
    sqlite3_create_function(database_, "spur_get", 2, plain, nullptr, get_member, nullptr, nullptr);
    try {
        // Acknowledged means durable.
        for (const auto* setting : {"PRAGMA synchronous = FULL", "PRAGMA case_sensitive_like = ON"}) run(setting, stop);
    } catch (...) {
        sqlite3_close(database_);
        throw;
    }
}

Sqlite::~Sqlite() {
    for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(database_);
}

const Dialect& Sqlite::dialect() const { return own; }

void Sqlite::fail(const char* what, int code) {
    const std::string why = sqlite3_errmsg(database_);
    const int kind = code & 0xff;
    if (kind == SQLITE_INTERRUPT || (kind == SQLITE_BUSY && stop_ != nullptr && stop_->stopped()))
        throw Failure(SPUR_E_STOPPED, "stopped because the daemon asked for it");
    if (why.starts_with("no such table: spurdb_")) throw NoSchema{};
    if (is_about_data(kind)) throw DataError(why);
    const auto text = fmt::format("the database {} cannot {}: {}", path_, what, why);
    if (kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT) throw Failure(SPUR_E_CORRUPT, text);
    if (kind == SQLITE_READONLY || kind == SQLITE_PERM || kind == SQLITE_AUTH) throw Failure(SPUR_E_DENIED, text);
    throw Failure(SPUR_E_IO, text);
}

sqlite3_stmt* Sqlite::prepared(const std::string& sql) {
    if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
    sqlite3_stmt* statement{};
    const int code = sqlite3_prepare_v3(database_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) fail("be read", code);
    constexpr std::size_t most = 100;
    if (statements_.size() >= most) {
        for (const auto& [old, used] : statements_) sqlite3_finalize(used);
        statements_.clear();
    }
    return statements_[sql] = statement;
}

void Sqlite::bind(sqlite3_stmt* statement, std::span<const Value> parameters) {
    int index = 0;
    for (const auto& value : parameters) {
        int code = SQLITE_OK;
        ++index;
        if (const auto* number = std::get_if<std::int64_t>(&value))
            code = sqlite3_bind_int64(statement, index, *number);
        else if (const auto* real = std::get_if<double>(&value))
            code = sqlite3_bind_double(statement, index, *real);
        else if (const auto* text = std::get_if<std::string>(&value))
            code = sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
        else if (const auto* bytes = std::get_if<Bytes>(&value))
            code = sqlite3_bind_blob64(statement, index, bytes->data.data(), bytes->data.size(), SQLITE_STATIC);
        else
            code = sqlite3_bind_null(statement, index);
        if (code != SQLITE_OK) fail("take a value", code);
    }
}

void Sqlite::step_through(sqlite3_stmt* statement, std::span<const Kind> kinds, const OnRow& on_row) {
    std::vector<Value> row(kinds.size());
    for (;;) {
        const int code = sqlite3_step(statement);
        if (code == SQLITE_DONE) return;
        if (code != SQLITE_ROW) fail("be used", code);
        if (!on_row) continue;
        for (std::size_t i = 0; i < kinds.size(); ++i) row[i] = read(statement, static_cast<int>(i), kinds[i]);
        if (!on_row(row)) return;
    }
}

void Sqlite::run(const std::string& sql, std::span<const Value> parameters, std::span<const Kind> kinds, const Stop& stop,
                 const OnRow& on_row) {
    const Use use{*this, sql, stop};
    bind(use.get(), parameters);
    step_through(use.get(), kinds, on_row);
}

void Sqlite::upsert(const Upsert& statement, std::span<const std::vector<Value>> rows, const Stop& stop) {
    std::string columns, marks;
    for (std::size_t i = 0; i < statement.columns.size(); ++i) {
        columns += (i ? ", " : "") + statement.columns[i];
        marks += fmt::format("{}?{}", i ? ", " : "", i + 1);
    }
    const auto sql = fmt::format("INSERT INTO {} AS t ({}) VALUES ({}) {}", statement.table, columns, marks, statement.conflict);
    const Use use{*this, sql, stop};
    for (const auto& row : rows) {
        bind(use.get(), row);
        step_through(use.get(), {}, {});
        sqlite3_reset(use.get());
    }
}

void Sqlite::begin_writing(const Stop& stop) {
    if (!is_set_up_) {  // whoever begins to write has seen that the file is ours
        constexpr Kind kinds[] = {Kind::text};
        run("PRAGMA journal_mode = WAL", {}, kinds, stop, [](auto) { return true; });
        run(fmt::format("PRAGMA application_id = {}", application_id), stop);
        is_set_up_ = true;
    }
    // Now and then it counts what its columns hold: without, a user's day is looked for among all jobs.
    if (transactions_++ % batches_between_counts == first_count) {
        run("PRAGMA analysis_limit = 1000", stop);
        run("ANALYZE", stop);
    }
    run("BEGIN IMMEDIATE", stop);
}

bool Sqlite::is_ours_or_empty(const Stop& stop) {
    std::int64_t mark = 0, tables = 0;
    constexpr Kind kinds[] = {Kind::integer};
    run("PRAGMA application_id", {}, kinds, stop, [&](auto row) { return mark = std::get<std::int64_t>(row[0]), true; });
    run("SELECT COUNT(*) FROM sqlite_master", {}, kinds, stop,
        [&](auto row) { return tables = std::get<std::int64_t>(row[0]), true; });
    return tables == 0 && (mark == 0 || mark == application_id);
}

}  // namespace spur::accounting
