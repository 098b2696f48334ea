// History behind a socket: the same rows as without, sinks that are asked, and what a lost process costs.
#include <gtest/gtest.h>

#include <signal.h>

#include <deque>

#include <spur/plugin/plugin.hpp>

#include "daemons/common/host/stop.hpp"
#include "tests/isolate/isolating.hpp"

namespace spur::host {
namespace {

using AccountingOps = spur_accounting_ops;

// Rows with fields of every kind, one of them without a column.
struct Rows {
    explicit Rows(std::int64_t first, std::int64_t last, std::size_t comment = 10) : comment_(comment, 'c') {
        for (auto id = first; id <= last; ++id) {
            auto& fields = fields_.emplace_back();
            add(fields, "job_id", SPUR_FIELD_INT).integer = id;
            add(fields, "submit_time", SPUR_FIELD_INT).integer = 1000 + id;
            add(fields, "attempt", SPUR_FIELD_INT).integer = 1;
            add(fields, "end_time", SPUR_FIELD_INT).integer = 2000 + id;
            add(fields, "name", SPUR_FIELD_TEXT).text = plugin::str("björn's");
            add(fields, "comment", SPUR_FIELD_TEXT).text = plugin::str(comment_);
            add(fields, "account", SPUR_FIELD_NULL);
            add(fields, "tres_allocated", SPUR_FIELD_TRES).tres = plugin::span_of(tres_);
            add(fields, "later_real", SPUR_FIELD_REAL).real = 0.5;
            add(fields, "later_bytes", SPUR_FIELD_BYTES).text = {"\0\xff\x01", 3, 0};
            rows_.push_back({SPUR_ROW_JOB, 0, static_cast<std::uint64_t>(id), plugin::span_of(fields)});
        }
    }
    std::vector<std::vector<spur_field>>& fields() { return fields_; }
    spur_batch batch() const {
        return {sizeof(spur_batch),     0,
                plugin::str("testing"), plugin::str("s1"),
                rows_.front().sequence, rows_.back().sequence,
                plugin::span_of(rows_)};
    }

private:
    static spur_field& add(std::vector<spur_field>& fields, const char* name, std::uint32_t kind) {
        if (fields.capacity() == 0) fields.reserve(16);
        auto& field = fields.emplace_back();
        field.name = name;
        field.kind = kind;
        // What the kind does not name may hold anything.
        if (kind == SPUR_FIELD_INT) field.text = {reinterpret_cast<const char*>(1), 7, 0};
        return field;
    }
    std::string comment_;
    std::vector<spur_tres> tres_{{plugin::str("cpu"), 4}, {plugin::str("gres/gpu:a100"), 2}};
    std::vector<std::vector<spur_field>> fields_;
    std::vector<spur_row> rows_;
};

std::string text_of(const spur_row& row) {
    std::string text = fmt::format("{}/{}", row.table, row.removed);
    for (const auto& field : plugin::Records<spur_field>{row.fields}) {
        text += fmt::format(" {}:{}=", field.name, field.kind);
        if (field.kind == SPUR_FIELD_INT) text += fmt::format("{}", field.integer);
        if (field.kind == SPUR_FIELD_REAL) text += fmt::format("{}", field.real);
        if (field.kind == SPUR_FIELD_TEXT || field.kind == SPUR_FIELD_BYTES) text += plugin::view(field.text);
        if (field.kind == SPUR_FIELD_TRES)
            for (const auto& each : plugin::Records<spur_tres>{field.tres})
                text += fmt::format("{}={},", plugin::view(each.name), each.count);
    }
    return text;
}

// Takes rows until it has enough.
struct Taken {
    explicit Taken(std::size_t enough = SIZE_MAX) : most{enough} {
        sink = {sizeof sink, 0, this,
                [](const spur_row_sink* at, const spur_row* row) -> spur_status {
                    auto& self = *static_cast<Taken*>(at->context);
                    if (self.rows.size() == self.most) return ++self.refused, SPUR_E_BUSY;
                    self.rows.push_back(text_of(*row));
                    return SPUR_OK;
                },
                [](const spur_row_sink* at, spur_str next) -> spur_status {
                    static_cast<Taken*>(at->context)->cursor = plugin::view(next);
                    return SPUR_OK;
                }};
    }
    std::size_t most, refused{0};
    std::vector<std::string> rows;
    std::string cursor;
    spur_row_sink sink{};
};

struct IsolatedHistory : ::testing::Test {
    Bound<AccountingAxis> open(bool isolated) {
        Config config = config_with(
            {{"accounting", {"accounting/sqlite"}}},
            {{"accounting/sqlite", {{"database", (dir.path() / "history.db").native(), 1}, {"isolate", isolated, 2}}}});
        config.plugin_dirs = {SPUR_REAL_PLUGINS};
        auto& host = isolated ? apart : here;
        const auto opened = host.open<AccountingAxis>(config);
        EXPECT_TRUE(opened) << opened.error().text;
        return opened ? *opened : Bound<AccountingAxis>{};
    }
    void migrate() {
        const spur_progress progress{
            sizeof(spur_progress), 0, &steps,
            [](const spur_progress* at, std::uint32_t, std::uint32_t, spur_str) { ++*static_cast<int*>(at->context); }};
        ASSERT_TRUE(plugin.call(&AccountingOps::migrate, &progress, stop.get()));
    }
    Result<spur_status> store(const Rows& rows) {
        const auto batch = rows.batch();
        const spur_store_report report{sizeof(spur_store_report), 0, &poison,
                                       [](const spur_store_report* at, std::uint32_t row, spur_str why) {
                                           static_cast<std::vector<std::string>*>(at->context)
                                               ->push_back(fmt::format("{}: {}", row, plugin::view(why)));
                                       }};
        return plugin.call(&AccountingOps::store, &batch, &report, stop.get());
    }
    Result<spur_status> ask(const Bound<AccountingAxis>& of, Taken& taken, std::uint32_t limit = 0) {
        spur_field ids[2]{};
        ids[0].kind = ids[1].kind = SPUR_FIELD_INT;
        ids[0].integer = 1, ids[1].integer = INT64_MAX;
        const spur_condition all{"job_id", SPUR_TEST_AT_LEAST, 0, 0, 0, {ids, 1, sizeof(spur_field)}};
        spur_query query{};
        query.size = sizeof query;
        query.table = SPUR_ROW_JOB;
        query.cluster = plugin::str("testing");
        query.conditions = {&all, 1, sizeof all};
        query.order_by = "-job_id";
        query.limit = limit;
        return of.call(&AccountingOps::query, &query, &taken.sink, stop.get());
    }
    std::size_t count() {
        Taken taken;
        EXPECT_TRUE(ask(plugin, taken));
        return taken.rows.size();
    }
    Isolated::Status status() const { return *apart.list().front().isolated; }

