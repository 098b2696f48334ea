// The tagged binary format behind log entries, snapshots and what spurd and spurstepd tell each other. Light enough for
// spurstepd: core/store/archive.hpp adds the core's own types. A struct lists its members once:
//
//     template <>
//     inline constexpr auto fields_of<StepKey> = numbered(&StepKey::job, &StepKey::step);
//
// A field's number is its place in that list, from 1: append, and never move, reuse or remove one. Writing leaves out
// what equals a default-constructed struct. A field is a varint `number * 4 + kind`, then: kind 0 a varint, kind 1
// eight bytes, kind 2 a length and bytes.
//
// What is written can be read: a value that the reader would refuse fails the writer. A field of a later version of the
// state, `since<3>(&T::member)`, is written only where that version is in force, so a number that the reader does not
// know comes from a newer release, and reading fails rather than dropping what it says. Lists that are
// skipping_unknown() are for messages between neighbours of two releases: what the reader does not know is passed over.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/store/state_version.hpp"

namespace spur::archive {

template <class T>
inline constexpr auto fields_of = nullptr;  // specialise with `numbered(&T::member, ...)`

template <std::uint32_t Number, std::uint32_t Since, class Owner, class Member>
struct Field {
    static constexpr std::uint32_t number = Number;
    static constexpr std::uint32_t since = Since;  // the version of the state that brought it
    Member Owner::*member;
};
template <std::uint32_t Number, std::uint32_t Since = first_state_version, class Owner, class Member>
constexpr Field<Number, Since, Owner, Member> field(Member Owner::*member) {
    return {member};
}

// The fields are bases rather than members of a std::tuple, which takes the compiler seconds for a long list.
template <class... Fields>
struct FieldList : Fields... {
    bool skips_unknown = false;
    constexpr FieldList skipping_unknown() const {
        auto list = *this;
        list.skips_unknown = true;
        return list;
    }
    // Calls `function` with all fields at once.
    template <class Function>
    constexpr decltype(auto) apply(Function&& function) const {
        return function(static_cast<const Fields&>(*this)...);
    }
};
template <class... Fields>
FieldList(Fields...) -> FieldList<Fields...>;

template <std::uint32_t Since, class Owner, class Member>
struct LaterMember {
    Member Owner::*member;
};
template <std::uint32_t Since, class Owner, class Member>
constexpr LaterMember<Since, Owner, Member> since(Member Owner::*member) {
    return {member};
}

template <std::uint32_t Number, std::uint32_t Since, class Owner, class Member>
constexpr auto field(LaterMember<Since, Owner, Member> later) {
    return field<Number, Since>(later.member);
}
template <class... Members>
constexpr auto numbered(Members... members) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return FieldList{field<I + 1>(members)...};
    }(std::index_sequence_for<Members...>{});
}

template <class T>
concept Struct = !std::is_null_pointer_v<decltype(fields_of<T>)>;
template <class T>
concept Id = std::is_same_v<T, JobId> || std::is_same_v<T, NodeId> || std::is_same_v<T, StepId> ||
             std::is_same_v<T, AssociationId>;
template <class T>
concept Number = std::is_integral_v<T> || std::is_enum_v<T> || Id<T>;  // written as a varint

template <class Owner, class Member>
constexpr std::uint32_t number_of(Member Owner::*member) {
    std::uint32_t number = 0;
    const auto compare = [&]<class Entry>(const Entry& entry) {
        if constexpr (std::is_same_v<decltype(entry.member), Member Owner::*>)
            if (entry.member == member) number = Entry::number;
    };
    fields_of<Owner>.apply([&](const auto&... entry) { (compare(entry), ...); });
    return number;
}

enum Kind : std::uint32_t { kind_varint = 0, kind_fixed = 1, kind_bytes = 2 };

inline constexpr std::string_view of_a_later_version =
    "it uses what not every controller understands yet; bring all controllers to the same release";

// ---- writing -------------------------------------------------------------------------------------------------------

class Writer {
public:
    // `version` of the state is in force.
    explicit Writer(std::string& out, std::uint32_t version = newest_state_version) : out_{out}, version_{version} {}

    std::uint32_t version() const { return version_; }
    // What is written cannot be read, or not by everyone: the bytes must not be used.
    void refuse(std::string_view why) {
        if (problem_.empty()) problem_ = why;
    }
    std::string_view problem() const { return problem_; }  // the first; empty: none

