// Calls of the plugin.
#include "daemons/spurdbd/database.hpp"

#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "daemons/common/history/row_buffer.hpp"
#include "daemons/common/history/row_message.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::dbd {
namespace {

using Ops = spur_accounting_ops;

Error schema_refusal(const spur_schema& schema) {
    switch (schema.state) {
        case SPUR_SCHEMA_OLDER:
            return {
                ErrorCode::conflict,
                fmt::format("the database has version {} of the schema and this release needs {}; make a backup, then "
                            "run spurdbd --migrate",
                            schema.found, schema.known)};
        case SPUR_SCHEMA_NEWER:
            return {
                ErrorCode::conflict,
                fmt::format("the database has version {} of the schema and this release knows {}; install the release "
                            "that made it, or a later one",
                            schema.found, schema.known)};
        case SPUR_SCHEMA_FOREIGN:
            return {ErrorCode::conflict,
                    "the database has tables that are not Spur's; name an empty one in [accounting] database_url"};
        default:
            return {ErrorCode::internal, fmt::format("the plugin says that its schema is in state {}", schema.state)};
    }
}

spur_field plain(std::int64_t number) {
    spur_field field{};
    field.kind = SPUR_FIELD_INT;
    field.integer = number;
    return field;
}
spur_field plain(const std::string& text) {
    spur_field field{};
    field.kind = SPUR_FIELD_TEXT;
    field.text = plugin::str(text);
    return field;
}

// The tables that a mirror is all of, and what tells their rows apart.
struct Mirrored {
    std::uint32_t table;
    const char* keys[2];
};
constexpr Mirrored mirrored[] = {
    {SPUR_ROW_ACCOUNT, {"name", nullptr}},   {SPUR_ROW_USER, {"name", nullptr}},
    {SPUR_ROW_ASSOCIATION, {"id", nullptr}}, {SPUR_ROW_QOS, {"name", nullptr}},
    {SPUR_ROW_TRES, {"id", nullptr}},        {SPUR_ROW_RESERVATION, {"name", "start_time"}}};

using MirrorKey = std::tuple<std::uint32_t, std::string, std::int64_t>;
std::optional<MirrorKey> mirror_key(const v1::HistoryRow& row) {
    const auto* const kind = std::ranges::find(mirrored, row.table(), &Mirrored::table);
    if (kind == std::end(mirrored)) return std::nullopt;
    MirrorKey key{row.table(), {}, 0};
    for (const auto* name : kind->keys) {
        const auto* const field = name == nullptr ? nullptr : history::find_field(row, name);
        if (field == nullptr) continue;
        if (field->value_case() == v1::HistoryField::kText)
            std::get<1>(key) = field->text();
        else
            std::get<2>(key) = field->number();
    }
    return key;
}

}  // namespace

Result<spur_schema> Database::find_schema() {
    spur_schema schema{};
    schema.size = sizeof schema;
    SPUR_CHECK(plugin_.call(&Ops::schema, &schema, stop_.get()));
    return schema;
}

Result<void> Database::open(bool may_migrate) {
    SPUR_TRY(auto schema, find_schema());
    const bool is_to_migrate = schema.state == SPUR_SCHEMA_EMPTY || (schema.state == SPUR_SCHEMA_OLDER && may_migrate);
    if (is_to_migrate) {
        log::info("{}: bringing the schema from version {} to {}", plugin_.type(), schema.found, schema.known);
        const spur_progress progress{sizeof(spur_progress), 0, nullptr,
                                     [](const spur_progress*, std::uint32_t done, std::uint32_t total, spur_str what) {
                                         log::debug("schema, {}: {} of {}", plugin::view(what), done, total);
                                     }};
        SPUR_CHECK(plugin_.call(&Ops::migrate, &progress, stop_.get()));
        SPUR_TRY(schema, find_schema());
    }
    if (schema.state != SPUR_SCHEMA_CURRENT) return std::unexpected(schema_refusal(schema));
    schema_ = schema.found;
    return {};
}

Result<void> Database::check() {
    SPUR_TRY(const auto schema, find_schema());
    if (schema.state == SPUR_SCHEMA_CURRENT || schema.state == SPUR_SCHEMA_EMPTY) return {};
    return std::unexpected(schema_refusal(schema));
}

