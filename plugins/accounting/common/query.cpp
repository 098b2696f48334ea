// Building statements.
#include "plugins/accounting/common/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "plugins/accounting/common/row.hpp"
#include "plugins/accounting/common/schema.hpp"

namespace spur::accounting {
namespace {

using nlohmann::json;
using plugin::Records;
using plugin::view;

[[noreturn]] void refuse(std::string text) { throw Failure(SPUR_E_UNSUPPORTED, std::move(text)); }

class Builder {
public:
    Builder(const spur_query& query, const Dialect& dialect) : query_{query}, dialect_{dialect} {
        table_ = find_table(query.table);
        if (table_ == nullptr) throw Failure(SPUR_E_INVALID, fmt::format("there is no table {}", query.table));
        groups_ = query.sums.count != 0 || query.groups.count != 0;
    }

    Statement build() {
        auto& out = result_;
        out.has_cursor = !groups_;
        out.limit = query_.limit;
        add_conditions();
        if (groups_)
            select_groups();
        else
            select_rows();
        std::string sql = "SELECT ";
        for (std::size_t i = 0; i < selected_.size(); ++i) sql += (i ? ", " : "") + selected_[i];
        sql += fmt::format(" FROM {}", table_name(*table_));
        for (std::size_t i = 0; i < where_.size(); ++i) sql += (i ? " AND " : " WHERE ") + where_[i];
        sql += tail_;
        // One more than asked for tells whether there are more.
        if (query_.limit != 0 && out.host_tests.empty()) sql += fmt::format(" LIMIT {}", std::uint64_t{query_.limit} + 1);
        out.sql = std::move(sql);
        for (const auto& column : out.results) out.kinds.push_back(column.kind);
        return std::move(out);
    }

private:
    std::string parameter(Value value) {
        result_.parameters.push_back(std::move(value));
        return fmt::format("{}{}", dialect_.placeholder, result_.parameters.size());
    }

    // A column of the database, or nothing: then it is in the remainder.
    struct Found {
        std::string sql;
        Kind kind;
        bool is_column;
    };
    Found find(std::string_view name) {
        if (name == "cluster") return {"cluster", Kind::text, true};
        if (const auto* const column = table_->find(name)) return {quoted(name), column->kind, true};
        return {dialect_.json_text("more", parameter(dialect_.json_key(name))), Kind::text, false};
    }

    // The value as a column of that kind has it; nothing where it is of another kind.
    static std::optional<Value> comparable(const spur_field& value, const Found& field) {
        const bool is_number = field.kind == Kind::integer || field.kind == Kind::time;
        if (!field.is_column && value.kind == SPUR_FIELD_INT) return Value{std::to_string(value.integer)};
        if (is_number && value.kind == SPUR_FIELD_INT) return Value{value.integer};
        if (field.kind == Kind::real && value.kind == SPUR_FIELD_REAL) return Value{value.real};
        if (field.kind == Kind::real && value.kind == SPUR_FIELD_INT) return Value{static_cast<double>(value.integer)};
        if (field.kind == Kind::bytes && value.kind == SPUR_FIELD_BYTES) return Value{Bytes{std::string{view(value.text)}}};
        if (field.kind == Kind::text && value.kind == SPUR_FIELD_TEXT && is_clean_text(view(value.text)))
            return Value{std::string{view(value.text)}};
        return std::nullopt;
    }

    const spur_field& only_value(const spur_condition& condition) const {
        if (condition.values.count == 0)
            throw Failure(SPUR_E_INVALID, fmt::format("a test of {} has no value", condition.name));
        return *SPUR_AT(spur_field, condition.values, 0);
    }

    std::string compare(const spur_condition& condition, const Found& field, const char* form) {
        const auto value = comparable(only_value(condition), field);
        if (!value) return std::string{dialect_.no_such_rows};
        return fmt::format(fmt::runtime(form), field.sql, parameter(*value));
    }

    std::string is_in(const spur_condition& condition, const Found& field) {
        std::string list;
        for (const auto& value : Records<spur_field>(condition.values))
            if (auto one = comparable(value, field)) list += (list.empty() ? "" : ", ") + parameter(std::move(*one));
        return list.empty() ? std::string{dialect_.no_such_rows} : fmt::format("{} IN ({})", field.sql, list);
    }

    std::string overlaps(const spur_condition& condition) {
        if (condition.values.count < 2 || !table_->has_end() || table_->find("start_time") == nullptr)
            throw Failure(SPUR_E_INVALID, "SPUR_TEST_OVERLAPS needs two values, and a table with start_time and end_time");
        const auto from = parameter(SPUR_AT(spur_field, condition.values, 0)->integer);
        const auto to = parameter(SPUR_AT(spur_field, condition.values, 1)->integer);
        return fmt::format("(start_time < {} AND (end_time >= {} OR end_time IS NULL))", to, from);
    }

