// Filling and reading rows by the tables of columns.hpp.
#include "daemons/common/history/row_buffer.hpp"

#include <spur/plugin/plugin.hpp>

#include <algorithm>

#include "core/base/ids.hpp"

namespace spur::history {
namespace {

using plugin::Records;
using plugin::view;

Value value_of(const spur_field& field) {
    if (field.kind == SPUR_FIELD_INT) return field.integer;
    if (field.kind == SPUR_FIELD_TEXT) return std::string{view(field.text)};
    if (field.kind != SPUR_FIELD_TRES) return {};
    TresList list;
    for (const auto& one : Records<spur_tres>(field.tres)) list.set(view(one.name), one.count);
    return list;
}

template <class Message, class Columns>
Message read(const spur_row& row, const Columns& columns) {
    Message message;
    for (const auto& field : Records<spur_field>(row.fields)) {
        const auto column = std::ranges::find(columns, std::string_view{field.name}, &Column<Message>::name);
        if (column == columns.end()) continue;  // a later release's
        if (const auto value = value_of(field); !std::holds_alternative<std::monostate>(value)) column->set(message, value);
    }
    return message;
}

const spur_field* find(const spur_row& row, std::string_view name) {
    for (const auto& field : Records<spur_field>(row.fields))
        if (name == field.name) return &field;
    return nullptr;
}

// Of a single task the row has the most alone, and where that was.
void complete(v1::StepUsage& usage) {
    if (usage.tasks() != 1) return;
    for (auto& use : *usage.mutable_measured()) {
        use.set_total(use.max());
        use.set_min(use.max());
        use.set_min_task(use.max_task());
        use.set_min_node(use.max_node());
    }
}

}  // namespace

spur_field RowBuffer::field(std::string_view name, const Value& value) {
    spur_field out{};
    out.name = name.data();  // a literal of columns.cpp
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        out.kind = SPUR_FIELD_INT;
        out.integer = *number;
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        out.kind = SPUR_FIELD_TEXT;
        out.text = plugin::str(texts_.emplace_back(*text));
    } else if (const auto* tres = std::get_if<TresList>(&value)) {
        out.kind = SPUR_FIELD_TRES;
        auto& counts = counts_.emplace_back();
        for (const auto& one : tres->entries())
            counts.push_back({plugin::str(texts_.emplace_back(std::string{one.name})), one.count});
        out.tres = plugin::span_of(counts);
    }
    return out;
}

template <class Message, class Columns>
void RowBuffer::add_row(std::uint32_t table, std::uint64_t sequence, const Message& message, const Columns& columns) {
    auto& row = rows_.emplace_back(Row{table, sequence, false, {}});
    row.fields.reserve(columns.size());
    for (const auto& column : columns)
        if (const auto value = column.get(message); !std::holds_alternative<std::monostate>(value))
            row.fields.push_back(field(column.name, value));
}

void RowBuffer::add(const v1::HistoryEntry& entry) {
    if (entry.has_job()) add_row(SPUR_ROW_JOB, entry.sequence(), entry.job(), job_columns());
    if (entry.has_step()) add_row(SPUR_ROW_STEP, entry.sequence(), entry.step(), step_columns());
}

void RowBuffer::add(const v1::HistoryRow& message, std::uint64_t sequence) {
    auto& row = rows_.emplace_back(Row{message.table(), sequence, message.removed(), {}});
    row.fields.reserve(static_cast<std::size_t>(message.fields_size()));
    for (const auto& one : message.fields()) {
        auto& out = row.fields.emplace_back();
        out.name = texts_.emplace_back(one.name()).c_str();
        switch (one.value_case()) {
            case v1::HistoryField::kNumber:
                out.kind = SPUR_FIELD_INT;
                out.integer = one.number();
                break;
            case v1::HistoryField::kReal:
                out.kind = SPUR_FIELD_REAL;
                out.real = one.real();
                break;
            case v1::HistoryField::kText:
                out.kind = SPUR_FIELD_TEXT;
                out.text = plugin::str(texts_.emplace_back(one.text()));
                break;
            case v1::HistoryField::kBytes:
                out.kind = SPUR_FIELD_BYTES;
                out.text = plugin::str(texts_.emplace_back(one.bytes()));
                break;
            case v1::HistoryField::kTres: {
                out.kind = SPUR_FIELD_TRES;
                auto& counts = counts_.emplace_back();
                for (const auto& count : one.tres().counts())
                    counts.push_back({plugin::str(texts_.emplace_back(count.name())), count.count()});
                out.tres = plugin::span_of(counts);
                break;
            }
            case v1::HistoryField::VALUE_NOT_SET:
                break;
        }
    }
}

void RowBuffer::add_set_aside(const v1::HistoryEntry& entry, const std::string& stream, const std::string& why) {
    auto& row = rows_.emplace_back(Row{SPUR_ROW_SET_ASIDE, 0, false, {}});
    row.fields = {field("stream", stream), field("number", static_cast<std::int64_t>(entry.sequence())),
                  field("time", entry.at()), field("why", why)};
    spur_field bytes{};
    bytes.name = "entry";
    bytes.kind = SPUR_FIELD_BYTES;
    bytes.text = plugin::str(texts_.emplace_back(entry.SerializeAsString()));
    row.fields.push_back(bytes);
}

spur_span RowBuffer::rows() {
    out_.clear();
    for (const auto& row : rows_) out_.push_back({row.table, row.removed ? 1U : 0U, row.sequence, plugin::span_of(row.fields)});
    return plugin::span_of(out_);
}

std::string cluster_of(const spur_row& row) {
    const auto* const field = find(row, "cluster");
    return field == nullptr ? std::string{} : std::string{view(field->text)};
}

v1::HistoryRow read_row(const spur_row& row) {
    v1::HistoryRow message;
    message.set_table(row.table);
    message.set_removed(row.removed != 0);
    for (const auto& field : Records<spur_field>(row.fields)) {
        if (field.kind == SPUR_FIELD_NULL) continue;
        if (std::string_view{field.name} == "cluster") {
            message.set_cluster(std::string{view(field.text)});
            continue;
        }
        auto& out = *message.add_fields();
        out.set_name(field.name);
        if (field.kind == SPUR_FIELD_INT) out.set_number(field.integer);
        if (field.kind == SPUR_FIELD_REAL) out.set_real(field.real);
        if (field.kind == SPUR_FIELD_TEXT) out.set_text(std::string{view(field.text)});
        if (field.kind == SPUR_FIELD_BYTES) out.set_bytes(std::string{view(field.text)});
        if (field.kind != SPUR_FIELD_TRES) continue;
        for (const auto& one : Records<spur_tres>(field.tres)) {
            auto& count = *out.mutable_tres()->add_counts();
            count.set_name(std::string{view(one.name)});
            count.set_count(one.count);
        }
        out.mutable_tres();
    }
    return message;
}

// What is absent in a row is what the message means by silence, but for the limit of time, and for the cluster.
v1::HistoryJob read_job(const spur_row& row) {
    auto run = read<v1::HistoryJob>(row, job_columns());
    run.set_cluster(cluster_of(row));
    if (find(row, "time_limit_min") == nullptr) run.mutable_job()->set_time_limit_min(unlimited);
    return run;
}

v1::HistoryStep read_step(const spur_row& row) {
    auto run = read<v1::HistoryStep>(row, step_columns());
    if (run.step().has_usage()) complete(*run.mutable_step()->mutable_usage());
    if (run.step().time_limit_min() == 0) run.mutable_step()->set_time_limit_min(unlimited);
    return run;
}

}  // namespace spur::history
