// The accounting plugin as spurdbd uses it: the schema is checked before anything else, rows that cannot be stored are
// set aside.
#pragma once

#include <spur/plugin/draft/accounting.h>

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "daemons/common/host/host.hpp"
#include "daemons/common/host/stop.hpp"
#include "spur/v1/accounting.pb.h"

namespace spur::dbd {

// A condition of a query. Names and texts live as long as this.
struct Condition {
    std::string name;
    std::uint32_t test{};
    std::vector<std::int64_t> numbers{};
    std::vector<std::string> texts{};
    std::uint32_t group{};
    bool negate{false};
};
struct Query {
    std::uint32_t table{SPUR_ROW_JOB};
    std::string cluster;
    std::vector<Condition> conditions;
    std::string order_by, after;
    std::uint32_t limit{};
    std::vector<std::string> wanted{};  // fields; empty: all
    bool with_removed{false};
};

// Where rows go that are taken out of the database.
class Archive {
public:
    virtual ~Archive() = default;
    virtual Result<void> add(const v1::HistoryRow& row) = 0;
    virtual Result<void> make_durable() = 0;
};

class Database {
public:
    Database(host::Bound<host::AccountingAxis> plugin, const host::StopSource& stop) : plugin_{plugin}, stop_{stop} {}

    // Makes sure that the schema is ours and current. An empty database is set up; an older one only where
    // `may_migrate`.
    Result<void> open(bool may_migrate);
    Result<void> check();  // could it be opened? Changes nothing.

    // [any thread, waits] Durable when it returns. The answer: how many entries were set aside. `more`: rows of no
    // stream that are stored with it.
    Result<std::uint32_t> store(const v1::StoreHistoryRequest& request, std::span<const v1::HistoryRow> more = {});
    // [any thread, waits] Rows of no stream: what came later stays.
    Result<void> store_rows(const std::string& cluster, std::span<const v1::HistoryRow> rows);
    // [any thread, waits for long] What ended before `before` goes to the archive (none: nowhere), then out of the
    // database.
    Result<void> purge(const std::string& cluster, std::uint32_t table, std::int64_t before, Archive* archive);
    // [any thread, waits] Every row to `on_row`; the answer is the cursor to go on with, empty at the end.
    Result<std::string> query(const Query& query, const std::function<void(const spur_row&)>& on_row);

    std::string type() const { return plugin_.type(); }
    std::uint32_t schema() const { return schema_; }
    std::uint64_t stored() const { return stored_; }  // entries, since the start
    std::uint64_t set_aside() const { return set_aside_; }

private:
    using Poison = std::vector<std::pair<std::uint32_t, std::string>>;  // rows, and why
    struct Item {
        const v1::HistoryEntry* entry;
        const v1::HistoryRow* row;  // none: the entry is a job or a step
    };
    Result<std::vector<v1::HistoryRow>> rows_gone(const std::string& cluster, const v1::HistoryMirror& mirror,
                                                  std::int64_t at);
    Result<spur_schema> find_schema();
    Result<bool> try_store(const spur_batch& batch, Poison& poison);

    host::Bound<host::AccountingAxis> plugin_;
    const host::StopSource& stop_;
    std::atomic<std::uint32_t> schema_{};
    std::atomic<std::uint64_t> stored_{}, set_aside_{};
};

}  // namespace spur::dbd
