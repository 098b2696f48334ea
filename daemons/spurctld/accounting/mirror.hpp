// What the outbox tells beside jobs and steps, as rows: nodes' events, reservations, changes of accounts, and the
// mirror of what there is now.
#pragma once

#include "core/model/outbox.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "spur/v1/accounting.pb.h"

namespace spur::ctld {

void event_to_row(const NodeEvent& event, v1::HistoryRow& row);
void change_to_row(const AccountsChange& change, UnixSeconds at, v1::HistoryRow& row);
void reservation_to_row(const planning::ReadModel& model, const Reservation& reservation, v1::HistoryRow& row);
// `host`, `port`: where the controller is.
void mirror_to_rows(const planning::ReadModel& model, const std::string& host, std::uint16_t port,
                    v1::HistoryMirror& mirror);

}  // namespace spur::ctld
