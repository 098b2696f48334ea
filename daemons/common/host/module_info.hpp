// What a plugin file says about itself, copied out of it: plain values that outlive the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spur::host {

struct OptionInfo {
    std::string key;
    std::uint32_t kind{};   // SPUR_OPTION_*
    std::uint32_t flags{};  // SPUR_OPTION_REQUIRED
    bool has_fallback{false};
    std::string fallback;  // as it would be written in spur.conf, without quotes
    std::string help;
    std::string choices;  // "a|b|c", for SPUR_OPTION_CHOICE
    std::int64_t minimum{}, maximum{};
    bool operator==(const OptionInfo&) const = default;

    bool is_required() const { return (flags & 1U) != 0; }
    bool has_range() const { return minimum != 0 || maximum != 0; }
};
const char* option_kind_name(std::uint32_t kind);  // "duration"; "unknown" for a kind newer than this host

struct DescriptorInfo {
    std::string type;  // "sched/backfill"
    std::string version, vendor, summary;
    std::vector<std::string> interfaces;  // "spur.sched/1"
    std::vector<OptionInfo> options;
    bool operator==(const DescriptorInfo&) const = default;

    std::string axis() const { return type.substr(0, type.find('/')); }
};

struct ModuleInfo {
    std::string path;        // the file, symlinks resolved
    std::uint32_t epoch{};   // SPUR_ABI_EPOCH it was compiled with
    std::string built_with;  // SPUR_HEADERS_VERSION it was compiled with
    std::vector<DescriptorInfo> plugins;
    bool operator==(const ModuleInfo&) const = default;
};

}  // namespace spur::host
