// What a user writes after an entity: "name=chem set maxjobs=5 qos+=high", word by word.
#pragma once

#include "cli/sacctmgr/accounts_draft.hpp"
#include "core/base/result.hpp"

#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::sacctmgr {

struct Spec {
    std::string key;  // canonical, lower case: "maxjobs"; "names" for a word without '='
    char operation;   // '=', '+' (+=), '-' (-=)
    std::string value;
    std::string text;  // as typed

    Names list() const;  // "a,b"
};

// The words before "set", after it, and after "where" wherever that is.
struct Sentence {
    std::vector<Spec> conditions, settings;
    bool has_set = false;
};
Sentence read_sentence(std::span<const std::string> words);

// A word that could not be taken: what to say before " Unknown option: ..."; empty: nothing more.
struct Refused {
    std::string why;
};
template <class T>
using Taken = std::expected<T, Refused>;

using AssociationChange = std::function<void(v1::Association&)>;
using QosChange = std::function<void(v1::Qos&)>;
// Settings of associations, whoever has them: limits, shares, priority, QOS.
Taken<AssociationChange> association_change(const Spec& spec, const AccountsDraft& draft);
Taken<QosChange> qos_change(const Spec& spec, const AccountsDraft& draft);
// Does it reach the users below an account?
bool is_inherited(const Spec& spec);

// "  Fairshare     = 3" for every setting that differs from a new association's.
std::string settings_text(const v1::Association& entry, bool with_parent);
std::string settings_text(const v1::Qos& qos);

std::string wall_text(std::uint32_t minutes);                                          // "01:10:00"
std::string tres_text(const google::protobuf::RepeatedPtrField<v1::TresCount>& wire);  // "cpu=1,mem=4G"
std::optional<std::uint32_t> find_flag(std::string_view name);                         // of a QOS
std::string flags_text(std::uint32_t flags);                                           // "DenyOnLimit,NoDecay"
std::optional<v1::AccountUser::AdminLevel> find_admin_level(std::string_view text);    // "operator", "admin"
std::string admin_level_text(v1::AccountUser::AdminLevel level);                       // "Administrator"
std::string joined(const Names& names);
bool is_in(const Names& names, std::string_view name);

}  // namespace spur::cli::sacctmgr
