// Hostlists: gpu[001-064,70]-ib[0-1]. Lists keep order and repeats as Slurm does; sets have neither.
//
// A host name is a prefix and, if it ends in digits, a number of known width: n08 is ("n", 8, width 2).
// Nothing here expands a range unless asked to, so ten thousand nodes cost what a dozen ranges cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur {

inline constexpr std::size_t max_hosts_in_range = 65'536;  // n[0-65535], as in Slurm
inline constexpr std::size_t max_hosts_in_list = 262'144;  // keeps n[0-65535][0-65535] from eating the machine

// prefix + every number from `low` to `high`, each written with at least `width` digits.
// A name without a trailing number has width 0, and low and high mean nothing.
struct HostRange {
    std::string prefix;
    std::uint64_t low{};
    std::uint64_t high{};
    std::uint8_t width{};

    bool is_numbered() const { return width != 0; }
    std::size_t size() const { return static_cast<std::size_t>(high - low + 1); }
    std::string name(std::size_t index) const;  // the index-th name, index < size()
    bool operator==(const HostRange&) const = default;
};

class HostList {
public:
    HostList() = default;

    // "n[1-3],login" or "n1 n2"; an empty text is an empty list. Errors name the part that is wrong. More than `most`
    // hosts are refused before they are made.
    static Result<HostList> parse(std::string_view text, std::size_t most = max_hosts_in_list);
    static HostList of(std::span<const std::string> names);  // each taken as it is: brackets mean nothing

    void push_back(std::string_view name);  // one literal name
    void append(const HostList& other);

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    bool contains(std::string_view name) const { return find(name).has_value(); }
    std::optional<std::size_t> find(std::string_view name) const;  // position of the first match
    std::optional<std::string> nth(std::size_t index) const;
    const std::vector<HostRange>& ranges() const { return ranges_; }

    std::vector<std::string> names() const;  // like `scontrol show hostnames`
    std::string str() const;                 // like `scontrol show hostlist`: order and repeats kept
    HostList sorted() const;                 // like `scontrol show hostlistsorted`: repeats kept

private:
    friend class HostSet;
    void push_range(HostRange range);  // joined to the last range where one bracket can hold both

    std::vector<HostRange> ranges_;
    std::size_t size_{};
};

// A set of host names, kept as sorted disjoint runs. n[1-2][3-4] and n[13-14,23-24] are the same set.
class HostSet {
public:
    HostSet() = default;
    explicit HostSet(const HostList& list);
    static Result<HostSet> parse(std::string_view text, std::size_t most = max_hosts_in_list);
    static HostSet of(std::span<const std::string> names);

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    bool contains(std::string_view name) const;
    bool contains(const HostSet& other) const { return (other - *this).empty(); }
    bool intersects(const HostSet& other) const { return !(*this & other).empty(); }

    HostSet operator|(const HostSet& other) const;
    HostSet operator&(const HostSet& other) const;
    HostSet operator-(const HostSet& other) const;
    bool operator==(const HostSet&) const = default;

    HostList list() const;  // sorted
    std::vector<std::string> names() const { return list().names(); }
    std::string str() const { return list().str(); }

    // All names of one prefix whose numbers are written with exactly `digits` digits; 0: the prefix alone.
    struct Run {
        std::string prefix;
        std::uint64_t low{};
        std::uint64_t high{};
        std::uint8_t digits{};
        bool operator==(const Run&) const = default;
    };

private:
    explicit HostSet(std::vector<Run> sorted_runs);

    std::vector<Run> runs_;  // sorted by prefix in natural order, digits, low; disjoint, never adjacent
    std::size_t size_{};
};

// The two everyday calls: "n[1-3]" to names and back.
Result<std::vector<std::string>> expand_hosts(std::string_view text);
std::string compress_hosts(std::span<const std::string> names);  // sorted, repeats dropped

}  // namespace spur
