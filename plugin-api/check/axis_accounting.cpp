// The laws of spur.accounting/1.
#include "case.hpp"
#include "instance.hpp"

#include <spur/plugin/draft/accounting.h>

#include <algorithm>
#include <set>

namespace spur::check {
namespace {

using plugin::Records;
using plugin::str;
using plugin::view;

const spur_accounting_ops& ops_of(Instance& instance) {
    return instance.ops<spur_accounting_ops>(SPUR_ACCOUNTING_IFACE);
}

spur_field number(const char* name, std::int64_t value) { return {name, SPUR_FIELD_INT, 0, value, 0, {}}; }
spur_field text(const char* name, std::string_view value) { return {name, SPUR_FIELD_TEXT, 0, 0, 0, str(value)}; }

// Job rows as the controller sends them, each with its own fields.
class Rows {
public:
    explicit Rows(Shape shape = {}) : memory_(shape) {}
    void add_job(std::int64_t id, std::uint64_t sequence, std::string_view name, std::uint32_t table = SPUR_ROW_JOB) {
        const auto fields =
            memory_.span(std::vector<spur_field>{number("job_id", id), number("submit_time", 1'700'000'000 + id),
                                                 text("name", name), text("a_field_of_a_later_release", "x")});
        rows_.push_back({table, 0, sequence, fields});
    }
    spur_span get() { return memory_.span(rows_); }

private:
    Memory memory_;
    std::vector<spur_row> rows_;
};

void migrate(Instance& instance) {
    ErrorBox err;
    doing("in migrate()");
    expect_ok("migrate()", ops_of(instance).migrate(instance.self(), err.get()), err);
}

spur_status store(Instance& instance, std::string_view cluster, Rows& rows, ErrorBox& err) {
    doing("in store()");
    return ops_of(instance).store(instance.self(), str(cluster), rows.get(), err.get());
}
void store(Instance& instance, std::string_view cluster, Rows& rows) {
    ErrorBox err;
    expect_ok("store()", store(instance, cluster, rows, err), err);
}

std::uint64_t stored_up_to(Instance& instance, std::string_view cluster) {
    std::uint64_t sequence = UINT64_MAX;
    ErrorBox err;
    doing("in stored_up_to()");
    expect_ok("stored_up_to()", ops_of(instance).stored_up_to(instance.self(), str(cluster), &sequence, err.get()),
              err);
    return sequence;
}

// Ids of the jobs a query finds, in the order they come.
std::vector<std::int64_t> find_jobs(Instance& instance, std::string_view cluster,
                                    std::vector<spur_condition> conditions = {}, const char* order_by = nullptr,
                                    std::uint32_t limit = 0) {
    std::vector<std::int64_t> ids;
    const spur_row_sink sink{
        sizeof(spur_row_sink), 0, &ids, [](const spur_row_sink* table, const spur_row* row) -> spur_status {
            for (const auto& field : Records<spur_field>(row->fields))
                if (field.name != nullptr && std::string_view(field.name) == "job_id")
                    static_cast<std::vector<std::int64_t>*>(table->context)->push_back(field.integer);
            return SPUR_OK;
        }};
    spur_query query{};
    query.size = sizeof query;
    query.table = SPUR_ROW_JOB;
    query.conditions = plugin::span_of(conditions);
    query.order_by = order_by;
    query.limit = limit;
    ErrorBox err;
    doing("in query()");
    expect_ok("query()", ops_of(instance).query(instance.self(), str(cluster), &query, &sink, err.get()), err);
    return ids;
}

bool discards(Instance& instance) { return (ops_of(instance).features & SPUR_ACCOUNTING_DISCARDS) != 0; }
void skip_if_discarding(Instance& instance) {
    if (discards(instance)) skip("it says SPUR_ACCOUNTING_DISCARDS: it keeps no rows");
}

void exercise(const Subject&, Instance& instance, const Shape& shape) {
    migrate(instance);
    Rows rows(shape);
    for (int i = 1; i <= 5; ++i) rows.add_job(i, static_cast<std::uint64_t>(i), "exercise");
    store(instance, "shapes", rows);
    stored_up_to(instance, "shapes");
    const auto found = find_jobs(instance, "shapes");
    require(discards(instance) || found.size() == 5, "5 jobs were stored, a query finds {}", found.size());
}

std::string stores_and_finds(const Subject& subject) {
    {
        Bench bench(subject);
        skip_if_discarding(bench.instance());
        migrate(bench.instance());
        require(stored_up_to(bench.instance(), "alpha") == 0, "stored_up_to() of an unknown cluster is not 0");
        Rows rows;
        for (int i = 1; i <= 20; ++i) rows.add_job(i, static_cast<std::uint64_t>(i), "job");
        store(bench.instance(), "alpha", rows);
        require(find_jobs(bench.instance(), "beta").empty(), "rows of one cluster are found in another");
        bench.finish();
    }
    Bench bench(subject);
    migrate(bench.instance());  // twice: changes nothing
    require(find_jobs(bench.instance(), "alpha").size() == 20, "20 jobs were stored, {} are found after reopen",
            find_jobs(bench.instance(), "alpha").size());
    require(stored_up_to(bench.instance(), "alpha") == 20, "stored_up_to() is {} after sequence 20",
            stored_up_to(bench.instance(), "alpha"));
    bench.finish();
    return "";
}

std::string idempotent(const Subject& subject) {
    Bench bench(subject);
    skip_if_discarding(bench.instance());
    migrate(bench.instance());
    Rows rows;
    for (int i = 1; i <= 10; ++i) rows.add_job(i, static_cast<std::uint64_t>(i), "again");
    store(bench.instance(), "twice", rows);
    store(bench.instance(), "twice", rows);
    require(find_jobs(bench.instance(), "twice").size() == 10, "storing 10 jobs twice leaves {}",
            find_jobs(bench.instance(), "twice").size());
    require(stored_up_to(bench.instance(), "twice") == 10, "storing twice changes stored_up_to()");
    bench.finish();
    return "";
}

std::string all_or_nothing(const Subject& subject) {
    Bench bench(subject);
    skip_if_discarding(bench.instance());
    migrate(bench.instance());
    Rows rows;
    rows.add_job(1, 1, "good");
    rows.add_job(2, 2, "of no table", 987654);
    rows.add_job(3, 3, "good");
    ErrorBox err;
    const auto status = store(bench.instance(), "atomic", rows, err);
    const auto found = find_jobs(bench.instance(), "atomic").size();
    if (status == SPUR_OK) {
        require(found == 2, "a batch was stored, leaving out a row of an unknown table, and {} of 2 jobs are found",
                found);
    } else {
        sentence_of("store()", status, err);
        require(found == 0, "a failed batch left {} of its rows behind", found);
        require(stored_up_to(bench.instance(), "atomic") == 0, "a failed batch moved stored_up_to()");
    }
    bench.finish();
    return status == SPUR_OK ? "rows of unknown tables are left out" : "a row of an unknown table fails its batch";
}

std::string queries(const Subject& subject) {
    Bench bench(subject);
    skip_if_discarding(bench.instance());
    migrate(bench.instance());
    Rows rows;
    for (const auto id : {3, 1, 5, 2, 4})
        rows.add_job(id, static_cast<std::uint64_t>(id), id % 2 == 0 ? "even" : "odd'; drop table jobs; --");
    store(bench.instance(), "ask", rows);
    const auto where = [&](const char* name, std::uint32_t test, std::vector<spur_field> values,
                           std::uint32_t negate = 0) {
        auto found = find_jobs(bench.instance(), "ask", {{name, test, negate, plugin::span_of(values)}});
        std::ranges::sort(found);
        return found;
    };
    using Ids = std::vector<std::int64_t>;
    require(where("job_id", SPUR_TEST_EQUAL, {number("", 3)}) == Ids{3}, "SPUR_TEST_EQUAL finds the wrong rows");
    require(where("job_id", SPUR_TEST_EQUAL, {number("", 3)}, 1) == Ids{1, 2, 4, 5},
            "a negated SPUR_TEST_EQUAL finds the wrong rows");
    require(where("job_id", SPUR_TEST_IN, {number("", 1), number("", 5), number("", 9)}) == Ids{1, 5},
            "SPUR_TEST_IN finds the wrong rows");
    require(where("job_id", SPUR_TEST_AT_LEAST, {number("", 4)}) == Ids{4, 5},
            "SPUR_TEST_AT_LEAST finds the wrong rows");
    require(where("job_id", SPUR_TEST_BELOW, {number("", 2)}) == Ids{1}, "SPUR_TEST_BELOW finds the wrong rows");
    require(find_jobs(bench.instance(), "ask", {}, "-job_id", 2) == Ids{5, 4},
            "order_by \"-job_id\" with limit 2 finds the wrong rows");
    require(where("job_id", SPUR_TEST_EQUAL, {text("", "x' or 1=1; --")}).empty(),
            "a text with quotes in it finds rows");
    bench.finish();
    return "";
}

constexpr RequiredOp required[] = {{"migrate", offsetof(spur_accounting_ops, migrate)},
                                   {"store", offsetof(spur_accounting_ops, store)},
                                   {"stored_up_to", offsetof(spur_accounting_ops, stored_up_to)},
                                   {"query", offsetof(spur_accounting_ops, query)}};
constexpr Case laws[] = {
    {"store-find", "a stored row is found after reopen; migrate() twice changes nothing", &stores_and_finds},
    {"store-twice", "storing twice equals storing once", &idempotent},
    {"all-or-nothing", "a failed batch leaves nothing of itself", &all_or_nothing},
    {"query", "queries find what their conditions say, in the order asked for", &queries},
};

}  // namespace

extern const Axis accounting_axis;
const Axis accounting_axis{"accounting", "spurdbd", SPUR_ACCOUNTING_IFACE, first_size<spur_accounting_ops>, required,
                           laws,         &exercise};

}  // namespace spur::check
