// What a store of accounting means, over any database: batches, repeats, poison, queries, migrations, purging.
#pragma once

#include <spur/plugin/draft/accounting.h>

#include <mutex>
#include <string>
#include <vector>

#include "plugins/accounting/common/connection.hpp"
#include "plugins/accounting/common/row.hpp"

namespace spur::accounting {

class Store {
public:
    // `most_readers` connections answer queries; one more writes.
    Store(Connect connect, std::size_t most_readers) : connect_{std::move(connect)}, most_readers_{most_readers} {}

    spur_schema schema(const Stop& stop);
    void migrate(const spur_progress& progress, const Stop& stop);
    spur_status store(const spur_batch& batch, const spur_store_report& report, const Stop& stop);
    std::uint64_t stored_up_to(std::string_view cluster, std::string_view stream, std::uint64_t from, const Stop& stop);
    spur_status query(const spur_query& query, const spur_row_sink& sink, const Stop& stop);
    spur_status purge(std::string_view cluster, std::uint32_t table, std::int64_t before, const spur_archive* archive,
                      const Stop& stop);

private:
    struct Range {
        std::uint64_t first, last;
    };
    // A connection for one call; goes back afterwards unless it broke.
    class Lease;
    std::unique_ptr<Connection> take(const Stop& stop);
    void give_back(std::unique_ptr<Connection> connection);
    Connection& writer(const Stop& stop);

    std::uint32_t version_of(Connection& connection, const Stop& stop);
    std::vector<Range> ranges(Connection& connection, const spur_batch& batch, const Stop& stop);
    void note(Connection& connection, const spur_batch& batch, std::vector<Range> known, const Stop& stop);
    std::vector<Row> fresh_rows(const spur_batch& batch, const std::vector<Range>& known, const spur_store_report& report,
                                bool& is_poisoned);
    void write(Connection& connection, const spur_batch& batch, std::span<const Row> rows, const Stop& stop);
    bool find_poison(Connection& connection, const spur_batch& batch, std::span<const Row> rows,
                     const spur_store_report& report, const Stop& stop);

    Connect connect_;
    const std::size_t most_readers_;
    std::mutex write_mutex_;  // the writer's, for a whole call
    std::unique_ptr<Connection> writer_;
    std::mutex pool_mutex_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace spur::accounting
