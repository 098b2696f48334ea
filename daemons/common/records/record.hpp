// One row a field: its name on every surface, its type and unit, what it looks like where it is absent, how it is read
// from the wire's message, sorted and changed. Everything that lists, shows, sorts, writes or changes a record iterates
// its rows; only the layout of a page is the command's own.
//
// A kind of record has an enum of its fields, ended by `count_`, and a table of rows in that order. What one surface
// alone needs beyond this goes into a side table by id, beside that surface.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/base/result.hpp"

namespace spur::records {

// What the number means; each surface has its own way to write one.
enum class Type : std::uint8_t {
    text,
    count,
    number,      // may be negative
    flag,        // 0 or 1
    yes_no,      // the same, as words
    hundredths,  // of a node's load
    time,        // unix seconds
    minutes,     // Slurm's INFINITE and NO_VAL among them
    seconds,
    mib,
    real,
    exit_status,  // as wait() gives it
};

// A field's content, not yet written. Text is borrowed from the message, so a Value must not outlive it; what had to be
// put together is the Value's own. Empty text is an absent value.
class Value {
public:
    Value() = default;
    Value(std::string_view text) {  // NOLINT: getters return what they have
        if (!text.empty()) content_ = text;
    }
    Value(const std::string& text) : Value(std::string_view(text)) {}  // NOLINT
    Value(const char* text) : Value(std::string_view(text)) {}         // NOLINT
    Value(std::string&& text) {                                        // NOLINT
        if (!text.empty()) content_ = std::move(text);
    }
    template <std::integral T>
    Value(T number) : content_(static_cast<std::int64_t>(number)) {}  // NOLINT
    Value(double number) : content_(number) {}                        // NOLINT

    bool is_absent() const { return content_.index() == 0; }
    bool is_real() const { return std::holds_alternative<double>(content_); }
    bool is_number() const { return std::holds_alternative<std::int64_t>(content_); }
    std::int64_t number() const { return is_number() ? std::get<std::int64_t>(content_) : 0; }
    double real() const { return is_real() ? std::get<double>(content_) : static_cast<double>(number()); }
    std::string_view text() const {
        if (const auto* own = std::get_if<std::string>(&content_)) return *own;
        const auto* borrowed = std::get_if<std::string_view>(&content_);
        return borrowed ? *borrowed : std::string_view{};
    }
    // Absent first, then numbers, then text.
    friend std::weak_ordering operator<=>(const Value& a, const Value& b) {
        if (a.is_number() && b.is_number()) return a.number() <=> b.number();
        if (const auto kinds = a.rank() <=> b.rank(); kinds != 0) return kinds;
        if (a.rank() == 1) return std::weak_order(a.real(), b.real());
        return a.text().compare(b.text()) <=> 0;
    }
    friend bool operator==(const Value& a, const Value& b) { return (a <=> b) == 0; }

private:
    int rank() const { return is_absent() ? 0 : is_number() || is_real() ? 1 : 2; }
    std::variant<std::monostate, std::int64_t, double, std::string_view, std::string> content_;
};

inline Value present(bool is_there, Value value) { return is_there ? std::move(value) : Value{}; }
template <std::integral T>
Value nonzero(T number) {
    return number != 0 ? Value{number} : Value{};
}

inline constexpr char left_out[] = "(left out)";  // by address: the field is not shown at all
inline constexpr const char* null = nullptr;      // printf's "(null)"

// An absent number where only numbers can stand: JSON's null goes with slurm.h's NO_VAL and INFINITE.
enum class AbsentNumber : std::uint8_t { zero, no_val, infinite };

struct Absent {
    const char* listing = null;  // squeue, sinfo: "N/A"
    const char* record = null;   // scontrol show: "Unknown", left_out
    AbsentNumber number = AbsentNumber::zero;
};

// What happens to a listing's cell that is too wide. Right-justified node lists are never cut, nor are right-justified
// times, whose header is; the star of a default partition survives.
enum class Cut : std::uint8_t { always, unless_right, value_unless_right, keep_star };

struct Listing {
    char letter = 0;             // -o
    const char* name = nullptr;  // -O, in lower case
    const char* header = "";
    Cut cut = Cut::always;
    bool sorts = false;           // -S takes the letter
    const char* older = nullptr;  // a long name that scripts still use
    int width = 0;                // of its column in a table; negative: to the left
};

// One "Key=value" of a change: the key as it came, for the sentences about it.
struct Setting {
    std::string_view key;
    std::string_view value;
};

// How users change it: `scontrol update`. Who may, and when, is the state machine's rule and stands in the core.
template <class Target>
struct Change {
    const char* name = nullptr;                                             // in lower case; nullptr: cannot be changed
    std::size_t least = 0;                                                  // so many letters of it are enough
    Result<void> (*set)(Target& target, const Setting& setting) = nullptr;  // nullptr: the word is known, and refused
    const char* other = nullptr;                                            // another word for it, and its letters
    std::size_t other_least = 0;
    bool adds = false;  // may be typed as "Key+=value" and "Key-=value"
};

struct Unchangeable {};
struct NoId {};  // for rows that no code names

template <class View, class Id, class Target = Unchangeable>
struct Field {
    using ViewType = View;
    Id id{};
    const char* name = nullptr;  // scontrol's
    Listing listing = {};
    const char* sacct = nullptr;
    const char* json =
        nullptr;  // of squeue --json, sinfo --json and REST; the value of a nested one is its surface's own
    const char* member = nullptr;  // of slurm.h's struct
    Type type = Type::text;
    Absent absent = {};
    Value (*get)(const View& view);
    Value (*sort)(const View& view) = nullptr;  // nullptr: by the value itself
    Change<Target> change = {};
};

// True for a table with a row for every id, in the order of the ids.
template <class Row, std::size_t Size>
consteval bool covers_all(const Row (&rows)[Size]) {
    using Id = decltype(Row::id);
    if (Size != static_cast<std::size_t>(Id::count_)) return false;
    for (std::size_t i = 0; i < Size; ++i)
        if (rows[i].id != static_cast<Id>(i) || rows[i].get == nullptr) return false;
    return true;
}

// ---- writing -------------------------------------------------------------------------------------------------------

// What all records of one answer share.
struct Context {
    std::int64_t now = 0;
    std::string cluster;
    std::size_t array_text_limit = 64;  // 0: any length
    bool convert_units = true;
};

enum class Look : std::uint8_t { listing, record };  // "1:00" or "00:01:00"

// The value as text: itself where it is text, else written into `scratch`. An absent one gives `absent`.
std::string_view write(const Value& value, Type type, Look look, const char* absent, const Context& context,
                       std::string& scratch);

// The moment as SLURM_TIME_FORMAT asks, and `absent` for one that is not known.
std::string time_text(std::int64_t time, std::int64_t now, std::string_view absent);

}  // namespace spur::records
