// Who may change which accounts.
#include <gtest/gtest.h>

#include "daemons/common/planning/read_model.hpp"
#include "daemons/spurctld/service/account_rights.hpp"

namespace spur::ctld {
namespace {

class T24Rights : public ::testing::Test {
protected:
    T24Rights() {
        add(1, 0, "root", "");
        add(2, 1, "phys", "");
        add(3, 2, "lasers", "");
        add(4, 1, "chem", "");
        directory.accounts["phys"].coordinators = {"carol"};
        directory.users["alice"] = {"alice", "lasers", {}, AdminLevel::none};
        directory.users["boss"] = {"boss", "root", {}, AdminLevel::administrator};
        model.directory = std::make_shared<planning::Directory>(directory);
        model.names = std::make_shared<AssociationNames>(names);
    }
    void add(std::uint32_t id, std::uint32_t parent, std::string_view account, std::string_view user) {
        Association entry;
        entry.id = AssociationId{id};
        entry.parent = AssociationId{parent};
        entry.account = Text{account};
        entry.user = Text{user};
        directory.associations[entry.id] = entry;
        directory.accounts[entry.account].name = entry.account;
        names[association_key(account, user, {})] = entry.id;
    }
    bool may(const Actor& who, const Command& command) { return may_edit(who, command, model).has_value(); }
    static Command association(std::string_view account, std::string_view user, std::string_view parent = "") {
        EditAssociation edit{Edit::update, {}, Text{parent}};
        edit.association.account = Text{account};
        edit.association.user = Text{user};
        return edit;
    }

    planning::Directory directory;
    AssociationNames names;
    planning::ReadModel model;
    const Actor administrator{1000, AdminLevel::administrator, "boss"}, helper{1001, AdminLevel::operator_, "helper"},
        carol{1002, AdminLevel::none, "carol"}, dave{1003, AdminLevel::none, "dave"};
};

TEST_F(T24Rights, OrdinaryUsersChangeNothing) {
    EXPECT_FALSE(may(dave, association("chem", "dave")));
    EXPECT_FALSE(may(dave, EditQos{Edit::create, {}}));
    EXPECT_FALSE(may(dave, EditAccount{Edit::create, {"x", {}, {}, {}}}));
    EXPECT_FALSE(may(dave, EditUser{Edit::create, {"x", "chem", {}, AdminLevel::none}}));
    EXPECT_FALSE(may(dave, ResetUsage{"chem", {}, {}}));
}

TEST_F(T24Rights, OperatorsChangeAllButAdministrators) {
    EXPECT_TRUE(may(helper, association("chem", "")));
    EXPECT_TRUE(may(helper, EditQos{Edit::remove, {}}));
    EXPECT_TRUE(may(helper, EditUser{Edit::create, {"x", "chem", {}, AdminLevel::operator_}}));
    EXPECT_FALSE(may(helper, EditUser{Edit::create, {"x", "chem", {}, AdminLevel::administrator}}));
    EXPECT_FALSE(may(helper, EditUser{Edit::update, {"boss", "chem", {}, AdminLevel::none}}));
    EXPECT_TRUE(may(administrator, EditUser{Edit::create, {"x", "chem", {}, AdminLevel::administrator}}));
}

TEST_F(T24Rights, CoordinatorsChangeWhatIsBelowTheirAccount) {
    EXPECT_TRUE(may(carol, association("phys", "alice")));
    EXPECT_TRUE(may(carol, association("lasers", "alice")));
    EXPECT_TRUE(may(carol, association("lasers", "", "phys")));
    EXPECT_TRUE(may(carol, EditUser{Edit::create, {"new", "lasers", {}, AdminLevel::none}}));
    EXPECT_TRUE(may(carol, EditAccount{Edit::update, {"lasers", "light", {}, {}}}));

    EXPECT_FALSE(may(carol, association("phys", "", "root"))) << "her own limits are set by those above";
    EXPECT_FALSE(may(carol, association("chem", "alice")));
    EXPECT_FALSE(may(carol, association("lasers", "", "chem"))) << "nor may she move it away";
    EXPECT_FALSE(may(carol, EditUser{Edit::create, {"new", "chem", {}, AdminLevel::none}}));
    EXPECT_FALSE(may(carol, EditUser{Edit::create, {"new", "lasers", {}, AdminLevel::operator_}}));
    EXPECT_FALSE(may(carol, EditAccount{Edit::update, {"phys", "mine", {}, {}}}));
    EXPECT_FALSE(may(carol, EditQos{Edit::create, {}}));
}

TEST_F(T24Rights, OtherCommandsAreNotThisWayIn) { EXPECT_FALSE(may(administrator, Tick{})); }

}  // namespace
}  // namespace spur::ctld
