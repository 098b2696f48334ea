// What "scontrol update" says, as typed changes. Keys come in lower case, values as typed; an unknown key or a value
// that makes no sense is an error that names it.
#pragma once

#include <google/protobuf/map.h>

#include <string>

#include "core/base/result.hpp"
#include "core/machine/command.hpp"
#include "daemons/common/planning/read_model.hpp"
#include "daemons/common/records/change.hpp"
#include "daemons/spurctld/service/users.hpp"

namespace spur::ctld {

using Settings = google::protobuf::Map<std::string, std::string>;

// Each setting by the row that has its full name.
template <class Target, class Row>
Result<void> apply_all(const Settings& settings, Target& target, std::string_view what, std::span<const Row> rows) {
    constexpr std::size_t longest = 64U << 10;  // the longest of core/machine/request_limits.hpp that can be changed
    for (const auto& [key, value] : settings) {
        if (value.size() > longest)
            return fail(ErrorCode::invalid, "{} is {} bytes long, at most {} are taken", key, value.size(), longest);
        const auto* field = records::find_full_change(rows, key);
        if (field == nullptr || field->change.set == nullptr)
            return fail(ErrorCode::invalid, "{} cannot be changed: a {} has no such setting in this release", key,
                        what);
        SPUR_CHECK(field->change.set(target, {key, value}));
    }
    return {};
}

Result<JobChanges> job_changes(const Settings& settings, const Job& job, const planning::ReadModel& model,
                               UnixSeconds now);
Result<UpdateNode> node_update(std::string_view names, const Settings& settings, const Actor& actor,
                               const planning::ReadModel& model);
Result<Partition> changed_partition(Partition partition, const Settings& settings);
Result<Reservation> changed_reservation(Reservation reservation, const Settings& settings,
                                        const planning::ReadModel& model, UserDirectory& directory, UnixSeconds now,
                                        bool create);

}  // namespace spur::ctld
