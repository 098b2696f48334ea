// Reading spur.conf. docs/spur.conf.md lists every key; config_keys() is where that list comes from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"

namespace spur::config {

struct ConfigProblem {
    std::uint32_t line{};  // 0: the file as a whole
    std::string text;
    bool operator==(const ConfigProblem&) const = default;
};

// The configuration in `text`, or everything that is wrong with it in the order of the lines. `source` is the file's
// name.
std::expected<Config, std::vector<ConfigProblem>> parse_config(std::string_view text, const std::string& source);

// "node \"n[01-04\" has an unclosed bracket (spur.conf:31)", one a line.
std::string to_string(const std::vector<ConfigProblem>& problems, const std::string& source);

// The same from a file. A daemon passes check_owner: as root it refuses a file that others than root may write, as
// another user one that everyone may write.
struct ConfigSource {
    std::filesystem::path path;
    bool check_owner{true};
};
Result<Config> load_config(const ConfigSource& source);

// What is allowed but seldom intended, a sentence each: no nodes, no partitions.
std::vector<std::string> config_warnings(const Config& config);

// SPUR_CONF, or /etc/spur/spur.conf.
std::filesystem::path default_config_path();

// What may be written, for docs, completions and a test that the docs are whole.
struct ConfigKey {
    std::string_view section;  // "", "controller", "partitions"
    std::string_view key;
    std::string_view kind;  // "text", "list of texts", "duration"...
    std::string_view fallback;
    std::string_view help;
    std::string_view slurm;   // its name in slurm.conf and `scontrol show config`; empty: Slurm has no such key
    std::string_view member;  // of slurm.h's slurm_conf_t
    std::string (*show)(const Config& config);  // as `scontrol show config` writes it; nullptr: not shown
};
const std::vector<ConfigKey>& config_keys();

}  // namespace spur::config
