// What crosses arrives as it left, and what was cut off or lengthened on the way is noticed.
#include <gtest/gtest.h>

#include "daemons/common/isolate/crossing.hpp"
#include "daemons/common/isolate/opening.hpp"

namespace spur::isolate {
namespace {

struct Older {  // what an older plugin knows of a newer struct
    std::uint32_t size, first;
};
struct Newer {
    std::uint32_t size, first;
    std::uint64_t second;
};

TEST(IsolateValues, WhatAStructDoesNotHaveIsZero) {
    const Older older{sizeof(Older), 7};
    const auto copy = copy_of(reinterpret_cast<const Newer*>(&older), older.size);
    EXPECT_EQ(copy.first, 7u);
    EXPECT_EQ(copy.second, 0u);
}

TEST(IsolateValues, AReaderNeverLeavesItsBytes) {
    Pack out;
    out.text("hello");
    out.raw(std::uint32_t{5});
    for (std::size_t length = 0; length < out.bytes().size(); ++length) {
        Unpack in{std::string_view{out.bytes()}.substr(0, length)};
        const auto text = in.text();
        const auto number = in.get<std::uint32_t>();
        EXPECT_FALSE(in.good()) << length;
        EXPECT_TRUE(text == "hello" || text.empty());
        EXPECT_EQ(number, 0u);
    }
    Pack huge;
    huge.raw(~std::uint64_t{0});
    Unpack in{huge.bytes()};
    EXPECT_EQ(in.text(), "");
    EXPECT_FALSE(in.good());
}

TEST(IsolateValues, TheOpeningWordsCarryOptionsOfEveryKind) {
    host::IsolationWanted wanted{&host::AuthAxis::info, "auth/x", "/lib/auth_x.so", "spurctld", "1.0", {{"cluster_name", "c"}},
                                 {{"flag", true, 1}, {"number", std::int64_t{-5}, 2}, {"real", 0.1, 3}, {"text", std::string{"t"}, 4},
                                  {"list", std::vector<std::string>{"a", "b"}, 5}},
                                 {"/lib"}, "spur.conf", false};
    Pack out;
    pack(out, wanted);
    const auto opening = unpack_opening(out.bytes());
    ASSERT_TRUE(opening);
    EXPECT_EQ(opening->axis, "auth");
    EXPECT_EQ(opening->wanted.options, wanted.options);
    EXPECT_EQ(opening->wanted.facts, wanted.facts);
    EXPECT_EQ(opening->wanted.dirs, wanted.dirs);
    EXPECT_FALSE(opening->wanted.check_owner);
    EXPECT_FALSE(unpack_opening(std::string_view{out.bytes()}.substr(0, out.bytes().size() - 1)));
}

}  // namespace
}  // namespace spur::isolate
