// Accounts, users, associations and QOS: every field of the wire's messages shows in a row, or is left out for a
// reason; what sacctmgr announces can be set.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "daemons/common/records/accounts.hpp"
#include "daemons/common/records/change.hpp"

namespace spur::records {
namespace {

// Messages as the .proto file has them: name -> fields. The lite runtime cannot tell.
struct ProtoField {
    std::string type, name;
    unsigned number;
};
std::map<std::string, std::vector<ProtoField>> messages() {
    std::ifstream in{SPUR_SOURCE_DIR "/proto/spur/v1/accounts.proto"};
    const std::regex message{R"(message (\w+) \{)"}, field{R"((optional |repeated )?(\w+) (\w+) = (\d+);)"};
    std::map<std::string, std::vector<ProtoField>> found;
    std::string current;
    for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find("//"));
        if (line.find("enum ") != std::string::npos) continue;
        if (std::smatch match; std::regex_search(line, match, message)) current = match[1];
        for (std::sregex_iterator at{line.begin(), line.end(), field}, end; at != end; ++at)
            found[current].push_back({(*at)[2], (*at)[3], static_cast<unsigned>(std::stoul((*at)[4]))});
    }
    return found;
}

// Bytes of a message with that one field set, and of its own fields with one each.
std::vector<std::pair<std::string, std::string>> one_field_each(const std::string& message) {
    static const auto all = messages();
    std::vector<std::pair<std::string, std::string>> found;
    const auto tag = [](unsigned number, unsigned kind) {
        const auto value = number << 3 | kind;
        return value < 128 ? std::string{static_cast<char>(value)}
                           : std::string{static_cast<char>((value & 127) | 128), static_cast<char>(value >> 7)};
    };
    for (const auto& [type, name, number] : all.at(message)) {
        if (type == "double")
            found.emplace_back(name, tag(number, 1) + std::string("\0\0\0\0\0\0\x08\x40", 8));
        else if (type == "string")
            found.emplace_back(name, tag(number, 2) + "\x03odd");
        else if (type == "TresCount")
            found.emplace_back(name, tag(number, 2) + std::string("\x07\x0a\x03") + "cpu" + "\x10\x03");
        else if (type == "AccountLimits")
            for (const auto& [below, bytes] : one_field_each(type))
                found.emplace_back(below, tag(number, 2) + static_cast<char>(bytes.size()) + bytes);
        else if (type != "AccountUsage")
            found.emplace_back(name, tag(number, 0) + "\x02");
    }
    return found;
}

class T55AccountsRecord : public ::testing::Test {
protected:
    std::string rows(std::span<const AccountsField> fields, const AccountsView& view) const {
        std::string text, scratch;
        for (const auto& field : fields) {
            text += write(field.get(view), field.type, Look::record, "", context, scratch);
            text += '|';
        }
        return text;
    }
    AccountsView view() const { return {.accounts = accounts, .in = context}; }

    template <class Record>
    void expect_shown(const char* name, std::span<const AccountsField> fields, const Record* AccountsView::*member,
                      const std::set<std::string>& left_out) {
        const Record plain;
        auto before = view();
        before.*member = &plain;
        std::set<std::string> seen;
        for (const auto& [field, bytes] : one_field_each(name)) {
            Record record;
            ASSERT_TRUE(record.ParseFromString(bytes)) << field;
            auto now = view();
            now.*member = &record;
            if constexpr (requires { record.limits(); }) now.limits = record.limits();
            EXPECT_EQ(rows(fields, now) != rows(fields, before), !left_out.contains(field)) << name << "." << field;
            seen.insert(field);
        }
        for (const auto& field : left_out) EXPECT_TRUE(seen.contains(field)) << "there is no " << field;
        EXPECT_GE(seen.size(), 4U);
    }

    Context context;
    Accounts accounts;
};

TEST_F(T55AccountsRecord, EveryFieldOfAMessageShowsOrIsLeftOutForAReason) {
    expect_shown("Association", association_fields(), &AccountsView::association,
                 {"is_default",  // the user's default account says it
                  "version"});   // for edits only
    expect_shown("Qos", qos_fields(), &AccountsView::qos, {"version"});
    expect_shown("AccountUser", user_fields(), &AccountsView::user, {});
    expect_shown("Account", account_fields(), &AccountsView::account,
                 {"coordinators"});  // shown with those of the accounts above, which need associations
}

TEST_F(T55AccountsRecord, WhatIsAnnouncedCanBeSetByTheWordOfItsColumn) {
    for (const auto fields : {association_fields(), qos_fields(), user_fields(), account_fields()})
        for (const auto& field : fields) {
            if (field.name == nullptr) continue;
            ASSERT_NE(field.change.set, nullptr) << field.name;
            EXPECT_EQ(find_change(fields, field.change.name), &field) << field.name;
            const auto* other = field.change.other ? field.change.other : field.change.name;
            EXPECT_EQ(find_change(fields, other), &field) << field.name;
        }
}

TEST_F(T55AccountsRecord, ALimitIsSetClearedAndRefused) {
    v1::Qos qos;
    for (const auto* name : {"cpu", "mem"}) accounts.all.add_tres(name);
    AccountsChange change{.accounts = accounts, .qos = &qos, .typed = "maxwall=x"};
    const auto set = [&](const char* word, const char* value) {
        const auto* field = find_change(qos_fields(), word);
        return field->change.set(change, {field->name ? field->name : field->change.name, value});
    };
    ASSERT_TRUE(set("maxjobspu", "3") && set("maxtres", "cpu=4,mem=1G") && set("maxcpus", "5"));
    EXPECT_EQ(qos.limits().max_jobs(), 3U);
    EXPECT_EQ(qos.limits().max_tres_per_job_size(), 2);
    ASSERT_TRUE(set("maxj", "-1") && set("maxtresperjob", "cpu=-1"));
    EXPECT_FALSE(qos.limits().has_max_jobs());
    EXPECT_EQ(qos.limits().max_tres_per_job_size(), 1);
    EXPECT_EQ(set("maxjobsperuser", "abc").error().text, "Invalid value for MaxJobsPerUser (abc)");
    EXPECT_EQ(set("maxwall", "x").error().text, " Bad MaxWall time format: maxwall=x");
    EXPECT_EQ(set("grptres", "gpu=1").error().text, "slurmdb_format_tres_str: no TRES known by type gpu");
    change.operation = '+';
    ASSERT_TRUE(set("flags", "nodecay") && set("flags", "denyonlimit"));
    EXPECT_EQ(qos.flags(), qos_flag::no_decay | qos_flag::deny_on_limit);
}

}  // namespace
}  // namespace spur::records