// True: stored. False: rows in it never can be.
Result<bool> Database::try_store(const spur_batch& batch, Poison& poison) {
    const spur_store_report report{sizeof(spur_store_report), 0, &poison,
                                   [](const spur_store_report* self, std::uint32_t row, spur_str why) {
                                       static_cast<Poison*>(self->context)->emplace_back(row, plugin::view(why));
                                   }};
    SPUR_TRY(const auto status, plugin_.call(&Ops::store, &batch, &report, stop_.get()));
    if (status == SPUR_OK) return true;
    if (status == SPUR_STORE_POISON && !poison.empty()) return false;
    return fail(ErrorCode::internal, "{} answered {} to a batch and named no row", plugin_.type(), status);
}

// What is in the tables and not in the mirror: somebody removed it. A reservation keeps the time it had.
Result<std::vector<v1::HistoryRow>> Database::rows_gone(const std::string& cluster, const v1::HistoryMirror& mirror,
                                                        std::int64_t at) {
    std::set<MirrorKey> there;
    for (const auto& row : mirror.rows())
        if (const auto key = mirror_key(row)) there.insert(*key);
    std::vector<v1::HistoryRow> gone;
    for (const auto& kind : mirrored) {
        Query all;
        all.table = kind.table;
        all.cluster = cluster;
        if (kind.table == SPUR_ROW_RESERVATION)
            all.conditions.push_back({.name = "end_time", .test = SPUR_TEST_AT_LEAST, .numbers = {at + 1}});
        SPUR_CHECK(query(all, [&](const spur_row& stored) {
            const auto row = history::read_row(stored);
            if (there.contains(*mirror_key(row))) return;
            auto& out = gone.emplace_back();
            out.set_table(kind.table);
            for (const auto* name : kind.keys)
                if (const auto* field = name == nullptr ? nullptr : history::find_field(row, name))
                    *out.add_fields() = *field;
            const bool has_begun = kind.table == SPUR_ROW_RESERVATION && history::number_in(row, "start_time") < at;
            if (has_begun)
                history::RowMessage{out, kind.table}.number("end_time", at);
            else
                out.set_removed(true);
        }));
    }
    return gone;
}

Result<std::uint32_t> Database::store(const v1::StoreHistoryRequest& request, std::span<const v1::HistoryRow> more) {
    std::deque<v1::HistoryRow> made;  // beside what was sent
    std::vector<Item> items;          // one for each row
    for (const auto& entry : request.entries()) {
        if (entry.has_job() || entry.has_step()) items.push_back({&entry, nullptr});
        if (entry.has_row()) items.push_back({&entry, &entry.row()});
        if (entry.has_job() && !entry.job().job().spec().wckey().empty()) {
            history::RowMessage{made.emplace_back(), SPUR_ROW_WCKEY}
                .text("name", entry.job().job().spec().wckey())
                .text("user_name", entry.job().job().user_name());
            items.push_back({&entry, &made.back()});
        }
        if (!entry.has_mirror()) continue;
        for (const auto& row : entry.mirror().rows()) items.push_back({&entry, &row});
        SPUR_TRY(auto gone, rows_gone(request.cluster(), entry.mirror(), entry.at()));
        for (auto& row : gone) items.push_back({&entry, &made.emplace_back(std::move(row))});
    }
    std::vector<std::pair<const v1::HistoryEntry*, std::string>> aside;
    for (;;) {
        history::RowBuffer rows;
        for (const auto& item : items) item.row ? rows.add(*item.row, item.entry->sequence()) : rows.add(*item.entry);
        for (const auto& [entry, why] : aside) rows.add_set_aside(*entry, request.stream(), why);
        for (const auto& row : more) rows.add(row, 0);
        spur_batch batch{};
        batch.size = sizeof batch;
        batch.cluster = plugin::str(request.cluster());
        batch.stream = plugin::str(request.stream());
        batch.first = request.first();
        batch.last = request.last();
        batch.rows = rows.rows();
        Poison poison;
        SPUR_TRY(const auto is_stored, try_store(batch, poison));
        if (is_stored) break;
        for (const auto& [row, why] : poison) {
            if (row < items.size() && items[row].entry == nullptr) continue;  // named twice
            if (row >= items.size())
                return fail(ErrorCode::internal, "{} cannot store what is set aside: {}", plugin_.type(), why);
            log::error("entry {} of cluster {} cannot be stored and is set aside: {}", items[row].entry->sequence(),
                       request.cluster(), why);
            aside.emplace_back(std::exchange(items[row].entry, nullptr), why);
        }
        std::erase_if(items, [](const Item& item) { return item.entry == nullptr; });
    }
    stored_ += static_cast<std::uint64_t>(request.entries_size());
    set_aside_ += aside.size();
    return static_cast<std::uint32_t>(aside.size());
}