    std::string test(const spur_condition& condition) {
        if (condition.test == SPUR_TEST_OVERLAPS) return overlaps(condition);
        if (condition.name == nullptr) throw Failure(SPUR_E_INVALID, "a condition has no name");
        const auto field = find(condition.name);
        const bool needs_column = condition.test != SPUR_TEST_EQUAL && condition.test != SPUR_TEST_IN &&
                                  condition.test != SPUR_TEST_LIKE && condition.test != SPUR_TEST_NULL;
        if (needs_column && !field.is_column)
            refuse(fmt::format("{} has no column of its own: it can be compared, and no more", condition.name));
        switch (condition.test) {
            case SPUR_TEST_EQUAL:
                return compare(condition, field, "{} = {}");
            case SPUR_TEST_IN:
                return is_in(condition, field);
            case SPUR_TEST_AT_LEAST:
                return compare(condition, field, "{} >= {}");
            case SPUR_TEST_BELOW:
                return compare(condition, field, "{} < {}");
            case SPUR_TEST_LIKE:
                return compare(condition, field, "{} LIKE {} ESCAPE '\\'");
            case SPUR_TEST_BITS_ALL:
                return compare(condition, field, "({0} & {1}) = {1}");
            case SPUR_TEST_BITS_ANY:
                return compare(condition, field, "({} & {}) <> 0");
            case SPUR_TEST_NULL:
                return fmt::format("{} IS NULL", field.sql);
            default:
                refuse(fmt::format("test {} of {} is not known to this release", condition.test, condition.name));
        }
    }

    void add_host_test(const spur_condition& condition) {
        const auto field = find(condition.name);
        if (condition.group != 0 || groups_ || !field.is_column || field.kind != Kind::text)
            refuse(fmt::format("hosts of {} can be asked for only by themselves, and not in groups", condition.name));
        auto hosts = HostSet::parse(view(only_value(condition).text));
        if (!hosts) throw Failure(SPUR_E_INVALID, hosts.error().text);
        host_columns_.push_back(field.sql);
        result_.host_tests.push_back({0, std::move(*hosts), condition.negate != 0});
    }

    void add_conditions() {
        const auto cluster = view(query_.cluster);
        if (!cluster.empty()) where_.push_back(fmt::format("cluster = {}", parameter(std::string{cluster})));
        if (query_.with_removed == 0) where_.emplace_back("removed = 0");
        std::map<std::uint32_t, std::string> alternatives;
        for (const auto& condition : Records<spur_condition>(query_.conditions)) {
            if (condition.test == SPUR_TEST_HOSTS) {
                add_host_test(condition);
                continue;
            }
            auto text = test(condition);
            if (condition.negate != 0) text = fmt::format("COALESCE(NOT ({}), TRUE)", text);
            if (condition.group == 0) {
                where_.push_back(fmt::format("({})", text));
            } else {
                auto& group = alternatives[condition.group];
                group += (group.empty() ? "" : " OR ") + text;
            }
        }
        for (const auto& [number, text] : alternatives) where_.push_back(fmt::format("({})", text));
    }

    std::size_t select(std::string sql, std::string name, Kind kind, bool is_shown) {
        selected_.push_back(std::move(sql));
        result_.results.push_back({std::move(name), kind, is_shown});
        return selected_.size() - 1;
    }

    bool is_wanted(std::string_view name) const {
        return result_.wanted.empty() || std::ranges::find(result_.wanted, name) != result_.wanted.end();
    }

    void select_rows() {
        for (const auto& name : Records<spur_str>(query_.wanted)) result_.wanted.emplace_back(view(name));
        select("cluster", "cluster", Kind::text, true);
        for (const auto& column : table_->columns)
            if (column.role == Role::key || is_wanted(column.name))
                select(quoted(column.name), std::string{column.name}, column.kind, true);
        result_.sequence = select("sequence", "", Kind::integer, false);
        result_.removed = select("removed", "", Kind::integer, false);
        const auto is_column = [&](const std::string& name) { return table_->find(name) || name == "cluster"; };
        if (result_.wanted.empty() || !std::ranges::all_of(result_.wanted, is_column))
            result_.more = select("more", "", Kind::json, false);
        for (std::size_t i = 0; i < host_columns_.size(); ++i)
            result_.host_tests[i].column = select(host_columns_[i], "", Kind::text, false);
        add_order();
    }