    const TempDir dir;
    const log::Capture lines;
    PluginHost apart{isolating()}, here{test_options()};
    StopSource stop;
    int steps{0};
    std::vector<std::string> poison;
    Bound<AccountingAxis> plugin{open(true)};
};

TEST_F(IsolatedHistory, RowsComeBackAsTheyDoWithoutAProcessBetween) {
    migrate();
    EXPECT_GT(steps, 0);
    ASSERT_EQ(*store(Rows{1, 200, 5000}), SPUR_OK);
    std::uint64_t up_to = 0;
    ASSERT_TRUE(plugin.call(&AccountingOps::stored_up_to, plugin::str("testing"), plugin::str("s1"), std::uint64_t{1},
                            &up_to, stop.get()));
    EXPECT_EQ(up_to, 200u);
    Taken far, near;
    ASSERT_EQ(*ask(plugin, far), SPUR_OK);  // a megabyte: more than goes without an answer
    ASSERT_EQ(*ask(open(false), near), SPUR_OK);
    EXPECT_EQ(far.rows.size(), 200u);
    EXPECT_EQ(far.rows, near.rows);
    Taken page, same;
    ASSERT_EQ(*ask(plugin, page, 5), SPUR_OK);
    ASSERT_EQ(*ask(open(false), same, 5), SPUR_OK);
    EXPECT_EQ(page.rows.size(), 5u);
    EXPECT_FALSE(page.cursor.empty());
    EXPECT_EQ(page.cursor, same.cursor);
}

TEST_F(IsolatedHistory, ASinkThatHasEnoughEndsTheQueryWithItsOwnWord) {
    migrate();
    ASSERT_EQ(*store(Rows{1, 200, 5000}), SPUR_OK);
    Taken some{5};
    const auto done = ask(plugin, some);
    EXPECT_TRUE(done ? *done == SPUR_E_BUSY : done.error().code == error_of(SPUR_E_BUSY, "").code);
    EXPECT_EQ(some.rows.size(), 5u);
    EXPECT_EQ(some.refused, 1u) << "it is told once";
    EXPECT_EQ(status().restarts, 0u);
}

TEST_F(IsolatedHistory, ARowThatNeverCanBeStoredIsNamed) {
    migrate();
    Rows rows{1, 3};
    rows.fields()[1][0].kind = SPUR_FIELD_TEXT;  // a key of another kind
    rows.fields()[1][0].text = plugin::str("x");
    const auto stored = store(rows);
    ASSERT_TRUE(stored) << stored.error().text;
    EXPECT_EQ(*stored, SPUR_STORE_POISON);
    ASSERT_EQ(poison.size(), 1u);
    EXPECT_TRUE(poison.front().starts_with("1: ")) << poison.front();
    EXPECT_EQ(count(), 0u);
}

TEST_F(IsolatedHistory, NothingIsPurgedThatTheArchiveDoesNotHold) {
    migrate();
    ASSERT_EQ(*store(Rows{1, 20}), SPUR_OK);
    struct Shelf {
        std::size_t rows{0}, safe{0};
        spur_status answer{SPUR_E_IO};
    } shelf;
    const spur_archive archive{sizeof(spur_archive), 0, &shelf,
                               [](const spur_archive* at, spur_str, const spur_row*) -> spur_status {
                                   ++static_cast<Shelf*>(at->context)->rows;
                                   return SPUR_OK;
                               },
                               [](const spur_archive* at) -> spur_status {
                                   auto& self = *static_cast<Shelf*>(at->context);
                                   self.safe = self.rows;
                                   return self.answer;
                               }};
    const auto purge = [&] {
        return plugin.call(&AccountingOps::purge, plugin::str("testing"), SPUR_ROW_JOB, std::int64_t{2011}, &archive,
                           stop.get());
    };
    EXPECT_FALSE(purge());
    EXPECT_EQ(count(), 20u);
    EXPECT_EQ(shelf.safe, shelf.rows);
    shelf.answer = SPUR_OK;
    ASSERT_TRUE(purge());
    EXPECT_EQ(count(), 10u);
}

TEST_F(IsolatedHistory, ALostBatchIsStoredByTheNextAttemptAndOnlyOnce) {
    migrate();
    ASSERT_EQ(*store(Rows{1, 10}), SPUR_OK);
    const auto first = status().pid;
    ::kill(first, SIGKILL);
    // Whether the first attempt meets the dying process or the next one, an attempt comes through.
    ASSERT_TRUE(eventually([&] { return store(Rows{1, 20}).has_value(); }));
    EXPECT_TRUE(eventually([&] { return status().restarts == 1 && status().pid != first; }));
    EXPECT_EQ(count(), 20u);
    EXPECT_TRUE(lines.contains("plugin accounting/sqlite: its process died of signal 9 (Killed); it is started again"));
}

TEST_F(IsolatedHistory, AStoreThatIsSilentForTooLongCostsAWarning) {
    migrate();
    ::kill(status().pid, SIGSTOP);
    const auto lost = store(Rows{1, 10});
    ASSERT_FALSE(lost);
    EXPECT_NE(lost.error().text.find("did not come back from store() within"), std::string::npos) << lost.error().text;
    EXPECT_EQ(lost.error().code, ErrorCode::unavailable);
    ASSERT_TRUE(eventually([&] { return store(Rows{1, 10}).has_value(); }));
    EXPECT_EQ(count(), 10u);
}

}  // namespace
}  // namespace spur::host
