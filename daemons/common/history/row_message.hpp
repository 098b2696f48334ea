// A row of any table as a message: filling one, and reading its fields by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/gres.hpp"
#include "spur/v1/accounting.pb.h"

namespace spur::history {

// RowMessage{out, SPUR_ROW_EVENT}.text("node", name).number("start_time", start);
class RowMessage {
public:
    RowMessage(v1::HistoryRow& row, std::uint32_t table) : row_{row} { row_.set_table(table); }
    RowMessage& text(std::string_view name, std::string_view value);
    RowMessage& text_if(std::string_view name, std::string_view value) { return value.empty() ? *this : text(name, value); }
    RowMessage& number(std::string_view name, std::int64_t value);
    RowMessage& number_if(std::string_view name, std::int64_t value) { return value == 0 ? *this : number(name, value); }
    RowMessage& real(std::string_view name, double value);
    RowMessage& tres(std::string_view name, const TresList& value);

private:
    v1::HistoryField& add(std::string_view name);
    v1::HistoryRow& row_;
};

const v1::HistoryField* find_field(const v1::HistoryRow& row, std::string_view name);
// What is absent is 0, or empty.
std::int64_t number_in(const v1::HistoryRow& row, std::string_view name);
double real_in(const v1::HistoryRow& row, std::string_view name);
std::string text_in(const v1::HistoryRow& row, std::string_view name);
TresList tres_in(const v1::HistoryRow& row, std::string_view name);

}  // namespace spur::history
