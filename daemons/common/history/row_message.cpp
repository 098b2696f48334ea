// Fields by name.
#include "daemons/common/history/row_message.hpp"

namespace spur::history {

v1::HistoryField& RowMessage::add(std::string_view name) {
    auto& field = *row_.add_fields();
    field.set_name(std::string{name});
    return field;
}

RowMessage& RowMessage::text(std::string_view name, std::string_view value) {
    add(name).set_text(std::string{value});
    return *this;
}
RowMessage& RowMessage::number(std::string_view name, std::int64_t value) {
    add(name).set_number(value);
    return *this;
}
RowMessage& RowMessage::real(std::string_view name, double value) {
    add(name).set_real(value);
    return *this;
}
RowMessage& RowMessage::tres(std::string_view name, const TresList& value) {
    auto& counts = *add(name).mutable_tres();
    for (const auto& one : value.entries()) {
        auto& count = *counts.add_counts();
        count.set_name(std::string{one.name});
        count.set_count(one.count);
    }
    return *this;
}

const v1::HistoryField* find_field(const v1::HistoryRow& row, std::string_view name) {
    for (const auto& field : row.fields())
        if (field.name() == name) return &field;
    return nullptr;
}
std::int64_t number_in(const v1::HistoryRow& row, std::string_view name) {
    const auto* const field = find_field(row, name);
    return field == nullptr ? 0 : field->number();
}
double real_in(const v1::HistoryRow& row, std::string_view name) {
    const auto* const field = find_field(row, name);
    return field == nullptr ? 0 : field->real();
}
std::string text_in(const v1::HistoryRow& row, std::string_view name) {
    const auto* const field = find_field(row, name);
    return field == nullptr ? std::string{} : field->text();
}
TresList tres_in(const v1::HistoryRow& row, std::string_view name) {
    TresList list;
    if (const auto* const field = find_field(row, name))
        for (const auto& one : field->tres().counts()) list.set(one.name(), one.count());
    return list;
}

}  // namespace spur::history
