// One connection to a database, as the store needs it. What differs between databases is here and in Dialect.
#pragma once

#include <spur/plugin/plugin.hpp>

#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/accounting/common/tables.hpp"
#include "plugins/accounting/common/value.hpp"

namespace spur::accounting {

using plugin::Failure;
using plugin::Stop;

// The database will not take this data, now or ever; anything else that goes wrong is a Failure.
struct DataError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A table is missing: nobody has migrated yet.
struct NoSchema : Failure {
    NoSchema() : Failure(SPUR_E_INVALID, "the database has no tables of Spur's yet: run spurdbd --migrate") {}
};

struct Dialect {
    std::string_view integer, real, text, bytes, json;  // the words for columns
    char placeholder;                                   // "$1", "?1"
    bool has_partitions;                                // large tables are kept by the month
    std::string_view no_such_rows;                      // a condition that nothing meets
    // What json column `name` has under the key that parameter `parameter` names, as text or as a number.
    std::string (*json_text)(std::string_view column, const std::string& parameter);
    std::string (*json_number)(std::string_view column, const std::string& parameter);
    std::string (*json_merge)(const std::string& older, const std::string& newer);
    std::string (*json_key)(std::string_view key);  // a key as that parameter has it
    std::string (*time)(const std::string& seconds);  // unix seconds as the database shows times, for the views
};

// Rows that are written at once: the same statement for each.
struct Upsert {
    std::string table;
    std::vector<std::string> columns;
    std::vector<Kind> kinds;
    std::string conflict;  // ON CONFLICT ...
};

class Connection {
public:
    using OnRow = std::function<bool(std::span<const Value>)>;  // false: enough

    virtual ~Connection() = default;
    virtual const Dialect& dialect() const = 0;
    // `kinds`: of the columns that come back.
    virtual void run(const std::string& sql, std::span<const Value> parameters, std::span<const Kind> kinds,
                     const Stop& stop, const OnRow& on_row) = 0;
    virtual void upsert(const Upsert& statement, std::span<const std::vector<Value>> rows, const Stop& stop) = 0;
    virtual void begin_writing(const Stop& stop) = 0;                            // no other writer until commit
    virtual void begin_migration(const Stop& stop) { begin_writing(stop); }      // nobody else migrates until commit
    virtual void prepare_for(const Table&, std::span<const std::int64_t>, const Stop&) {}  // rows of these times will come
    virtual void drop_empty_parts(const Table&, std::int64_t, const Stop&) {}  // of a table that is kept in parts, those before this time
    virtual bool is_ours_or_empty(const Stop& stop) = 0;  // asked where there is no schema version
    virtual bool is_broken() const { return false; }      // of no use any more

    void run(const std::string& sql, const Stop& stop, std::span<const Value> parameters = {}) {
        run(sql, parameters, {}, stop, {});
    }
};

// Rolls back unless committed.
class Transaction {
public:
    Transaction(Connection& connection, const Stop& stop) : connection_{connection}, stop_{stop} {}
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    void commit();

private:
    Connection& connection_;
    const Stop& stop_;
    bool open_{true};
};

using Connect = std::function<std::unique_ptr<Connection>(const Stop& stop)>;

}  // namespace spur::accounting
