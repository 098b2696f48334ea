// Rows in and out of the boundary.
#include "accounting_bench.hpp"

namespace spur::check {

using plugin::Records;
using plugin::str;
using plugin::view;

RowData job_row(std::int64_t id, std::uint64_t sequence, std::string name, Fields more) {
    RowData row{SPUR_ROW_JOB, sequence, std::move(more)};
    row.fields["job_id"] = id;
    row.fields["submit_time"] = std::int64_t{1'700'000'000} + id;
    row.fields["attempt"] = std::int64_t{1};
    row.fields["name"] = std::move(name);
    return row;
}

spur_field RowMemory::field(const std::string& name, const FieldValue& value) {
    spur_field out{};
    out.name = memory_.c_str(name);
    out.kind = static_cast<std::uint32_t>(value.index());  // the variant is in the order of SPUR_FIELD_*
    if (const auto* number = std::get_if<std::int64_t>(&value)) out.integer = *number;
    if (const auto* real = std::get_if<double>(&value)) out.real = *real;
    if (const auto* text = std::get_if<std::string>(&value)) out.text = memory_.str(*text);
    if (const auto* bytes = std::get_if<RawBytes>(&value)) out.text = memory_.str(bytes->data);
    if (const auto* tres = std::get_if<Tres>(&value)) {
        std::vector<spur_tres> counts;
        for (const auto& [resource, count] : *tres) counts.push_back({memory_.str(resource), count});
        out.tres = memory_.span(counts);
    }
    return out;
}

spur_span RowMemory::fields(const std::vector<FieldValue>& values) {
    std::vector<spur_field> all;
    for (const auto& value : values) all.push_back(field("", value));
    return memory_.span(all);
}

spur_span RowMemory::rows(const std::vector<RowData>& rows) {
    std::vector<spur_row> all;
    for (const auto& row : rows) {
        std::vector<spur_field> fields;
        for (const auto& [name, value] : row.fields) fields.push_back(field(name, value));
        all.push_back({row.table, row.removed ? 1U : 0U, row.sequence, memory_.span(fields)});
    }
    return memory_.span(all);
}

Fields read_fields(spur_span fields) {
    Fields result;
    for (const auto& field : Records<spur_field>(fields)) {
        require(field.name != nullptr, "a row has a field without a name");
        FieldValue value;
        if (field.kind == SPUR_FIELD_INT) value = field.integer;
        if (field.kind == SPUR_FIELD_REAL) value = field.real;
        if (field.kind == SPUR_FIELD_TEXT) value = std::string{view(field.text)};
        if (field.kind == SPUR_FIELD_BYTES) value = RawBytes{std::string{view(field.text)}};
        if (field.kind == SPUR_FIELD_TRES) {
            Tres tres;
            for (const auto& one : Records<spur_tres>(field.tres)) tres[std::string{view(one.name)}] = one.count;
            value = std::move(tres);
        }
        const bool is_new = result.emplace(field.name, std::move(value)).second;
        require(is_new, "a row has the field {} twice", field.name);
    }
    return result;
}

std::vector<std::int64_t> Found::ids() const {
    std::vector<std::int64_t> all;
    for (const auto& row : rows) {
        const auto id = row.find("job_id");
        require(id != row.end() && std::holds_alternative<std::int64_t>(id->second), "a job row has no job_id");
        all.push_back(std::get<std::int64_t>(id->second));
    }
    return all;
}

spur_schema Books::schema() {
    Output<spur_schema> out{shape_};
    ErrorBox err;
    const StopSign stop;
    doing("in schema()");
    expect_ok("schema()", accounting_ops(instance_).schema(instance_.self(), out.get(), stop.get(), err.get()), err);
    return out.read("schema()");
}

void Books::migrate() {
    ErrorBox err;
    const StopSign stop;
    const spur_progress progress{sizeof(spur_progress), 0, nullptr,
                                 [](const spur_progress*, std::uint32_t, std::uint32_t, spur_str) {}};
    doing("in migrate()");
    expect_ok("migrate()", accounting_ops(instance_).migrate(instance_.self(), &progress, stop.get(), err.get()), err);
}

StoreResult Books::try_store(const std::vector<RowData>& rows, std::uint64_t first, std::uint64_t last,
                             const std::string& stream) {
    RowMemory memory{shape_};
    spur_batch batch{};
    batch.cluster = memory.memory().str(cluster_);
    batch.stream = memory.memory().str(stream);
    batch.first = first;
    batch.last = last;
    batch.rows = memory.rows(rows);
    StoreResult result;
    const spur_store_report report{sizeof(spur_store_report), 0, &result,
                                   [](const spur_store_report* self, std::uint32_t row, spur_str why) {
                                       static_cast<StoreResult*>(self->context)->poison[row] = view(why);
                                   }};
    ErrorBox err;
    const StopSign stop;
    doing("in store()");
    result.status =
        accounting_ops(instance_).store(instance_.self(), memory.memory().one(batch), &report, stop.get(), err.get());
    if (result.status < 0) result.sentence = sentence_of("store()", result.status, err);
    return result;
}

void Books::store(const std::vector<RowData>& rows, std::uint64_t first, std::uint64_t last, const std::string& stream) {
    const auto result = try_store(rows, first, last, stream);
    if (result.status == SPUR_E_UNAVAILABLE) skip("store(): {}", result.sentence);
    require(result.status >= 0, "store(): {}", result.sentence);
    require(result.status == SPUR_OK, "store() answered {} to rows that can be stored{}", result.status,
            result.poison.empty() ? "" : ": " + result.poison.begin()->second);
}

std::uint64_t Books::stored_up_to(std::uint64_t from, const std::string& stream) {
    std::uint64_t up_to = 0;
    ErrorBox err;
    const StopSign stop;
    doing("in stored_up_to()");
    expect_ok("stored_up_to()",
              accounting_ops(instance_).stored_up_to(instance_.self(), str(cluster_), str(stream), from, &up_to,
                                                     stop.get(), err.get()),
              err);
    return up_to;
}

Found Books::ask(const Question& question) {
    RowMemory memory{shape_};
    auto& own = memory.memory();
    std::vector<spur_condition> conditions;
    for (const auto& test : question.tests)
        conditions.push_back({own.c_str(test.name), test.test, test.negate, test.group, 0, memory.fields(test.values)});
    const auto names = [&](const std::vector<std::string>& list) {
        std::vector<spur_str> all;
        for (const auto& name : list) all.push_back(own.str(name));
        return own.span(all);
    };
    std::vector<spur_sum> sums;
    for (const auto& sum : question.sums)
        sums.push_back({sum.kind, 0, sum.field.empty() ? nullptr : own.c_str(sum.field),
                        sum.tres.empty() ? nullptr : own.c_str(sum.tres), own.c_str(sum.as)});
    spur_query query{};
    query.table = question.table;
    query.cluster = own.str(cluster_);
    query.conditions = own.span(conditions);
    query.wanted = names(question.wanted);
    query.groups = names(question.groups);
    query.sums = own.span(sums);
    query.order_by = question.order_by.empty() ? nullptr : own.c_str(question.order_by);
    query.after = own.str(question.after);
    query.limit = question.limit;
    query.with_removed = question.with_removed ? 1 : 0;
    Found found;
    const spur_row_sink sink{
        sizeof(spur_row_sink), 0, &found,
        [](const spur_row_sink* self, const spur_row* row) -> spur_status {
            static_cast<Found*>(self->context)->rows.push_back(read_fields(row->fields));
            return SPUR_OK;
        },
        [](const spur_row_sink* self, spur_str cursor) -> spur_status {
            static_cast<Found*>(self->context)->cursor = view(cursor);
            return SPUR_OK;
        }};
    ErrorBox err;
    const StopSign stop;
    doing("in query()");
    expect_ok("query()", accounting_ops(instance_).query(instance_.self(), own.one(query), &sink, stop.get(), err.get()), err);
    return found;
}

}  // namespace spur::check
