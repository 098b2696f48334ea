// What a user writes after an entity: "name=chem set maxjobs=5 qos+=high", word by word.
#pragma once

#include "cli/sacctmgr/accounts_draft.hpp"
#include "core/base/result.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::sacctmgr {

struct Spec {
    std::string key;  // lower case; a condition's in full: "accounts"; "names" for a word without '='
    char operation;   // '=', '+' (+=), '-' (-=)
    std::string value;
    std::string text;  // as typed

    Names list() const { return records::read_list(value); }  // "a,b"
};

// The words before "set", after it, and after "where" wherever that is.
struct Sentence {
    std::vector<Spec> conditions, settings;
};
Sentence read_sentence(std::span<const std::string> words);

// Settings, each with its field.
class Changes {
public:
    explicit Changes(const AccountsDraft& draft) : draft_{draft} {}
    // Finds the field in one of the tables and tries the value. Not found: an error without words.
    Result<void> add(const Spec& spec, std::initializer_list<std::span<const records::AccountsField>> tables);
    // Makes the changes that are about the records that `target` has.
    void apply(records::AccountsChange target) const;

    bool empty() const { return all_.empty(); }
    bool has(std::span<const records::AccountsField> table) const;  // one of its fields is set
    bool has(std::string_view name) const;
    bool reach_users() const;  // is one of them inherited by the users of an account?

private:
    struct One {
        const records::AccountsField* field;
        Spec spec;
    };
    static Result<void> apply(const One& one, records::AccountsChange target);
    const AccountsDraft& draft_;
    std::vector<One> all_;
};

// "  Fairshare     = 3" for every setting in which `record` differs from `fresh`.
std::string settings_text(std::span<const records::AccountsField> fields, const records::AccountsView& record,
                          const records::AccountsView& fresh, std::size_t width);

}  // namespace spur::cli::sacctmgr
