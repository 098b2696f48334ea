// A query of the boundary as a statement with parameters: names are checked against the tables, values never become SQL.
#pragma once

#include <spur/plugin/draft/accounting.h>

#include <optional>
#include <string>
#include <vector>

#include "core/text/hostlist.hpp"
#include "plugins/accounting/common/connection.hpp"

namespace spur::accounting {

// Which of the rows that the database finds are meant: they share a host with this.
struct HostTest {
    std::size_t column;  // of the statement's
    HostSet hosts;
    bool negate;
};

struct Statement {
    struct Result {
        std::string name;
        Kind kind;
        bool is_shown;  // false: only to make a cursor of, or for a HostTest
    };
    std::string sql;
    std::vector<Value> parameters;
    std::vector<Result> results;
    std::vector<Kind> kinds;              // of results
    std::vector<std::size_t> order;       // results that the order is by
    std::vector<HostTest> host_tests;
    std::vector<std::string> wanted;      // names; empty: all
    std::optional<std::size_t> sequence, removed, more;  // results that are no fields
    std::uint32_t limit{};                // 0: none; not in the SQL where there are host tests
    bool has_cursor{true};

    std::string cursor_at(std::span<const Value> row) const;
};

Statement make_statement(const spur_query& query, const Dialect& dialect);  // throws Failure

}  // namespace spur::accounting
