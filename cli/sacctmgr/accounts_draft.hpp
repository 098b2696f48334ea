// The accounts as the controller has them, and the changes the user asks for: collected, shown, confirmed, then sent.
#pragma once

#include "daemons/common/records/accounts.hpp"

#include <vector>

namespace spur::cli::sacctmgr {

using records::is_in;
using records::joined;
using records::Names;

struct AccountsDraft : records::Accounts {
    using Edit = v1::AccountsEdit;
    std::vector<Edit> edits;

    // Each takes an Account, an AccountUser, an Association or a Qos.
    void create(const auto& record) { add(Edit::CREATE, record); }
    void update(const auto& record) { add(Edit::UPDATE, record); }
    void remove(const auto& record) { add(Edit::REMOVE, record); }
    void reset_usage(const v1::Association& record) { add(Edit::RESET_USAGE, record); }

private:
    void add(Edit::Action action, const auto& record) {
        edits.emplace_back().set_action(action);
        put(edits.back(), record);
    }
    static void put(Edit& edit, const v1::Account& record) { *edit.mutable_account() = record; }
    static void put(Edit& edit, const v1::AccountUser& record) { *edit.mutable_user() = record; }
    static void put(Edit& edit, const v1::Association& record) { *edit.mutable_association() = record; }
    static void put(Edit& edit, const v1::Qos& record) { *edit.mutable_qos() = record; }
};

}  // namespace spur::cli::sacctmgr
