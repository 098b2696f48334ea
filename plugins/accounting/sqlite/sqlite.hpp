// A connection to a database in a file.
#pragma once

#include <sqlite3.h>

#include <map>
#include <string>

#include "plugins/accounting/common/connection.hpp"

namespace spur::accounting {

class Sqlite final : public Connection {
public:
    Sqlite(const std::string& path, const Stop& stop);
    ~Sqlite() override;
    Sqlite(const Sqlite&) = delete;
    Sqlite& operator=(const Sqlite&) = delete;

    const Dialect& dialect() const override;
    using Connection::run;
    void run(const std::string& sql, std::span<const Value> parameters, std::span<const Kind> kinds, const Stop& stop,
             const OnRow& on_row) override;
    void upsert(const Upsert& statement, std::span<const std::vector<Value>> rows, const Stop& stop) override;
    void begin_writing(const Stop& stop) override;
    bool is_ours_or_empty(const Stop& stop) override;

private:
    class Use;  // one run of a prepared statement
    sqlite3_stmt* prepared(const std::string& sql);
    void bind(sqlite3_stmt* statement, std::span<const Value> parameters);
    void step_through(sqlite3_stmt* statement, std::span<const Kind> kinds, const OnRow& on_row);
    [[noreturn]] void fail(const char* what, int code);

    std::string path_;
    sqlite3* database_{};
    const Stop* stop_{};  // of the call that is in progress
    bool is_set_up_{false};
    std::uint64_t transactions_{};
    std::map<std::string, sqlite3_stmt*> statements_;
};

}  // namespace spur::accounting