    void varint(std::uint64_t value) {
        while (value >= 0x80) {
            out_.push_back(static_cast<char>(value | 0x80));
            value >>= 7;
        }
        out_.push_back(static_cast<char>(value));
    }
    void bytes(std::string_view data) { out_.append(data); }
    void fixed(std::uint64_t value) {  // eight bytes, the lowest first on every machine
        for (int i = 0; i < 8; ++i) out_.push_back(static_cast<char>(value >> (8 * i)));
    }

    // Writes what f writes, preceded by its length.
    template <class F>
    void sized(F&& f) {
        const auto start = out_.size();
        out_.push_back(0);
        f();
        const auto length = out_.size() - start - 1;
        if (length < 0x80) {
            out_[start] = static_cast<char>(length);
            return;
        }
        char prefix[10];
        std::size_t size = 0;
        for (auto rest = length; rest; rest >>= 7)
            prefix[size++] = static_cast<char>(rest >= 0x80 ? rest | 0x80 : rest);
        out_.insert(start + 1, size - 1, '\0');
        std::memcpy(out_.data() + start, prefix, size);
    }

private:
    std::string& out_;
    std::uint32_t version_;
    std::string_view problem_;  // of static life
};

template <Number T>
std::uint64_t to_varint(const T& value) {
    if constexpr (Id<T>) {
        return value.value;
    } else if constexpr (std::is_enum_v<T>) {
        return static_cast<std::uint64_t>(value);
    } else if constexpr (std::is_signed_v<T>) {
        const auto wide = static_cast<std::int64_t>(value);
        return (static_cast<std::uint64_t>(wide) << 1) ^ static_cast<std::uint64_t>(wide >> 63);
    } else {
        return static_cast<std::uint64_t>(value);
    }
}

inline void write_body(Writer& out, std::string_view text) { out.bytes(text); }
template <class T>
void write_body(Writer& out, const std::vector<T>& list);
template <Struct T>
void write_body(Writer& out, const T& value);

template <class T>
void write_field(Writer& out, std::uint32_t number, const T& value) {
    if constexpr (Number<T>) {
        out.varint(number * 4 + kind_varint);
        out.varint(to_varint(value));
    } else if constexpr (std::is_same_v<T, double>) {
        out.varint(number * 4 + kind_fixed);
        out.fixed(std::bit_cast<std::uint64_t>(value));
    } else {
        out.varint(number * 4 + kind_bytes);
        out.sized([&] { write_body(out, value); });
    }
}
template <class T>
void write_field(Writer& out, std::uint32_t number, const std::optional<T>& value) {
    if (value) write_field(out, number, *value);
}
template <class T>
void write_field(Writer& out, std::uint32_t number, const std::shared_ptr<const T>& value) {
    if (value) write_field(out, number, *value);
}

template <class T>
void write_body(Writer& out, const std::vector<T>& list) {
    for (const auto& item : list) {
        if constexpr (Number<T>)
            out.varint(to_varint(item));
        else
            out.sized([&] { write_body(out, item); });
    }
}

template <Struct T>
void write_body(Writer& out, const T& value) {
    [[maybe_unused]] static const T blank{};
    const auto write_one = [&](const auto& entry) {
        const auto& member = value.*(entry.member);
        if (member == blank.*(entry.member)) return;
        if (entry.since > out.version()) out.refuse(of_a_later_version);
        write_field(out, entry.number, member);
    };
    fields_of<T>.apply([&](const auto&... entry) { (write_one(entry), ...); });
}

// ---- reading -------------------------------------------------------------------------------------------------------

// Every read says whether it worked; nothing reads past the end, whatever a length claims.
class Reader {
public:
    explicit Reader(std::string_view data) : data_{data} {}
    bool empty() const { return data_.empty(); }
    std::size_t left() const { return data_.size(); }
    std::string_view rest() const { return data_; }

    bool varint(std::uint64_t& value) {
        value = 0;
        for (unsigned shift = 0; shift < 64 && !data_.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(data_.front());
            data_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (!(byte & 0x80)) return shift < 63 || byte <= 1;
        }
        return false;
    }
    bool bytes(std::string_view& out, std::uint64_t size) {
        if (size > data_.size()) return false;
        out = data_.substr(0, size);
        data_.remove_prefix(size);
        return true;
    }
    bool fixed(std::uint64_t& value) {
        std::string_view raw;
        if (!bytes(raw, 8)) return false;
        value = 0;
        for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
        return true;
    }
    bool sized(std::string_view& out) {
        std::uint64_t size = 0;
        return varint(size) && bytes(out, size);
    }
    // Steps over a field's value.
    bool skip(std::uint32_t kind) {
        std::uint64_t ignored = 0;
        std::string_view body;
        if (kind == kind_varint) return varint(ignored);
        if (kind == kind_fixed) return bytes(body, 8);
        return kind == kind_bytes && sized(body);
    }

private:
    std::string_view data_;
};