    void add_order() {
        std::string_view by = query_.order_by == nullptr ? "" : query_.order_by;
        const bool is_descending = by.starts_with('-');
        if (is_descending) by.remove_prefix(1);
        std::vector<std::string> order;
        std::vector<Kind> kinds;
        if (!by.empty()) {
            const auto* const column = table_->find(by);
            if (column == nullptr || column->kind == Kind::json || column->kind == Kind::bytes)
                refuse(fmt::format("rows cannot be ordered by {}", by));
            const bool is_text = column->kind == Kind::text;
            order.push_back(fmt::format("COALESCE({}, {})", quoted(by), is_text ? "''" : "0"));
            kinds.push_back(column->kind);
        }
        order.emplace_back("cluster");
        kinds.push_back(Kind::text);
        for (const auto& key : table_->keys()) {
            order.push_back(quoted(key.name));
            kinds.push_back(key.kind);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            result_.order.push_back(select(order[i], "", kinds[i], false));
            tail_ += fmt::format("{}{}{}", i ? ", " : " ORDER BY ", order[i], is_descending ? " DESC" : "");
        }
        if (query_.after.length != 0) add_cursor(order, is_descending);
    }

    void add_cursor(const std::vector<std::string>& order, bool is_descending) {
        const auto cursor = json::parse(view(query_.after), nullptr, false);
        if (!cursor.is_array() || cursor.size() != order.size())
            throw Failure(SPUR_E_INVALID, "that is not a cursor of this query");
        std::string columns, values;
        for (std::size_t i = 0; i < order.size(); ++i) {
            columns += (i ? ", " : "") + order[i];
            auto value = cursor[i].is_string() ? Value{cursor[i].get<std::string>()}
                         : cursor[i].is_number_integer() ? Value{cursor[i].get<std::int64_t>()}
                         : cursor[i].is_number() ? Value{cursor[i].get<double>()} : Value{};
            const auto kind = result_.results[result_.order[i]].kind;
            if (std::holds_alternative<std::string>(value) != (kind == Kind::text))
                throw Failure(SPUR_E_INVALID, "that is not a cursor of this query");
            values += (i ? ", " : "") + parameter(std::move(value));
        }
        where_.push_back(fmt::format("({}) {} ({})", columns, is_descending ? "<" : ">", values));
    }

    void select_groups() {
        if (!result_.host_tests.empty()) refuse("hosts cannot be asked for in groups");
        std::string by;
        for (const auto& name : Records<spur_str>(query_.groups)) {
            const auto field = find(view(name));
            if (!field.is_column) refuse(fmt::format("rows cannot be grouped by {}", view(name)));
            select(field.sql, std::string{view(name)}, field.kind, true);
            by += (by.empty() ? "" : ", ") + field.sql;
        }
        for (const auto& sum : Records<spur_sum>(query_.sums)) add_sum(sum);
        if (!by.empty()) tail_ = fmt::format(" GROUP BY {0} ORDER BY {0}", by);
    }

    void add_sum(const spur_sum& sum) {
        if (sum.as == nullptr || sum.kind < SPUR_SUM_COUNT || sum.kind > SPUR_SUM_MOST)
            throw Failure(SPUR_E_INVALID, "a sum needs a kind and a name");
        if (sum.kind == SPUR_SUM_COUNT && sum.field == nullptr) {
            select("COUNT(*)", sum.as, Kind::integer, true);
            return;
        }
        const auto* const column = sum.field == nullptr ? nullptr : table_->find(sum.field);
        if (column == nullptr) refuse(fmt::format("{} has no column that could be summed up", sum.as));
        auto sql = quoted(column->name);
        if (column->kind == Kind::json && sum.tres != nullptr)
            sql = dialect_.json_number(sql, parameter(dialect_.json_key(sum.tres)));
        else if (column->kind != Kind::integer && column->kind != Kind::time && sum.kind != SPUR_SUM_COUNT)
            refuse(fmt::format("{} is no number", column->name));
        constexpr const char* functions[] = {"", "COUNT", "SUM", "MIN", "MAX"};
        select(fmt::format("CAST({}({}) AS bigint)", functions[sum.kind], sql), sum.as, Kind::integer, true);
    }

    const spur_query& query_;
    const Dialect& dialect_;
    const Table* table_;
    bool groups_;
    Statement result_;
    std::vector<std::string> selected_, where_, host_columns_;
    std::string tail_;
};

}  // namespace

std::string Statement::cursor_at(std::span<const Value> row) const {
    auto cursor = json::array();
    for (const auto index : order) {
        if (const auto* number = std::get_if<std::int64_t>(&row[index]))
            cursor.push_back(*number);
        else if (const auto* real = std::get_if<double>(&row[index]))
            cursor.push_back(*real);
        else if (const auto* text = std::get_if<std::string>(&row[index]))
            cursor.push_back(*text);
        else
            cursor.push_back(nullptr);
    }
    return cursor.dump();
}

Statement make_statement(const spur_query& query, const Dialect& dialect) { return Builder{query, dialect}.build(); }

}  // namespace spur::accounting
