// Messages as rows of the accounting axis, and rows as messages.
#pragma once

#include <spur/plugin/draft/accounting.h>

#include <deque>
#include <string>
#include <vector>

#include "daemons/common/history/columns.hpp"

namespace spur::history {

// The rows of a batch. What the spans point to lives as long as this.
class RowBuffer {
public:
    void add(const v1::HistoryEntry& entry);  // an entry of a kind that this release does not know adds nothing
    // What could not be stored, kept as it came.
    void add_set_aside(const v1::HistoryEntry& entry, const std::string& stream, const std::string& why);
    void add(const v1::HistoryRow& row, std::uint64_t sequence);
    std::size_t size() const { return rows_.size(); }
    spur_span rows();

private:
    template <class Message, class Columns>
    void add_row(std::uint32_t table, std::uint64_t sequence, const Message& message, const Columns& columns);
    spur_field field(std::string_view name, const Value& value);

    struct Row {
        std::uint32_t table;
        std::uint64_t sequence;
        bool removed;
        std::vector<spur_field> fields;
    };
    std::deque<Row> rows_;
    std::deque<std::string> texts_;
    std::deque<std::vector<spur_tres>> counts_;
    std::vector<spur_row> out_;
};

std::string cluster_of(const spur_row& row);
v1::HistoryRow read_row(const spur_row& row);  // of any table, its cluster included
v1::HistoryJob read_job(const spur_row& row);
v1::HistoryStep read_step(const spur_row& row);

}  // namespace spur::history
