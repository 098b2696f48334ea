// Reading key=value words of sacctmgr, and saying what is about to be set.
#include "cli/sacctmgr/specs.hpp"

#include "core/text/lexical.hpp"
#include "daemons/common/records/change.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spur::cli::sacctmgr {
namespace {

// Words that are no fields, in the order abbreviations are tried.
constexpr const char* conditions[] = {
    "names", "accounts", "acct",   "users", "clusters",  "partitions",       "parent",          "type",
    "qos",   "rawusage", "format", "tree",  "withassoc", "withcoordinators", "withsubaccounts", "onlydefaults"};

std::string canonical(std::string_view typed) {
    const auto key = lower(typed);
    const auto full = [](std::string_view word) { return std::string{word == "acct" ? "accounts" : word}; };
    for (const std::string_view word : conditions)
        if (key == word) return full(word);
    for (const std::string_view word : conditions)
        if (key.size() >= 3 && word.starts_with(key)) return full(word);
    return key;
}

std::string unquoted(std::string_view text) {
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
        text = text.substr(1, text.size() - 2);
    return std::string{text};
}

Spec read_spec(const std::string& word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
        const auto key = canonical(word);
        const bool is_flag = key == "tree" || key.starts_with("with") || key == "onlydefaults";
        return is_flag ? Spec{key, '=', {}, word} : Spec{"names", '=', unquoted(word), word};
    }
    auto end = equals;
    char operation = '=';
    if (end > 0 && (word[end - 1] == '+' || word[end - 1] == '-')) operation = word[--end];
    return {canonical(std::string_view{word}.substr(0, end)), operation, unquoted(word.substr(equals + 1)), word};
}

bool is_of(std::span<const records::AccountsField> table, const records::AccountsField* field) {
    return field >= table.data() && field < table.data() + table.size();
}

// A few settings look another way while they are announced than in a listing.
std::string announced(const records::AccountsField& field, const records::Value& value,
                      const records::AccountsView& view) {
    if (value.is_real()) return fmt::format("{:.4f}", value.real());
    if (field.name == std::string_view{"GraceTime"}) return std::to_string(value.number());
    if (field.name == std::string_view{"PreemptMode"})
        return std::string{to_string(find_preempt_mode(value.text()).value_or(PreemptMode::unset))};
    std::string scratch;
    return std::string{records::write(value, field.type, records::Look::record, "", view.in, scratch)};
}

}  // namespace

Sentence read_sentence(std::span<const std::string> words) {
    Sentence sentence;
    bool setting = false;
    for (const auto& word : words) {
        if (equal_nocase(word, "set"))
            setting = true;
        else if (equal_nocase(word, "where"))
            setting = false;
        else
            (setting ? sentence.settings : sentence.conditions).push_back(read_spec(word));
    }
    return sentence;
}

Result<void> Changes::add(const Spec& spec, std::initializer_list<std::span<const records::AccountsField>> tables) {
    for (const auto table : tables)
        if (const auto* field = records::find_change(table, spec.key)) {
            const One one{field, spec};
            v1::Account account;
            v1::AccountUser user;
            v1::Association association;
            v1::Qos qos;
            const bool of_qos = table.data() == records::qos_fields().data();
            SPUR_CHECK(apply(one, {draft_, &account, &user, of_qos ? nullptr : &association, &qos}));
            all_.push_back(one);
            return {};
        }
    return fail(ErrorCode::invalid, "");
}

Result<void> Changes::apply(const One& one, records::AccountsChange target) {
    target.operation = one.spec.operation;
    target.typed = one.spec.text;
    const auto& field = *one.field;
    return field.change.set(target, {field.name ? field.name : field.change.name, one.spec.value});
}

void Changes::apply(records::AccountsChange target) const {
    for (const auto& one : all_)
        if ((target.account && is_of(records::account_fields(), one.field)) ||
            (target.user && is_of(records::user_fields(), one.field)) ||
            (target.association && is_of(records::association_fields(), one.field)) ||
            (target.qos && is_of(records::qos_fields(), one.field)))
            (void)apply(one, target);  // it was tried before
}

bool Changes::has(std::span<const records::AccountsField> table) const {
    return std::ranges::any_of(all_, [&](const One& one) { return is_of(table, one.field); });
}
bool Changes::has(std::string_view name) const {
    return std::ranges::any_of(all_, [&](const One& one) { return one.field->change.name == name; });
}
bool Changes::reach_users() const {
    return std::ranges::any_of(all_, [](const One& one) {
        const std::string_view name = one.field->change.name;
        return name.starts_with("max") || name == "qoslevel" || name == "defaultqos";
    });
}

std::string settings_text(std::span<const records::AccountsField> fields, const records::AccountsView& record,
                          const records::AccountsView& fresh, std::size_t width) {
    std::string text;
    for (const auto& field : fields) {
        if (field.name == nullptr) continue;
        const auto value = field.get(record);
        if (value == field.get(fresh)) continue;
        const std::string_view name = field.name;  // Slurm sets two of a QOS's apart less widely
        const bool narrow = name == "Description" || name == "MaxJobsPerUser";
        text += fmt::format("  {:<{}}= {}\n", name, narrow ? 15 : width, announced(field, value, record));
    }
    return text;
}

}  // namespace spur::cli::sacctmgr