Result<void> Database::store_rows(const std::string& cluster, std::span<const v1::HistoryRow> rows) {
    constexpr std::size_t at_once = 2000;
    for (std::size_t from = 0; from < rows.size(); from += at_once) {
        history::RowBuffer buffer;
        for (const auto& row : rows.subspan(from, std::min(at_once, rows.size() - from))) buffer.add(row, 0);
        spur_batch batch{};
        batch.size = sizeof batch;
        batch.cluster = plugin::str(cluster);
        batch.rows = buffer.rows();
        Poison poison;
        SPUR_TRY(const auto is_stored, try_store(batch, poison));
        if (!is_stored)
            return fail(ErrorCode::invalid, "row {} cannot be stored: {}", from + poison.front().first,
                        poison.front().second);
    }
    return {};
}

Result<void> Database::purge(const std::string& cluster, std::uint32_t table, std::int64_t before, Archive* archive) {
    struct Context {
        Archive* archive;
        Result<void> problem{};
    } context{archive, {}};
    const spur_archive out{sizeof(spur_archive), 0, &context,
                           [](const spur_archive* self, spur_str whose, const spur_row* row) -> spur_status {
                               auto& to = *static_cast<Context*>(self->context);
                               auto message = history::read_row(*row);
                               message.set_cluster(std::string{plugin::view(whose)});
                               to.problem = to.archive->add(message);
                               return to.problem ? SPUR_OK : SPUR_E_IO;
                           },
                           [](const spur_archive* self) -> spur_status {
                               auto& to = *static_cast<Context*>(self->context);
                               to.problem = to.archive->make_durable();
                               return to.problem ? SPUR_OK : SPUR_E_IO;
                           }};
    const auto done =
        plugin_.call(&Ops::purge, plugin::str(cluster), table, before, archive ? &out : nullptr, stop_.get());
    if (!context.problem) return std::unexpected(context.problem.error());
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<std::string> Database::query(const Query& query, const std::function<void(const spur_row&)>& on_row) {
    std::vector<std::vector<spur_field>> values;
    std::vector<spur_condition> conditions;
    values.reserve(query.conditions.size());
    for (const auto& condition : query.conditions) {
        auto& list = values.emplace_back();
        for (const auto number : condition.numbers) list.push_back(plain(number));
        for (const auto& text : condition.texts) list.push_back(plain(text));
        conditions.push_back({condition.name.c_str(), condition.test, condition.negate ? 1U : 0U, condition.group, 0,
                              plugin::span_of(list)});
    }
    spur_query question{};
    question.size = sizeof question;
    question.table = query.table;
    question.cluster = plugin::str(query.cluster);
    question.conditions = plugin::span_of(conditions);
    question.order_by = query.order_by.empty() ? nullptr : query.order_by.c_str();
    question.after = plugin::str(query.after);
    question.limit = query.limit;
    question.with_removed = query.with_removed ? 1 : 0;
    std::vector<spur_str> wanted;
    for (const auto& name : query.wanted) wanted.push_back(plugin::str(name));
    question.wanted = plugin::span_of(wanted);
    struct Answer {
        const std::function<void(const spur_row&)>& on_row;
        std::string next;
    } answer{on_row, {}};
    const spur_row_sink sink{sizeof(spur_row_sink), 0, &answer,
                             [](const spur_row_sink* self, const spur_row* row) -> spur_status {
                                 static_cast<Answer*>(self->context)->on_row(*row);
                                 return SPUR_OK;
                             },
                             [](const spur_row_sink* self, spur_str cursor) -> spur_status {
                                 static_cast<Answer*>(self->context)->next = plugin::view(cursor);
                                 return SPUR_OK;
                             }};
    SPUR_CHECK(plugin_.call(&Ops::query, &question, &sink, stop_.get()));
    return std::move(answer.next);
}

}  // namespace spur::dbd
