// An administrator's options, checked against those a plugin declared and brought into the form create() is given.
#pragma once

#include <spur/plugin/module.h>

#include <deque>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/config.hpp"
#include "daemons/common/host/module_info.hpp"
#include "daemons/common/host/option_value.hpp"

namespace spur::host {

// Is the declared default a value of the declared kind?
Result<void> check_fallback(const OptionInfo& option);

// What [plugin."axis/name"] says.
const std::vector<ConfigOption>& options_for(const Config& config, const std::string& type);
// `isolate` is the host's own key beside those of the plugin: true or false. The rest is the plugin's.
Result<bool> wants_isolation(const std::vector<ConfigOption>& given, const std::string& type,
                             const std::string& source);
std::vector<ConfigOption> without_host_keys(std::vector<ConfigOption> given);

// Owns everything a spur_config points to.
class PluginConfig {
public:
    PluginConfig() = default;
    PluginConfig(const PluginConfig&) = delete;
    PluginConfig& operator=(const PluginConfig&) = delete;
    PluginConfig(PluginConfig&&) = default;
    PluginConfig& operator=(PluginConfig&&) = default;

    // Every declared option gets a value. All mistakes are reported, one sentence a line, each with file and line.
    static Result<PluginConfig> make(const DescriptorInfo& plugin, const std::vector<ConfigOption>& given,
                                     const std::string& source);

    // The same from the values of a configuration made elsewhere. Refused if the plugin declares other options by now.
    static Result<PluginConfig> restore(const DescriptorInfo& plugin, const std::vector<OptionValue>& values,
                                        const std::string& source);

    spur_config view() const;  // borrowed from this object
    std::vector<OptionValue> values() const;

    // A value in the type it is delivered as.
    using Delivered = std::variant<std::int64_t, double, std::string, std::vector<std::string>>;

private:
    std::deque<std::string> texts_;  // never move
    std::deque<std::vector<const char*>> lists_;
    std::vector<spur_config_value> values_;
    std::string source_;

    const char* keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }
    void add(const OptionInfo& option, const Delivered& value, const ConfigOption* given);  // nullptr: a default
};

// "2-00:00:00", "90" (minutes), "30s", "1h30m", "unlimited" (INT64_MAX): seconds.
Result<std::int64_t> parse_option_duration(std::string_view text);
// "512M", "2G", "1.5T", "4096": bytes; powers of 1024.
Result<std::int64_t> parse_option_size(std::string_view text);

}  // namespace spur::host
