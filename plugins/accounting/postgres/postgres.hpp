// A connection to a PostgreSQL server. Waits with poll(), so that a call can be stopped whatever the server does.
#pragma once

#include <libpq-fe.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "plugins/accounting/common/connection.hpp"

namespace spur::accounting {

class Postgres final : public Connection {
public:
    // `address` as libpq reads it: an URL or "host=... dbname=..."; what it leaves out comes from PG* variables, a service file,
    // or PGPASSFILE. Throws a Failure (SPUR_E_UNAVAILABLE) where nobody answers.
    Postgres(const std::string& address, const Stop& stop);

    const Dialect& dialect() const override;
    using Connection::run;
    void run(const std::string& sql, std::span<const Value> parameters, std::span<const Kind> kinds, const Stop& stop,
             const OnRow& on_row) override;
    void upsert(const Upsert& statement, std::span<const std::vector<Value>> rows, const Stop& stop) override;
    void begin_writing(const Stop& stop) override;
    void begin_migration(const Stop& stop) override;
    void prepare_for(const Table& table, std::span<const std::int64_t> times, const Stop& stop) override;
    void drop_empty_parts(const Table& table, std::int64_t before, const Stop& stop) override;
    bool is_ours_or_empty(const Stop& stop) override;
    bool is_broken() const override { return broken_; }

private:
    struct Finish {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };
    struct Clear {
        void operator()(PGresult* result) const { PQclear(result); }
    };
    using Result = std::unique_ptr<PGresult, Clear>;

    void connect(const std::string& address, const Stop& stop);
    const std::string& prepared(const std::string& sql, std::size_t parameters, const Stop& stop);
    void flush(const Stop& stop);
    Result next(const Stop& stop);  // nullptr: that was all
    void drain();                   // what is left of an answer that nobody wants any more
    void give_up(const Stop& stop); // the call is stopped: the server is told, the connection goes
    [[noreturn]] void fail(const PGresult* result);
    void check(const Result& result);

    std::unique_ptr<PGconn, Finish> connection_;
    std::map<std::string, std::string> statements_;  // by their SQL: names
    std::set<std::string> partitions_;               // that are there
    std::set<std::string> new_partitions_;           // if this transaction is committed
    bool broken_{false};
};

}  // namespace spur::accounting
