// No field of a node, a partition, a reservation or a licence is forgotten: what travels shows in a row, names are
// unambiguous, and what can be typed reaches the state machine.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "daemons/common/records/job.hpp"
#include "daemons/common/records/node.hpp"
#include "daemons/common/records/partition.hpp"
#include "daemons/common/records/reservation.hpp"
#include "daemons/common/records/step.hpp"
#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/updates.hpp"
#include "spur/schema.pb.h"
#include "tests/support/cluster_builder.hpp"
#include "tests/support/fake_directory.hpp"

namespace spur::ctld {
namespace {

using namespace spur::testing;

// ---- what travels shows

schema::Type message_type(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(SPUR_SCHEMA_FILE, std::ios::binary).rdbuf();
    schema::Files all;
    EXPECT_TRUE(all.ParseFromString(text.str()));
    for (const auto& bytes : all.file()) {
        schema::File file;
        file.ParseFromString(bytes);
        for (const auto& type : file.message_type())
            if (file.package() + "." + type.name() == name) return type;
    }
    ADD_FAILURE() << name << " is not in the schema";
    return schema::Type::default_instance();
}

// The field alone, as it travels, with a value of its type that nobody has by default.
std::string encoded(const schema::Field& field) {
    enum Wire { varint = 0, fixed64 = 1, bytes = 2 };
    constexpr std::uint32_t type_double = 1, type_string = 9, type_message = 11;
    const auto tag = [&](Wire wire) {
        const auto key = (field.number() << 3) | wire;
        return key < 128 ? std::string(1, static_cast<char>(key))
                         : std::string{static_cast<char>(key | 128), static_cast<char>(key >> 7)};
    };
    if (field.type() == type_double) return tag(fixed64) + std::string("\0\0\0\0\0\0\x14\x40", 8);  // 5.0
    if (field.type() == type_string) return tag(bytes) + "\x03" + "odd";
    if (field.type() == type_message) return tag(bytes) + std::string(1, '\0');
    return tag(varint) + "\x01";
}

template <class View, class Message, class Row>
std::vector<std::string> texts_of(const Message& message, std::span<const Row> rows) {
    const records::Context context{.now = 1, .cluster = "c"};
    std::vector<std::string> texts;
    std::string scratch;
    for (const auto& field : rows)
        texts.emplace_back(
            records::write(field.get(View{message, context}), field.type, records::Look::record, "", context, scratch));
    return texts;
}

template <class View, class Message, class Row>
void expect_shown(const std::string& type, const Message& plain, std::span<const Row> rows,
                  const std::map<std::string, std::string>& left_out) {
    const auto before = texts_of<View>(plain, rows);
    const auto described = message_type(type);
    for (const auto& field : described.field()) {
        auto message = plain;
        ASSERT_TRUE(message.MergeFromString(encoded(field))) << field.name();
        const bool shows = texts_of<View>(message, rows) != before;
        EXPECT_EQ(shows, !left_out.contains(field.name())) << type << "." << field.name();
    }
}

TEST(ClusterRecords, EveryFieldThatTravelsShowsInARowOrIsLeftOutForAReason) {
    v1::Node node;
    node.set_cpus(16);
    node.set_boards(2);
    node.set_reason("broken");       // else nobody asks who said so
    node.set_free_memory_mib(1000);  // else there are no vitals
    expect_shown<records::NodeView>("spur.v1.Node", node, records::node_fields(),
                                    {{"boot_id", "only tells a restart of the machine from one of the agent"},
                                     {"gpu_places", "the planner's"},
                                     {"gpu_links", "the planner's"}});
    expect_shown<records::PartitionView>("spur.v1.Partition", v1::Partition{}, records::partition_fields(), {});
    expect_shown<records::ReservationView>("spur.v1.Reservation", v1::Reservation{}, records::reservation_fields(), {});
    v1::License license;
    license.set_total(9);
    expect_shown<records::LicenseView>("spur.v1.License", license, records::license_fields(), {});
}

// ---- names

template <class Row>
void expect_unambiguous(std::span<const Row> rows) {
    for (const auto& field : rows)
        for (const auto& [word, least] : {std::pair{field.change.name, field.change.least},
                                          std::pair{field.change.other, field.change.other_least}})
            for (std::string_view typed = word ? word : ""; typed.size() >= std::max<std::size_t>(least, 1);
                 typed.remove_suffix(1)) {
                const auto* found = records::find_change(rows, typed);
                ASSERT_NE(found, nullptr) << typed;
                EXPECT_EQ(found->id, field.id) << typed;
            }
    EXPECT_EQ(records::find_change(rows, "nonsense"), nullptr);
    EXPECT_EQ(records::find_change(rows, ""), nullptr);
}
TEST(RecordNames, AWordOfAnUpdateNamesOneFieldHoweverShortItMayBe) {
    expect_unambiguous(records::job_fields());
    expect_unambiguous(records::node_fields());
    expect_unambiguous(records::partition_fields());
    expect_unambiguous(records::reservation_fields());
    EXPECT_EQ(records::find_change(records::job_fields(), "TIMELIMIT")->id, records::JobFieldId::time_limit);
}

// A name that two rows have would make one of them unreachable.
struct Names {
    std::set<std::string> letters, names;  // of one listing
};
template <class Rows>
void expect_unique_names(Rows rows, Names& listed) {
    std::set<std::string> json, members, shown;
    const auto add = [](std::set<std::string>& set, const char* name) {
        const bool is_new = name == nullptr || set.insert(name).second;
        EXPECT_TRUE(is_new) << name;
    };
    for (const auto& field : rows) {
        const char letter[] = {field.listing.letter, 0};
        add(listed.letters, field.listing.letter ? letter : nullptr);
        add(listed.names, field.listing.name);
        add(listed.names, field.listing.older);
        add(json, field.json);
        add(members, field.member);
        add(shown, field.name);
    }
}
TEST(RecordNames, NoTwoFieldsShareAName) {
    Names jobs, steps, sinfo, reservations, licenses;
    expect_unique_names(records::job_fields(), jobs);
    expect_unique_names(records::step_fields(), steps);
    expect_unique_names(records::node_fields(), sinfo);
    expect_unique_names(records::partition_fields(), sinfo);
    expect_unique_names(records::reservation_fields(), reservations);
    expect_unique_names(records::license_fields(), licenses);
}

// ---- changes

class ClusterChanges : public ::testing::Test {
protected:
    ClusterChanges() {
        b.nodes("n[1-4]", cpus(4));
        planning::Changes all;
        all.everything = true;
        model = planning::ReadModelBuilder{}.publish(b.cluster(), all);
    }
    // What each row makes of some value, as `change` applies it; a row that takes none of them is named.
    template <class Row, class Apply>
    void expect_effect(std::span<const Row> rows, Apply apply) {
        for (const auto& field : rows) {
            if (field.change.set == nullptr) continue;
            bool changed = false;
            for (const auto* value : {"7", "yes", "n[1-2]", "SUSPEND", "DOWN", "FORCE:9", "drain", "now+5"}) {
                Settings settings;
                settings[field.change.name] = value;
                if (settings.contains("nextstate")) settings["state"] = "REBOOT";  // means nothing by itself
                changed = changed || apply(settings);
            }
            EXPECT_TRUE(changed) << field.change.name;
        }
    }
    std::string node_refusal(const char* key, const char* value) {
        Settings settings;
        settings[key] = value;
        const auto update = node_update("n1", settings, {}, *model);
        return update ? "" : update.error().text;
    }
    Result<Reservation> reserve(const Settings& settings, bool create = true) {
        Reservation present;
        present.start_time = 5000;
        present.end_time = 6000;
        return changed_reservation(create ? Reservation{} : present, settings, *model, directory, 1000, create);
    }

