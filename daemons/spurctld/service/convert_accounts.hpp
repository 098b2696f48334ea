// Accounts, users, associations and QOS between the core's values and the wire's messages. Nothing here decides
// anything.
#pragma once

#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "core/model/association.hpp"
#include "core/model/job.hpp"
#include "daemons/common/planning/priority_report.hpp"
#include "spur/v1/accounts.pb.h"
#include "spur/v1/job.pb.h"

namespace spur::ctld {

void account_to_wire(const Account& account, v1::Account& wire);
void user_to_wire(const User& user, v1::AccountUser& wire);
void association_to_wire(const Association& entry, v1::Association& wire);
void qos_to_wire(const Qos& qos, v1::Qos& wire);

// What the priority of a waiting job is made of, as the plugin last said; in the partition where it is highest.
void factors_to_wire(const planning::PriorityReport& report, const Job& job, v1::Job& wire);

Account account_from_wire(const v1::Account& wire);
Result<User> user_from_wire(const v1::AccountUser& wire);
Result<EditAssociation> association_from_wire(const v1::Association& wire);
Result<Qos> qos_from_wire(const v1::Qos& wire);

}  // namespace spur::ctld
