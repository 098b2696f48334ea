// What is written can be read: values at random for every field of every command and every stored record. Whatever the
// encoder accepts the decoder reads, and gives back the same.
#include <gtest/gtest.h>

#include <random>

#include "core/store/codec.hpp"
#include "core/store/command_fields.hpp"
#include "core/store/config_fields.hpp"
#include "core/store/fields.hpp"

namespace spur {
namespace {

// Fills whatever has a list of fields. Now and then a value is far out of what a sane cluster has.
class Filler {
public:
    explicit Filler(std::uint64_t seed) : dice_{seed} {}

    template <class T>
    void fill(T& value) {
        if constexpr (std::is_same_v<T, bool>)
            value = pick(2) != 0;
        else if constexpr (archive::Id<T>)
            fill(value.value);
        else if constexpr (std::is_enum_v<T>)
            value = static_cast<T>(pick(256));
        else if constexpr (std::is_integral_v<T>)
            value = static_cast<T>(pick(4) != 0 ? pick(1000) : dice_());
        else if constexpr (std::is_same_v<T, double>)
            value = static_cast<double>(pick(1'000'000)) / 8 - 1000;
        else
            fill_body(value);
    }

    template <class T>
    T make() {
        T value{};
        fill(value);
        return value;
    }

    std::uint64_t pick(std::uint64_t count) { return dice_() % count; }

private:
    void fill_body(Text& text) { text = Text{random_text()}; }
    void fill_body(std::string& text) { text = random_text(); }
    void fill_body(Bitset& set) {
        set.clear();
        for (auto left = pick(8); left > 0; --left) set.add(static_cast<std::uint32_t>(pick(300)));
        if (pick(50) == 0) set.add(archive::bit_member_limit - 1);
        if (pick(50) == 0) set.add(archive::bit_member_limit + static_cast<std::uint32_t>(pick(1000)));
    }
    void fill_body(TaskSet& tasks) {
        std::vector<std::uint32_t> ids;
        for (auto left = pick(20); left > 0; --left) ids.push_back(static_cast<std::uint32_t>(pick(100)));
        if (pick(50) == 0) ids.push_back(UINT32_MAX);
        tasks = TaskSet::of(std::move(ids));
    }
    void fill_body(TresList& list) {
        for (auto left = pick(300) == 0 ? 5000 : pick(5); left > 0; --left) list.set(random_text(), dice_());
    }
    template <class T>
    void fill_body(std::vector<T>& list) {
        list.clear();
        for (auto left = pick(3); left > 0; --left) list.push_back(make<T>());
    }
    template <class T>
    void fill_body(std::optional<T>& value) {
        if (pick(2) != 0) fill(value.emplace());
    }
    template <class T>
    void fill_body(std::shared_ptr<const T>& value) {
        if (pick(2) != 0) value = std::make_shared<T>(make<T>());
    }
    template <archive::Struct T>
    void fill_body(T& value) {
        archive::fields_of<T>.apply([&](const auto&... entry) { (fill(value.*(entry.member)), ...); });
    }

    std::string random_text() {
        std::string text(pick(1000) == 0 ? 70'000 : pick(9), '\0');
        for (auto& letter : text) letter = static_cast<char>(pick(256));
        return text;
    }

    std::mt19937_64 dice_;
};

constexpr std::uint64_t rounds = 15;

template <std::size_t Index>
void check_command(std::size_t& refused) {
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        Filler filler{seed * 1000 + Index};
        Stamped<Command> command{filler.make<std::int64_t>(), {}};
        filler.fill(command.what.emplace<Index>());
        std::string bytes;
        if (!encode(command, bytes)) {
            ++refused;
            continue;
        }
        const auto read = decode_command(bytes);
        if (std::holds_alternative<SetStateVersion>(command.what)) continue;  // of a later release: stops the reader
        ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().text;
        EXPECT_EQ(read->at, command.at);
        EXPECT_TRUE(read->what == command.what) << command_name(command.what) << ", seed " << seed;
        std::string again;
        ASSERT_TRUE(encode(*read, again));
        EXPECT_EQ(again, bytes);
    }
}

template <std::size_t... Index>
void check_commands(std::index_sequence<Index...>, std::size_t& refused) {
    (check_command<Index>(refused), ...);
}

TEST(T50Archive, WhateverTheEncoderAcceptsTheDecoderReads) {
    std::size_t refused = 0;
    check_commands(std::make_index_sequence<std::variant_size_v<Command>>{}, refused);
    EXPECT_GT(refused, 0U) << "no value was out of bounds: the test tries too little";
}

TEST(Archive, AFixedNumberIsTheSameEightBytesOnEveryMachine) {
    std::string bytes;
    archive::Writer{bytes}.fixed(0x0102030405060708);
    EXPECT_EQ(bytes, "\x08\x07\x06\x05\x04\x03\x02\x01");
    archive::Reader in{bytes};
    std::uint64_t value = 0;
    EXPECT_TRUE(in.fixed(value));
    EXPECT_EQ(value, 0x0102030405060708U);
    EXPECT_FALSE(in.fixed(value));
}

template <class T>
void check_record() {
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
        const auto record = Filler{seed}.template make<T>();
        std::string bytes;
        archive::Writer out{bytes};
        archive::write_body(out, record);
        if (!out.problem().empty()) continue;
        T read{};
        ASSERT_TRUE(archive::read_body(archive::Reader{bytes}, read)) << "seed " << seed;
        std::string again;
        archive::Writer second{again};
        archive::write_body(second, read);
        EXPECT_EQ(again, bytes) << "seed " << seed;
    }
}

TEST(T50Archive, WhateverASnapshotHoldsIsReadFromIt) {
    check_record<ClusterConfig>();
    check_record<Node>();
    check_record<Partition>();
    check_record<Reservation>();
    check_record<Account>();
    check_record<User>();
    check_record<Association>();
    check_record<Qos>();
    check_record<Array>();
    check_record<Job>();
    check_record<Step>();
    check_record<JobSpec>();
}

TEST(T50Archive, FiveThousandLimitsAreReadBack) {
    EditAssociation edit;
    for (int i = 0; i < 5000; ++i) edit.association.limits.grp_tres.set(fmt::format("gres/x{}", i), 1);
    const Stamped<Command> command{1, edit};
    const auto read = decode_command(encode(command));
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_TRUE(read->what == command.what);
}

TEST(T50Archive, FieldsOfALaterVersionAreWrittenOnlyWhereThatIsInForce) {
    std::string bytes;
    const Stamped<Command> command{1, ApplyConfig{{}, "digest"}};
    EXPECT_FALSE(encode(command, bytes, 1));
    bytes.clear();
    EXPECT_TRUE(encode(command, bytes, 2));
    bytes.clear();
    EXPECT_TRUE(encode({1, ApplyConfig{{}, {}}}, bytes, 1)) << "it says nothing that is new";
}

}  // namespace
}  // namespace spur