    ClusterBuilder b;
    std::shared_ptr<const planning::ReadModel> model;
    FakeDirectory directory;
};

TEST_F(ClusterChanges, EveryWordThatIsNotRefusedChangesSomething) {
    expect_effect(records::node_fields(), [&](const Settings& settings) {
        const auto update = node_update("n1", settings, {}, *model);
        return update && *update != *node_update("n1", {}, {}, *model);
    });
    expect_effect(records::partition_fields(), [&](const Settings& settings) {
        const auto partition = changed_partition({}, settings);
        return partition && *partition != Partition{};
    });
}

TEST_F(ClusterChanges, WhatCannotBeChangedIsRefusedByName) {
    EXPECT_EQ(node_refusal("gres", "gpu:2"), "gres cannot be changed: a node has no such setting in this release");
    EXPECT_EQ(node_refusal("weight", "heavy"), "weight=heavy is not a number");
    EXPECT_EQ(node_refusal("weight+", "1"), "weight+ cannot be changed: a node has no such setting in this release");
    EXPECT_EQ(node_refusal("wei", "1"), "wei cannot be changed: a node has no such setting in this release")
        << "only people may be short";
    EXPECT_EQ(node_refusal("state", "gone"), "Invalid node state specified (gone)");
}

TEST_F(ClusterChanges, APartitionsWordsAreSlurms) {
    const auto refusal = [](const char* key, const char* value) {
        Settings settings;
        settings[key] = value;
        const auto changed = changed_partition({}, settings);
        return changed ? "" : changed.error().text;
    };
    EXPECT_EQ(refusal("preemptmode", "cluster"), "PreemptMode=cluster is not OFF, CANCEL, REQUEUE, SUSPEND, GANG");
    EXPECT_EQ(refusal("oversubscribe", "MAYBE"), "OverSubscribe=MAYBE is not NO, YES, FORCE, EXCLUSIVE");
    EXPECT_EQ(refusal("state", "up"), "");
    Settings settings;
    settings["shared"] = "FORCE:9";
    EXPECT_EQ(changed_partition({}, settings)->oversubscribe, OverSubscribe::force);
    EXPECT_EQ(changed_partition({}, settings)->oversubscribe_jobs, 9);
}

TEST_F(ClusterChanges, APartitionShowsThePreemptModeInForce) {
    const auto shown = [&](PreemptMode cluster, PreemptMode own) {
        b.policies([&](Policies& policies) { policies.preempt_mode = cluster; });
        planning::Changes all;
        all.everything = true;
        model = planning::ReadModelBuilder{}.publish(b.cluster(), all);
        Partition partition;
        partition.preempt_mode = own;
        v1::Partition wire;
        partition_to_wire(*model, partition, wire);
        return wire.preempt_mode();
    };
    EXPECT_EQ(shown(PreemptMode::requeue, PreemptMode::unset), "REQUEUE");
    EXPECT_EQ(shown(PreemptMode::requeue, PreemptMode::off), "OFF");
}

TEST_F(ClusterChanges, ReservationsAddAndTakeAway) {
    Settings settings;
    settings["accounts+"] = "a,b";
    settings["flags+"] = "MAINT";
    settings["maxstartdelay"] = "90";
    settings["licenses"] = "fluent:2,ansys";
    const auto changed = reserve(settings, false);
    ASSERT_TRUE(changed) << changed.error().text;
    EXPECT_EQ(changed->accounts, (std::vector<Text>{"a", "b"}));
    EXPECT_TRUE(changed->has(reservation_flag::maint));
    EXPECT_EQ(changed->max_start_delay_s, 5400U);
    EXPECT_EQ(changed->licenses, (std::vector<LicenseCount>{{"fluent", 2}, {"ansys", 1}}));
    const auto refusal = [&](const char* key, const char* value) {
        Settings one;
        one[key] = value;
        const auto answer = reserve(one, false);
        return answer ? "" : answer.error().text;
    };
    EXPECT_EQ(refusal("nodes+", "n1"),
              "The +=/-= notation is not supported when updating nodes.  No reservation update");
    EXPECT_EQ(refusal("skip", "1"), "skip cannot be changed: a reservation has no such setting in this release");
    EXPECT_EQ(refusal("start", "now"), "start cannot be changed: a reservation has no such setting in this release");
    EXPECT_EQ(refusal("licenses", "fluent:many"), "Licenses=many is not a number");
}

}  // namespace
}  // namespace spur::ctld
