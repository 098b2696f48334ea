// A job's record behind the C boundary: names, kinds, values, and what setting a field does.
#include <gtest/gtest.h>
#include <spur/plugin/plugin.hpp>

#include <set>

#include "daemons/common/records/plugin_record.hpp"

namespace spur::records {
namespace {

using plugin::str;
using plugin::view;

v1::Job job() {
    v1::Job job;
    job.mutable_spec()->set_name("train");
    job.set_partition("main");
    job.set_time_limit_min(90);
    return job;
}

TEST(T55PluginRecord, FieldsAreFoundByTheirNamesAndHaveKinds) {
    const auto record_job = job();
    const PluginRecord record{record_job, {}};
    const auto name = spur_record_get(record.get(), str("name"));
    EXPECT_EQ(name.kind, SPUR_VALUE_TEXT);
    EXPECT_EQ(view(name.text), "train");
    const auto limit = spur_record_get(record.get(), str("time_limit"));
    EXPECT_EQ(limit.kind, SPUR_VALUE_SECONDS);
    EXPECT_EQ(limit.number, 90 * 60);
    EXPECT_EQ(spur_record_get(record.get(), str("no_such_field")).kind, SPUR_VALUE_ABSENT);
}

TEST(T55PluginRecord, WhatWasNotSaidIsAbsentAndNoLimitIsUnlimited) {
    auto changing = job();
    const PluginRecord record{changing, {}};
    changing.set_time_limit_min(no_value);
    EXPECT_EQ(spur_record_get(record.get(), str("time_limit")).kind, SPUR_VALUE_ABSENT);
    changing.set_time_limit_min(unlimited);
    EXPECT_EQ(spur_record_get(record.get(), str("time_limit")).number, SPUR_VALUE_UNLIMITED);
    changing.clear_partition();
    EXPECT_EQ(spur_record_get(record.get(), str("partition")).kind, SPUR_VALUE_ABSENT);
}

TEST(T55PluginRecord, EveryFieldHasANameOfItsOwn) {
    const auto record_job = job();
    const PluginRecord record{record_job, {}};
    std::set<std::string> names;
    const auto count = record.get()->count(record.get());
    EXPECT_GT(count, 50U);
    for (std::uint32_t i = 0; i < count; ++i) {
        spur_record_field field{};
        field.size = sizeof field;
        ASSERT_EQ(record.get()->describe(record.get(), i, &field), SPUR_OK);
        EXPECT_TRUE(names.emplace(view(field.name)).second) << view(field.name);
        EXPECT_EQ(field.flags, 0U) << "nothing can be set in a record that is only read";
        EXPECT_EQ(record.get()->find(record.get(), field.name), i);
    }
    spur_value value{};
    value.size = sizeof value;
    EXPECT_EQ(record.get()->get(record.get(), count, &value), SPUR_E_NOT_FOUND);
}

TEST(T55PluginRecord, AValueIsSetAsAUserWouldTypeIt) {
    const auto record_job = job();
    std::string typed;
    const PluginRecord record{record_job, {}, [&](const JobField& field, std::string_view value) -> Result<void> {
                                  if (value == "bad") return fail(ErrorCode::invalid, "not that");
                                  typed += std::string{field.change.name} + "=" + std::string{value} + " ";
                                  return {};
                              }};
    const auto set = [&](const char* name, spur_value value, spur_error* err) {
        value.size = sizeof value;
        return record.get()->set(record.get(), record.get()->find(record.get(), str(name)), &value, err);
    };
    spur_error err{sizeof err, 0, {}};
    EXPECT_EQ(set("time_limit", {0, SPUR_VALUE_SECONDS, 3600, 0, {}}, &err), SPUR_OK);
    EXPECT_EQ(set("time_limit", {0, SPUR_VALUE_SECONDS, SPUR_VALUE_UNLIMITED, 0, {}}, &err), SPUR_OK);
    EXPECT_EQ(set("nice", {0, SPUR_VALUE_NUMBER, -5, 0, {}}, &err), SPUR_OK);
    EXPECT_EQ(spur_record_set_text(record.get(), str("partition"), str("side"), &err), SPUR_OK);
    EXPECT_EQ(typed, "timelimit=1:00:00 timelimit=UNLIMITED nice=-5 partition=side ");
    EXPECT_EQ(spur_record_set_text(record.get(), str("partition"), str("bad"), &err), SPUR_SET_REFUSED);
    EXPECT_STREQ(err.text, "not that");
    EXPECT_EQ(spur_record_set_text(record.get(), str("job_id"), str("7"), &err), SPUR_SET_READ_ONLY);
    EXPECT_EQ(spur_record_set_text(record.get(), str("no_such_field"), str("7"), &err), SPUR_E_NOT_FOUND);
}

}  // namespace
}  // namespace spur::records
