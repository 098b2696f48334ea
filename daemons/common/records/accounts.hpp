// Accounts, users, associations, QOS and the cluster as sacctmgr's users know them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/association.hpp"
#include "daemons/common/records/record.hpp"
#include "spur/v1/accounts.pb.h"

namespace spur::records {

using Names = std::vector<std::string>;

// All that the controller has, and what is in force where a record does not say.
struct Accounts {
    v1::ListAccountsReply all;

    const v1::Account* account(std::string_view name) const;
    const v1::AccountUser* user(std::string_view name) const;
    const v1::Qos* qos(std::string_view name) const;
    const v1::Association* association(std::string_view account, std::string_view user,
                                       std::string_view partition) const;
    const v1::Association* own(std::string_view account) const { return association(account, {}, {}); }
    const v1::Association* by_id(std::uint32_t id) const;
    const v1::Association* parent(const v1::Association& entry) const { return by_id(entry.parent()); }
    // Of the account and all accounts below it, itself first.
    std::vector<const v1::Association*> below(std::string_view account) const;
    bool is_below(const v1::Association& entry, std::string_view account) const;

    // What is inherited included.
    Names qos_of(const v1::Association& entry) const;
    std::string default_qos_of(const v1::Association& entry) const;
    v1::AccountLimits limits_of(const v1::Association& entry) const;
    Names coordinators_of(std::string_view account) const;
};

// What one line is about; what it is not about is null.
struct AccountsView {
    const Accounts& accounts;
    const Context& in;
    const v1::Account* account = nullptr;
    const v1::AccountUser* user = nullptr;
    const v1::Association* association = nullptr;
    const v1::Qos* qos = nullptr;
    v1::AccountLimits limits = {};  // the association's, in force or as asked for, or the QOS's
    std::string tres = {};          // the name of a resource, and its number
    std::size_t tres_id = 0;
    std::size_t depth = 0;  // of a tree's line
    bool inherits = true;   // false: only what the association itself says
};

// One word of a change, "grpjobs+=4", on its way into the records it is about.
struct AccountsChange {
    const Accounts& accounts;
    v1::Account* account = nullptr;
    v1::AccountUser* user = nullptr;
    v1::Association* association = nullptr;
    v1::Qos* qos = nullptr;
    char operation = '=';         // '+' for +=, '-' for -=
    std::string_view typed = {};  // the whole word
    v1::AccountLimits& limits() const { return association ? *association->mutable_limits() : *qos->mutable_limits(); }
};

// `name` is what sacctmgr announces a setting as.
using AccountsField = Field<AccountsView, NoId, AccountsChange>;

std::span<const AccountsField> account_fields();
std::span<const AccountsField> user_fields();
std::span<const AccountsField> association_fields();
std::span<const AccountsField> qos_fields();
std::span<const AccountsField> cluster_fields();
std::span<const AccountsField> tres_fields();

std::string joined(const Names& names);
bool is_in(const Names& names, std::string_view name);
Names read_list(std::string_view text);  // "A, b": in lower case

}  // namespace spur::records
