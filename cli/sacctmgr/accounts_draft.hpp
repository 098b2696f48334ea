// The accounts as the controller has them, and the changes the user asks for: collected, shown, confirmed, then sent.
#pragma once

#include "core/model/association.hpp"
#include "spur/v1/accounts.pb.h"

#include <string>
#include <string_view>
#include <vector>

namespace spur::cli::sacctmgr {

using Names = std::vector<std::string>;

struct AccountsDraft {
    v1::ListAccountsReply all;
    std::vector<v1::AccountsEdit> edits;

    const v1::Account* account(std::string_view name) const;
    const v1::AccountUser* user(std::string_view name) const;
    const v1::Qos* qos(std::string_view name) const;
    const v1::Association* association(std::string_view account, std::string_view user,
                                       std::string_view partition) const;
    const v1::Association* own(std::string_view account) const { return association(account, {}, {}); }
    const v1::Association* by_id(std::uint32_t id) const;
    const v1::Association* parent(const v1::Association& entry) const { return by_id(entry.parent()); }
    std::vector<const v1::Association*> below(std::string_view account) const;  // of it and all accounts below, itself
                                                                                // first
    bool is_below(const v1::Association& entry, std::string_view account) const;

    // As in force, what is inherited included.
    Names qos_of(const v1::Association& entry) const;
    std::string default_qos_of(const v1::Association& entry) const;
    v1::AccountLimits limits_of(const v1::Association& entry) const;
    Names coordinators_of(std::string_view account) const;

    void create(const v1::Account& record);
    void create(const v1::AccountUser& record);
    void create(const v1::Association& record);
    void create(const v1::Qos& record);
    void update(const v1::Account& record);
    void update(const v1::AccountUser& record);
    void update(const v1::Association& record);
    void update(const v1::Qos& record);
    void remove(const v1::Account& record);
    void remove(const v1::AccountUser& record);
    void remove(const v1::Association& record);
    void remove(const v1::Qos& record);
    void reset_usage(const v1::Association& record);
};

TresList tres_of(const google::protobuf::RepeatedPtrField<v1::TresCount>& wire);
void set_tres(google::protobuf::RepeatedPtrField<v1::TresCount>& wire, const TresList& list);

}  // namespace spur::cli::sacctmgr
