// A reservation as Slurm's users know it, and a licence.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/reservation.hpp"
#include "daemons/common/records/change.hpp"
#include "daemons/common/records/record.hpp"
#include "spur/v1/cluster.pb.h"

namespace spur::records {

// clang-format off
enum class ReservationFieldId : std::uint16_t {
    name, state, start_time, end_time, duration, nodes, node_count, core_count, features, partition, flags, core_ids, tres, users, groups,
    accounts, licenses, burst_buffer, watts, max_start_delay, skip,
    count_
};
enum class LicenseFieldId : std::uint16_t { name, total, used, free, reserved, remote, count_ };
// clang-format on

struct ReservationView {
    const v1::Reservation& reservation;
    const Context& in;
    const v1::Reservation* operator->() const { return &reservation; }
};
struct LicenseView {
    const v1::License& license;
    const Context& in;
    const v1::License* operator->() const { return &license; }
};

// A reservation on its way to what somebody typed. Only the directory service knows users and groups.
struct ReservationChange {
    Reservation& wanted;
    const std::function<Result<bool>(const std::string& name)>& is_user;
    const std::function<Result<std::optional<std::vector<Uid>>>(const std::string& name)>& group_members;
};

inline Reservation& members(ReservationChange& change) { return change.wanted; }

using ReservationField = Field<ReservationView, ReservationFieldId, ReservationChange>;
using LicenseField = Field<LicenseView, LicenseFieldId>;

std::span<const ReservationField> reservation_fields();
const ReservationField& reservation_field(ReservationFieldId id);
std::span<const LicenseField> license_fields();

}  // namespace spur::records
