// The laws of spur.accounting/1.
#include "accounting_bench.hpp"

#include <algorithm>
#include <thread>

namespace spur::check {
namespace {

using Ids = std::vector<std::int64_t>;
using Text = std::string;

Ids sorted(Ids ids) {
    std::ranges::sort(ids);
    return ids;
}

// Instance, cluster and schema, for laws about rows: a plugin that keeps none has nothing to show.
struct Kept {
    Kept(const Subject& subject, const std::string& cluster) : bench{subject}, books{bench.instance(), cluster} {
        if (books.discards()) skip("it says SPUR_ACCOUNTING_DISCARDS: it keeps no rows");
        books.migrate();
    }
    Bench bench;
    Books books;
};

std::vector<RowData> jobs(std::int64_t from, std::int64_t to) {
    std::vector<RowData> rows;
    for (auto id = from; id <= to; ++id) rows.push_back(job_row(id, static_cast<std::uint64_t>(id)));
    return rows;
}

void exercise(const Subject&, Instance& instance, const Shape& shape) {
    Books books{instance, "shapes", shape};
    books.schema();
    books.migrate();
    auto rows = jobs(1, 5);
    rows[0].fields["tres_allocated"] = Tres{{"cpu", 4}, {"gres/gpu", 1}};
    books.store(rows, 1, 5);
    books.stored_up_to(1);
    Question question{.tests = {{"job_id", SPUR_TEST_IN, {std::int64_t{1}, std::int64_t{2}}, 0, 1},
                                {"name", SPUR_TEST_EQUAL, {Text{"job"}}, 0, 1}}};
    const auto found = books.ask(question);
    require(books.discards() || found.rows.size() == 5, "5 jobs were stored, a query finds {}", found.rows.size());
    books.ask(Question{.groups = {"name"}, .sums = {{SPUR_SUM_COUNT, "", "", "jobs"}}});
}

std::string migrates(const Subject& subject) {
    Bench bench(subject);
    Books books{bench.instance(), "schema"};
    const auto before = books.schema();
    require(before.state == SPUR_SCHEMA_EMPTY || before.state == SPUR_SCHEMA_CURRENT || before.state == SPUR_SCHEMA_OLDER,
            "schema() answers {} about a store that is the checker's", before.state);
    books.migrate();
    books.migrate();
    const auto after = books.schema();
    require(after.state == SPUR_SCHEMA_CURRENT && after.found == after.known,
            "after migrate() schema() answers state {}, found {}, known {}", after.state, after.found, after.known);
    bench.finish();
    return "";
}

std::string stores_and_finds(const Subject& subject) {
    const Fields told{{"user_name", Text{"björn \U0001F680 'o\"reilly\\"}},
                      {"comment", Text(100'000, 'x')},
                      {"tres_allocated", Tres{{"cpu", 4}, {"mem", 1ULL << 40}, {"gres/gpu:a\"100", 2}}},
                      {"end_time", std::int64_t{0}},
                      {"later_number", std::int64_t{INT64_MIN}},
                      {"later_text", Text{"null"}},
                      {"later_real", 0.5},
                      {"later_bytes", RawBytes{Text("\0\xff\x01", 3)}},
                      {"later_tres", Tres{{"cpu", 1}}}};
    Text cluster;
    {
        Kept kept{subject, "alpha"};
        cluster = kept.books.cluster();
        require(kept.books.stored_up_to(1) == 0, "stored_up_to(1) of an unknown stream is not 0");
        auto rows = jobs(1, 20);
        rows[6].fields.insert(told.begin(), told.end());
        kept.books.store(rows, 1, 20);
        require(Books(kept.bench.instance(), "beta").ask(Question{}).rows.empty(),
                "rows of one cluster are found in another");
        kept.bench.finish();
    }
    Kept kept{subject, "alpha"};
    const auto found = kept.books.ask(Question{});
    require(found.rows.size() == 20, "20 jobs were stored, {} are found after reopen", found.rows.size());
    require(kept.books.stored_up_to(1) == 20, "stored_up_to(1) is {} after sequence 20", kept.books.stored_up_to(1));
    require(found.ids() == [] { Ids all(20); for (std::size_t i = 0; i < 20; ++i) all[i] = static_cast<std::int64_t>(i) + 1; return all; }(),
            "without order_by, rows do not come in the order of their keys");
    for (const auto& [name, value] : told) {
        const auto place = found.rows[6].find(name);
        require(place != found.rows[6].end(), "a row had the field {}, which is not found again", name);
        require(place->second == value, "the field {} does not come back as it was stored", name);
    }
    const auto own = found.rows[0].find("cluster");
    require(own != found.rows[0].end() && own->second == FieldValue{cluster}, "rows do not have their cluster");
    const auto narrow = kept.books.ask(Question{.wanted = {"name", "later_text"}}).rows.at(6);
    require(narrow.contains("name") && narrow.contains("later_text") && narrow.contains("job_id") && !narrow.contains("comment"),
            "`wanted` does not give the fields it names and the key, and no other");
    kept.bench.finish();
    return "";
}

std::string idempotent(const Subject& subject) {
    Kept kept{subject, "twice"};
    auto& books = kept.books;
    const auto count = [&] { return books.ask(Question{}).rows.size(); };
    books.store(jobs(1, 10), 1, 10);
    books.store(jobs(1, 10), 1, 10);
    require(count() == 10, "storing 10 jobs twice leaves {}", count());
    auto changed = jobs(5, 12);
    for (auto& row : changed) row.fields["name"] = Text{"repeated"};
    books.store(changed, 5, 12);
    require(count() == 12 && books.ask({{"name", SPUR_TEST_EQUAL, {Text{"repeated"}}}}).rows.size() == 2,
            "a batch that is stored in part has changed what was there");
    books.store(jobs(31, 40), 31, 40);
    require(books.stored_up_to(1) == 12 && books.stored_up_to(20) == 19 && books.stored_up_to(31) == 40,
            "stored_up_to() does not tell the gap from 13 to 30");
    books.store(jobs(13, 30), 13, 30);
    require(count() == 40 && books.stored_up_to(1) == 40, "a gap that was filled later is not closed");
    books.store({}, 41, 50);
    require(books.stored_up_to(1) == 50, "a batch without rows does not count");
    books.store(jobs(1, 3), 1, 3, "s2");
    require(books.stored_up_to(1, "s2") == 3 && books.stored_up_to(1) == 50, "streams are not told apart");
    kept.bench.finish();
    return "";
}

std::string merges(const Subject& subject) {
    Kept kept{subject, "merge"};
    auto& books = kept.books;
    const auto field = [&](const char* name) { return books.ask(Question{}).rows.at(0)[name]; };
    books.store({job_row(1, 5, "second", {{"user_name", Text{"ann"}}, {"state", Text{"RUNNING"}}, {"later", Text{"five"}}})}, 5, 5);
    books.store({job_row(1, 2, "first", {{"account", Text{"physics"}}, {"state", Text{"PENDING"}}, {"later", Text{"two"}}})}, 2, 2);
    require(field("state") == FieldValue{Text{"RUNNING"}} && field("later") == FieldValue{Text{"five"}},
            "a value with a lower sequence took the place of one with a higher");
    require(field("account") == FieldValue{Text{"physics"}}, "what only the earlier row had is lost");
    books.store({job_row(1, 7, "third", {{"state", Nothing{}}}), job_row(1, 9, "last", {{"later_too", std::int64_t{9}}}),
                 job_row(1, 8, "fourth", {{"account", Text{"biology"}}})},
                7, 9);
    require(books.ask(Question{}).rows.size() == 1, "rows with the same key in one batch became several");
    require(field("name") == FieldValue{Text{"last"}} && field("account") == FieldValue{Text{"biology"}} &&
                field("state") == FieldValue{Text{"RUNNING"}} && field("user_name") == FieldValue{Text{"ann"}},
            "rows with the same key in one batch do not merge by their sequence");
    require(field("later") == FieldValue{Text{"five"}} && field("later_too") == FieldValue{std::int64_t{9}},
            "fields without a column do not merge by name");
    auto again = job_row(1, 0);
    again.fields["attempt"] = std::int64_t{2};
    books.store({again}, 0, 0);
    require(books.ask(Question{}).rows.size() == 2, "another attempt is not another row");
    again.removed = true;
    books.store({again}, 0, 0);
    require(books.ask(Question{}).rows.size() == 1 && books.ask(Question{.with_removed = true}).rows.size() == 2,
            "a removed row is not hidden, or not kept");
    kept.bench.finish();
    return "";
}

std::string names_poison(const Subject& subject) {
    Kept kept{subject, "poison"};
    auto& books = kept.books;
    auto keyless = job_row(2, 2);
    keyless.fields.erase("submit_time");
    auto of_no_table = job_row(4, 4);
    of_no_table.table = 987654;
    const std::vector<RowData> rows{job_row(1, 1), keyless, job_row(3, 3, Text("a\0b", 3)), of_no_table,
                                    job_row(5, 5, "\xff\xfe"), job_row(6, 6, "good", {{"uid", Text{"no number"}}}),
                                    job_row(7, 7)};
    const auto result = books.try_store(rows, 1, 7);
    require(result.status == SPUR_STORE_POISON, "a batch with rows that can never be stored is answered with {}, not SPUR_STORE_POISON",
            result.status);
    for (const auto row : {1U, 2U, 3U, 4U, 5U})
        require(result.poison.contains(row) && !result.poison.at(row).empty(), "row {} of the batch is not named as poison, with a reason", row);
    require(result.poison.size() == 5, "rows that can be stored are named as poison");
    require(books.ask(Question{}).rows.empty() && books.stored_up_to(1) == 0, "a batch that was not stored left something behind");
    books.store({rows[0], rows[6]}, 1, 7);
    require(books.ask(Question{}).ids() == Ids{1, 7} && books.stored_up_to(1) == 7, "the rest does not go in without them");
    kept.bench.finish();
    return "";
}

std::string conditions(const Subject& subject) {
    Kept kept{subject, "ask"};
    auto& books = kept.books;
    std::vector<RowData> rows;
    for (const std::int64_t id : {3, 1, 5, 2, 4}) {
        auto row = job_row(id, static_cast<std::uint64_t>(id), id % 2 == 0 ? "even" : "odd'; drop table spurdb_job; --");
        row.fields["flags"] = id;
        row.fields["nodes"] = "n[" + std::to_string(id) + "-" + std::to_string(id + 1) + "],gpu" + std::to_string(id);
        row.fields["later"] = "later" + std::to_string(id);
        if (id != 2) row.fields["start_time"] = id * 100;
        if (id != 5 && id != 2) row.fields["end_time"] = id * 100 + 50;
        rows.push_back(row);
    }
    books.store(rows, 1, 5);
    const auto where = [&](std::vector<Test> tests) { return sorted(books.ask(std::move(tests)).ids()); };
    const auto n = [](std::int64_t value) { return FieldValue{value}; };
    struct Expected {
        const char* what;
        std::vector<Test> tests;
        Ids ids;
    };
    const std::vector<Expected> all{
        {"SPUR_TEST_EQUAL", {{"job_id", SPUR_TEST_EQUAL, {n(3)}}}, {3}},
        {"a negated SPUR_TEST_EQUAL", {{"job_id", SPUR_TEST_EQUAL, {n(3)}, 1}}, {1, 2, 4, 5}},
        {"a negated test of a field that is null", {{"start_time", SPUR_TEST_EQUAL, {n(100)}, 1}}, {2, 3, 4, 5}},
        {"SPUR_TEST_IN", {{"job_id", SPUR_TEST_IN, {n(1), n(5), n(9)}}}, {1, 5}},
        {"SPUR_TEST_IN without values", {{"job_id", SPUR_TEST_IN, {}}}, {}},
        {"SPUR_TEST_AT_LEAST", {{"job_id", SPUR_TEST_AT_LEAST, {n(4)}}}, {4, 5}},
        {"SPUR_TEST_BELOW", {{"job_id", SPUR_TEST_BELOW, {n(2)}}}, {1}},
        {"SPUR_TEST_LIKE", {{"name", SPUR_TEST_LIKE, {Text{"_ve%"}}}}, {2, 4}},
        {"SPUR_TEST_LIKE in another case", {{"name", SPUR_TEST_LIKE, {Text{"EVEN"}}}}, {}},
        {"SPUR_TEST_OVERLAPS", {{"", SPUR_TEST_OVERLAPS, {n(150), n(301)}}}, {1, 3}},
        {"SPUR_TEST_OVERLAPS of what has not ended", {{"", SPUR_TEST_OVERLAPS, {n(9000), n(9001)}}}, {5}},
        {"SPUR_TEST_HOSTS", {{"nodes", SPUR_TEST_HOSTS, {Text{"n[3,9],gpu5"}}}}, {2, 3, 5}},
        {"a negated SPUR_TEST_HOSTS", {{"nodes", SPUR_TEST_HOSTS, {Text{"n3"}}, 1}}, {1, 4, 5}},
        {"SPUR_TEST_BITS_ALL", {{"flags", SPUR_TEST_BITS_ALL, {n(5)}}}, {5}},
        {"SPUR_TEST_BITS_ANY", {{"flags", SPUR_TEST_BITS_ANY, {n(6)}}}, {2, 3, 4, 5}},
        {"SPUR_TEST_NULL", {{"end_time", SPUR_TEST_NULL, {}}}, {2, 5}},
        {"a negated SPUR_TEST_NULL", {{"end_time", SPUR_TEST_NULL, {}, 1}}, {1, 3, 4}},
        {"two conditions", {{"job_id", SPUR_TEST_AT_LEAST, {n(2)}}, {"name", SPUR_TEST_EQUAL, {Text{"even"}}}}, {2, 4}},
        {"two groups", {{"job_id", SPUR_TEST_EQUAL, {n(1)}, 0, 1}, {"job_id", SPUR_TEST_EQUAL, {n(4)}, 0, 1},
                        {"end_time", SPUR_TEST_NULL, {}, 0, 2}, {"start_time", SPUR_TEST_BELOW, {n(200)}, 0, 2}}, {1}},
        {"a field without a column", {{"later", SPUR_TEST_EQUAL, {Text{"later4"}}}}, {4}},
        {"a field that is nowhere", {{"nowhere\" OR 1=1 --", SPUR_TEST_EQUAL, {Text{"x"}}}}, {}},
        {"a number compared with a text", {{"job_id", SPUR_TEST_EQUAL, {Text{"x' or 1=1; --"}}}}, {}},
        {"a text with quotes in it", {{"name", SPUR_TEST_EQUAL, {Text{"odd'; drop table spurdb_job; --"}}}}, {1, 3, 5}},
    };
    for (const auto& [what, tests, ids] : all) require(where(tests) == ids, "{} finds the wrong rows", what);
    kept.bench.finish();
    return "";
}

std::string sums(const Subject& subject) {
    Kept kept{subject, "sums"};
    std::vector<RowData> rows;
    for (std::int64_t id = 1; id <= 10; ++id)
        rows.push_back(job_row(id, static_cast<std::uint64_t>(id), "x",
                               {{"account", Text{id <= 4 ? "a" : "b"}}, {"cpus", id},
                                {"tres_allocated", Tres{{"cpu", static_cast<std::uint64_t>(id) * 10}, {"gres/gpu:a\"1", 1}}}}));
    kept.books.store(rows, 1, 10);
    const auto found = kept.books.ask(Question{.tests = {{"job_id", SPUR_TEST_BELOW, {std::int64_t{10}}}},
                                               .groups = {"account"},
                                               .sums = {{SPUR_SUM_COUNT, "", "", "jobs"},
                                                        {SPUR_SUM_TOTAL, "cpus", "", "cpus"},
                                                        {SPUR_SUM_LEAST, "job_id", "", "first"},
                                                        {SPUR_SUM_MOST, "job_id", "", "last"},
                                                        {SPUR_SUM_TOTAL, "tres_allocated", "cpu", "cpu_total"},
                                                        {SPUR_SUM_TOTAL, "tres_allocated", "gres/gpu:a\"1", "gpus"}}});
    const auto row = [](const char* account, std::int64_t jobs, std::int64_t cpus, std::int64_t first, std::int64_t last) {
        return Fields{{"account", Text{account}}, {"jobs", jobs}, {"cpus", cpus}, {"first", first},
                      {"last", last}, {"cpu_total", cpus * 10}, {"gpus", jobs}};
    };
    require(found.rows == std::vector{row("a", 4, 10, 1, 4), row("b", 5, 35, 5, 9)}, "groups and sums are wrong");
    const auto total = kept.books.ask(Question{.sums = {{SPUR_SUM_COUNT, "", "", "jobs"}}});
    require(total.rows == std::vector{Fields{{"jobs", std::int64_t{10}}}}, "a sum over all rows is wrong");
    kept.bench.finish();
    return "";
}

std::string pages(const Subject& subject) {
    Kept kept{subject, "pages"};
    auto& books = kept.books;
    std::vector<RowData> rows;
    for (std::int64_t id = 1; id <= 25; ++id) {
        rows.push_back(job_row(id, static_cast<std::uint64_t>(id), "name" + std::to_string(id % 3)));
        if (id % 5 != 0) rows.back().fields["end_time"] = id % 4;
    }
    books.store(rows, 1, 25);
    std::int64_t extra = 100;
    for (const Text order : {"", "-job_id", "end_time", "-end_time", "name", "-name"}) {
        Ids seen;
        Question question{.tests = {{"job_id", SPUR_TEST_BELOW, {std::int64_t{100}}}}, .order_by = order, .limit = 7};
        do {
            const auto page = books.ask(question);
            require(page.rows.size() <= 7, "more rows than `limit`");
            for (const auto id : page.ids()) seen.push_back(id);
            question.after = page.cursor;
            books.store({job_row(++extra, 0, "meanwhile")}, 0, 0);
        } while (!question.after.empty() && seen.size() < 100);
        question.after.clear();
        question.limit = 0;
        require(seen == books.ask(question).ids(), "going through pages by \"{}\" gives other rows than the whole", order);
        require(sorted(seen).size() == 25, "pages by \"{}\" have {} rows, not 25", order, seen.size());
    }
    require(books.ask(Question{.tests = {{"job_id", SPUR_TEST_BELOW, {std::int64_t{100}}}}, .order_by = "-job_id", .limit = 2}).ids() == Ids{25, 24},
            "order_by \"-job_id\" with limit 2 finds the wrong rows");
    kept.bench.finish();
    return "";
}

// ---- purging -------------------------------------------------------------------------------------------------------

struct Archive {
    std::vector<Fields> rows;
    spur_status durable = SPUR_OK;
    std::size_t asked = 0;
    spur_archive table{sizeof(spur_archive), 0, this,
                       [](const spur_archive* self, spur_str, const spur_row* row) -> spur_status {
                           static_cast<Archive*>(self->context)->rows.push_back(read_fields(row->fields));
                           return SPUR_OK;
                       },
                       [](const spur_archive* self) -> spur_status {
                           auto& own = *static_cast<Archive*>(self->context);
                           ++own.asked;
                           return own.durable;
                       }};
};

std::string purges(const Subject& subject) {
    Kept kept{subject, "purge"};
    auto& books = kept.books;
    const auto& ops = accounting_ops(books.instance());
    if (!SPUR_CAN(spur_accounting_ops, &ops, purge)) skip("it has no purge()");
    std::vector<RowData> rows;
    for (std::int64_t id = 1; id <= 10; ++id) {
        rows.push_back(job_row(id, static_cast<std::uint64_t>(id), "x", {{"later", Text{"kept"}}}));
        if (id != 2) rows.back().fields["end_time"] = id * 100;
    }
    books.store(rows, 1, 10);
    const StopSign stop;
    const auto purge = [&](Archive& archive) {
        ErrorBox err;
        doing("in purge()");
        return ops.purge(books.instance().self(), plugin::str(books.cluster()), SPUR_ROW_JOB, 500, &archive.table, stop.get(), err.get());
    };
    Archive full;
    full.durable = SPUR_E_IO;
    require(purge(full) == SPUR_E_IO, "purge() does not return what durable() answered");
    require(books.ask(Question{}).rows.size() == 10, "rows were purged although their archive is not durable");
    Archive archive;
    require(purge(archive) == SPUR_OK, "purge() failed");
    require(sorted(books.ask(Question{}).ids()) == Ids{2, 5, 6, 7, 8, 9, 10}, "purge() took the wrong rows");
    require(archive.rows.size() == 3 && archive.asked > 0, "3 rows were purged, {} archived, durable() asked {} times", archive.rows.size(), archive.asked);
    for (auto& row : archive.rows) require(row["later"] == FieldValue{Text{"kept"}}, "an archived row lacks a field");
    books.store({rows[0]}, 1, 1);
    require(books.ask(Question{}).rows.size() == 7, "what was purged came back by a repeat");
    kept.bench.finish();
    return "";
}

std::string stops(const Subject& subject) {
    Kept kept{subject, "stop"};
    kept.books.store(jobs(1, 3), 1, 3);
    const StopSign stop{true};
    ErrorBox err;
    spur_query query{};
    query.size = sizeof query;
    query.table = SPUR_ROW_JOB;
    const spur_row_sink sink{sizeof(spur_row_sink), 0, nullptr, [](const spur_row_sink*, const spur_row*) -> spur_status { return SPUR_OK; },
                             [](const spur_row_sink*, spur_str) -> spur_status { return SPUR_OK; }};
    doing("in query(), stopped");
    const auto status = accounting_ops(kept.bench.instance()).query(kept.bench.self(), &query, &sink, stop.get(), err.get());
    require(status == SPUR_OK || status == SPUR_E_STOPPED, "a stopped query() answers {}", status);
    require(kept.books.ask(Question{}).rows.size() == 3, "after a stopped query() the next one finds something else");
    kept.bench.finish();
    return status == SPUR_OK ? "a short query is finished" : "";
}

std::string overlapping(const Subject& subject) {
    Kept kept{subject, "threads"};
    auto& books = kept.books;
    constexpr int threads = 4, batches = 10, size = 5;
    std::vector<std::string> failures(threads);
    {
        std::vector<std::jthread> workers;
        for (int t = 0; t < threads; ++t)
            workers.emplace_back([&, t] {
                try {
                    for (int i = 0; i < batches; ++i) {
                        const auto first = (std::int64_t{t} * batches + i) * size + 1;
                        books.store(jobs(first, first + size - 1), static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(first + size - 1));
                        books.ask({{"job_id", SPUR_TEST_EQUAL, {first}}});
                    }
                } catch (const Failed& failed) {
                    failures[static_cast<std::size_t>(t)] = failed.text;
                }
            });
    }
    for (const auto& failure : failures) require(failure.empty(), "calls that overlap: {}", failure);
    const auto found = books.ask(Question{}).rows.size();
    require(found == threads * batches * size, "{} rows stored by {} threads, {} found", threads * batches * size, threads, found);
    require(books.stored_up_to(1) == threads * batches * size, "stored_up_to(1) is {} after {} numbers", books.stored_up_to(1), threads * batches * size);
    kept.bench.finish();
    return "";
}

constexpr RequiredOp required[] = {{"schema", offsetof(spur_accounting_ops, schema)},
                                   {"migrate", offsetof(spur_accounting_ops, migrate)},
                                   {"store", offsetof(spur_accounting_ops, store)},
                                   {"stored_up_to", offsetof(spur_accounting_ops, stored_up_to)},
                                   {"query", offsetof(spur_accounting_ops, query)}};
constexpr Case laws[] = {
    {"migrate", "migrate() makes the schema current, and twice changes nothing", &migrates},
    {"store-find", "a stored row is found after reopen, with every field it had", &stores_and_finds},
    {"store-twice", "storing twice equals storing once, and gaps are told", &idempotent},
    {"merge", "rows with the same key merge by their sequence, whatever the order", &merges},
    {"poison", "rows that can never be stored are named, nothing is stored, and the rest goes in without them", &names_poison},
    {"conditions", "queries find what their conditions say, whatever is in the texts", &conditions},
    {"sums", "groups and sums", &sums},
    {"pages", "order, limit and cursors: nothing twice, nothing left out", &pages},
    {"purge", "nothing is purged that was not archived durably", &purges},
    {"stop", "a stopped call gives up or is done, and leaves the store as it was", &stops},
    {"overlap", "calls may overlap", &overlapping},
};

}  // namespace

extern const Axis accounting_axis;
const Axis accounting_axis{"accounting", "spurdbd", SPUR_ACCOUNTING_IFACE, first_size<spur_accounting_ops>, required,
                           laws,         &exercise};

}  // namespace spur::check
