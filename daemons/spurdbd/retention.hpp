// How long history is kept: what is older goes into files, where there is a place for them, and out of the database.
#pragma once

#include <map>

#include "core/model/config.hpp"
#include "daemons/spurdbd/roll_up.hpp"

namespace spur::dbd {

struct Retention {
    std::string directory;                              // empty: what is purged is gone
    std::map<std::uint32_t, std::uint32_t> keep_hours;  // by SPUR_ROW_*; what is not here stays

    static Retention of(const AccountingConfig& config);
    static Result<std::uint32_t> table_named(std::string_view name);  // "job", "usage"
};

// [waits for long] Purges what is too old of one cluster.
Result<v1::ArchiveReply> purge_old(Database& database, RollUp& roll_up, const std::string& cluster,
                                   const Retention& retention, UnixSeconds now);
// [waits for long] Puts back what is in a file. Usage is not summed up anew: that was kept, or is in a file of its own.
Result<v1::ArchiveReply> load_archive(Database& database, std::string_view content);

}  // namespace spur::dbd
