// A job's record as plugins see it (spur/plugin/draft/record.h): the rows of records/job.hpp behind the C boundary.
#pragma once

#include <spur/plugin/draft/record.h>

#include <functional>
#include <string>
#include <string_view>

#include "daemons/common/records/job.hpp"

namespace spur::records {

// The name plugins know a row by; empty: it is not for them (another row shows the same).
std::string plugin_name(const JobField& field);

class PluginRecord {
public:
    // Changes one field of what `job` shows, as `scontrol update` would, and brings `job` up to date.
    using Set = std::function<Result<void>(const JobField& field, std::string_view value)>;

    // `job` is looked at anew by each call. Without `set` nothing can be changed.
    PluginRecord(const v1::Job& job, Context context, Set set = {});
    PluginRecord(const PluginRecord&) = delete;
    PluginRecord& operator=(const PluginRecord&) = delete;
    const spur_record* get() const { return &record_; }

private:
    static PluginRecord& self(const spur_record* record) { return *static_cast<PluginRecord*>(record->context); }
    bool is_writable(const JobField& field) const { return set_ && field.change.set != nullptr; }
    spur_status describe(std::uint32_t number, spur_record_field* out);
    spur_status read(std::uint32_t number, spur_value* out);
    spur_status write(std::uint32_t number, const spur_value* value, spur_error* err);

    const v1::Job& job_;
    Context context_;
    Set set_;
    std::string scratch_;  // what the last text or name handed out points to
    spur_record record_;
};

}  // namespace spur::records