template <Number T>
bool from_varint(std::uint64_t raw, T& value) {
    if constexpr (Id<T>) {
        return from_varint(raw, value.value);
    } else if constexpr (std::is_same_v<T, bool>) {
        value = raw != 0;
        return raw <= 1;
    } else if constexpr (std::is_enum_v<T>) {
        std::underlying_type_t<T> number{};
        if (!from_varint(raw, number)) return false;
        value = static_cast<T>(number);
        return true;
    } else if constexpr (std::is_signed_v<T>) {
        const auto wide = static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
        value = static_cast<T>(wide);
        return value == wide;
    } else {
        value = static_cast<T>(raw);
        return value == raw;
    }
}

// Reads all of `in`: a Reader rather than its bytes, so that lists find the overloads of types declared after them.
inline bool read_body(Reader in, std::string& text) { return text.assign(in.rest()), true; }
inline bool read_body(Reader in, std::string_view& text) { return text = in.rest(), true; }  // points into the bytes
template <class T>
bool read_body(Reader in, std::vector<T>& list);
template <Struct T>
bool read_body(Reader in, T& value);

template <class T>
bool read_field(Reader& in, std::uint32_t kind, T& value) {
    if constexpr (Number<T>) {
        std::uint64_t raw = 0;
        return kind == kind_varint && in.varint(raw) && from_varint(raw, value);
    } else if constexpr (std::is_same_v<T, double>) {
        std::uint64_t bits = 0;
        if (kind != kind_fixed || !in.fixed(bits)) return false;
        value = std::bit_cast<double>(bits);
        return true;
    } else {
        std::string_view body;
        return kind == kind_bytes && in.sized(body) && read_body(Reader{body}, value);
    }
}
template <class T>
bool read_field(Reader& in, std::uint32_t kind, std::optional<T>& value) {
    return read_field(in, kind, value.emplace());
}
template <class T>
bool read_field(Reader& in, std::uint32_t kind, std::shared_ptr<const T>& value) {
    auto fresh = std::make_shared<T>();
    if (!read_field(in, kind, *fresh)) return false;
    value = std::move(fresh);
    return true;
}

template <class T>
bool read_body(Reader in, std::vector<T>& list) {
    list.clear();
    while (!in.empty()) {
        T item{};
        if constexpr (Number<T>) {
            std::uint64_t raw = 0;
            if (!in.varint(raw) || !from_varint(raw, item)) return false;
        } else {
            std::string_view inner;
            if (!in.sized(inner) || !read_body(Reader{inner}, item)) return false;
        }
        list.push_back(std::move(item));
    }
    return true;
}

template <Struct T>
bool read_body(Reader in, T& value) {
    while (!in.empty()) {
        std::uint64_t tag = 0;
        if (!in.varint(tag)) return false;
        const auto number = tag >> 2;
        const auto kind = static_cast<std::uint32_t>(tag & 3);
        bool good = true;
        const bool known = fields_of<T>.apply([&](const auto&... entry) {
            return ((entry.number == number && (good = read_field(in, kind, value.*(entry.member)), true)) || ...);
        });
        if (!good) return false;
        if (known) continue;
        if constexpr (fields_of<T>.skips_unknown) {
            if (!in.skip(kind)) return false;
        } else {
            return false;
        }
    }
    return true;
}

// A message that stands alone, where no version of the state matters.
template <Struct T>
std::string to_bytes(const T& value) {
    std::string bytes;
    Writer out{bytes};
    write_body(out, value);
    return bytes;
}
template <Struct T>
std::optional<T> from_bytes(std::string_view bytes) {
    std::optional<T> value{std::in_place};
    if (!read_body(Reader{bytes}, *value)) value.reset();
    return value;
}

// The number in one field of a struct that this release may not know in full.
inline std::optional<std::uint64_t> find_number(std::string_view body, std::uint32_t number) {
    Reader in{body};
    std::uint64_t tag = 0;
    while (in.varint(tag)) {
        std::uint64_t value = 0;
        if (tag == number * std::uint64_t{4} + kind_varint)
            return in.varint(value) ? std::optional{value} : std::nullopt;
        if (!in.skip(static_cast<std::uint32_t>(tag & 3))) break;
    }
    return std::nullopt;
}

}  // namespace spur::archive
