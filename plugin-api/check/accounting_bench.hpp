// What the laws of spur.accounting/1 work with: rows and batches as spurdbd makes them, and what a query found.
#pragma once

#include "case.hpp"
#include "instance.hpp"

#include <spur/plugin/draft/accounting.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace spur::check {

inline const spur_accounting_ops& accounting_ops(Instance& instance) {
    return instance.ops<spur_accounting_ops>(SPUR_ACCOUNTING_IFACE);
}

// A stop that the case decides on.
class StopSign {
public:
    explicit StopSign(bool stopped = false)
        : stopped_{stopped}, table_{sizeof(spur_stop), -1, INT64_MAX, this, [](const spur_stop* stop) -> std::uint32_t {
                                        return static_cast<const StopSign*>(stop->context)->stopped_ ? 1 : 0;
                                    }} {}
    StopSign(const StopSign&) = delete;
    StopSign& operator=(const StopSign&) = delete;
    const spur_stop* get() const { return &table_; }

private:
    bool stopped_;
    spur_stop table_;
};

using Tres = std::map<std::string, std::uint64_t>;
struct RawBytes {
    std::string data;
    bool operator==(const RawBytes&) const = default;
};
struct Nothing {
    bool operator==(const Nothing&) const = default;
};
using FieldValue = std::variant<Nothing, std::int64_t, double, std::string, RawBytes, Tres>;
using Fields = std::map<std::string, FieldValue>;

struct RowData {
    std::uint32_t table = SPUR_ROW_JOB;
    std::uint64_t sequence = 0;
    Fields fields;
    bool removed = false;
};
// A job row: the key, and a name.
RowData job_row(std::int64_t id, std::uint64_t sequence, std::string name = "job", Fields more = {});

// Values laid out as the boundary wants them; what is handed out lives as long as this.
class RowMemory {
public:
    explicit RowMemory(Shape shape = {}) : memory_{shape} {}
    spur_field field(const std::string& name, const FieldValue& value);
    spur_span rows(const std::vector<RowData>& rows);
    spur_span fields(const std::vector<FieldValue>& values);  // without names, as conditions have them
    Memory& memory() { return memory_; }

private:
    Memory memory_;
};

struct StoreResult {
    spur_status status{};
    std::map<std::uint32_t, std::string> poison;  // row: why
    std::string sentence;
};

struct Test {
    std::string name;
    std::uint32_t test{};
    std::vector<FieldValue> values;
    std::uint32_t negate = 0;
    std::uint32_t group = 0;
};
struct Sum {
    std::uint32_t kind;
    std::string field, tres, as;
};
struct Question {
    std::uint32_t table = SPUR_ROW_JOB;
    std::vector<Test> tests{};
    std::vector<std::string> wanted{}, groups{};
    std::vector<Sum> sums{};
    std::string order_by{}, after{};
    std::uint32_t limit = 0;
    bool with_removed = false;
};
struct Found {
    std::vector<Fields> rows;
    std::string cursor;  // empty: that was all
    std::vector<std::int64_t> ids() const;  // of jobs, in the order they came
};

// One instance and one cluster of its own: stores that are shared with others find only what this case put there.
class Books {
public:
    Books(Instance& instance, const std::string& cluster, Shape shape = {})
        : instance_{instance}, cluster_{cluster + "-" + std::to_string(getpid())}, shape_{shape} {}

    spur_schema schema();
    void migrate();
    StoreResult try_store(const std::vector<RowData>& rows, std::uint64_t first, std::uint64_t last,
                          const std::string& stream = "s1");
    void store(const std::vector<RowData>& rows, std::uint64_t first, std::uint64_t last, const std::string& stream = "s1");
    std::uint64_t stored_up_to(std::uint64_t from, const std::string& stream = "s1");
    Found ask(const Question& question);
    Found ask(std::vector<Test> tests) { return ask(Question{.tests = std::move(tests)}); }
    const std::string& cluster() const { return cluster_; }
    bool discards() const { return (accounting_ops(instance_).features & SPUR_ACCOUNTING_DISCARDS) != 0; }
    Instance& instance() { return instance_; }

private:
    Instance& instance_;
    std::string cluster_;
    Shape shape_;
};

Fields read_fields(spur_span fields);

}  // namespace spur::check
