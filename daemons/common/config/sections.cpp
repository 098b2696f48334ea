// Finding the section an entry belongs to, and the options of plugins.
#include "daemons/common/config/sections.hpp"

#include <algorithm>

#include "core/text/lexical.hpp"
#include "daemons/common/config/section_keys.hpp"

namespace spur::config {
namespace {

std::optional<ConfigValue> plugin_value(const TomlValue& value) {
    if (const auto* const yes = value.find<bool>()) return ConfigValue{*yes};
    if (const auto* const whole = value.find<std::int64_t>()) return ConfigValue{*whole};
    if (const auto* const real = value.find<double>()) return ConfigValue{*real};
    if (const auto* const text = value.find<std::string>()) return ConfigValue{*text};
    const auto* const list = value.find<TomlList>();
    if (list == nullptr) return std::nullopt;
    std::vector<std::string> texts;
    for (const auto& item : *list) {
        const auto* const text = item.find<std::string>();
        if (text == nullptr) return std::nullopt;
        texts.push_back(*text);
    }
    return ConfigValue{std::move(texts)};
}

// One option. `key = { file = "..." }` and `key.file = "..."` are the same in TOML, and come out as the latter.
void read_plugin_option(const std::string& type, const TomlEntry& option, std::vector<ConfigOption>& out,
                        Problems& problems) {
    const auto* const table = option.value.find<TomlTable>();
    if (table != nullptr && table->size() == 1 && table->front().key == "file") {
        if (auto path = plugin_value(table->front().value))
            return out.push_back({option.key + ".file", *std::move(path), option.line});
    }
    if (auto read = plugin_value(option.value)) return out.push_back({option.key, *std::move(read), option.line});
    problems.add(option.line,
                 "[plugin.\"{}\"] {} must be a text, a number, true, false, a list of texts or {{ file = \"...\" }}, "
                 "not {}",
                 type, option.key, option.value.describe());
}

// [plugin."sched/backfill"]: the options are the plugin's to judge; here only their form is.
void read_plugin_options(const TomlEntry& section, Config& config, Problems& problems) {
    const auto* const plugins = section.value.find<TomlTable>();
    if (plugins == nullptr) return problems.add(section.line, "plugin must be a table: write [plugin.\"axis/name\"]");
    for (const auto& [type, line, value] : *plugins) {
        const auto axis = std::string_view{type}.substr(0, type.find('/'));
        const auto* const options = value.find<TomlTable>();
        if (type.find('/') == std::string::npos || std::ranges::find(axis_names(), axis) == axis_names().end() ||
            !is_type_of(axis, type)) {
            problems.add(line, "[plugin.{}] does not name a plugin: write [plugin.\"axis/name\"] with an axis of {}",
                         spur::quoted(type), fmt::join(axis_names(), ", "));
            continue;
        }
        if (options == nullptr) {
            problems.add(line, "[plugin.\"{}\"] must be a table of options", type);
            continue;
        }
        auto& out = config.plugin_options[type];
        for (const auto& option : *options) read_plugin_option(type, option, out, problems);
    }
}

}  // namespace

void read_section(const TomlEntry& entry, Config& config, Drafts& drafts, Problems& problems) {
    if (entry.key == "plugin") return read_plugin_options(entry, config, problems);
    Draft draft{config, drafts, config.cluster.policies};
    for (const auto& section : sections().subspan(1)) {
        if (section.name != entry.key) continue;
        const auto* const table = entry.value.find<TomlTable>();
        if (table == nullptr) return problems.add(entry.line, "{} must be a table: write [{}]", entry.key, entry.key);
        return read_entries(*table, section.name, fmt::format("[{}] ", section.name), section.keys, draft, problems);
    }
    const auto top_keys = sections().front().keys;
    for (const auto& key : top_keys)
        if (key.name == entry.key) return key.read(Reading{entry.value, entry.key, problems}, draft);
    std::vector<std::string_view> known{"nodes", "partitions", "plugin"};
    for (const auto& section : sections().subspan(1)) known.push_back(section.name);
    for (const auto& key : top_keys) known.push_back(key.name);
    problems.add(entry.line, "there is no {} {}{}", entry.value.find<TomlTable>() != nullptr ? "section" : "key",
                 spur::quoted(entry.key), hint_for("", entry.key, known));
}

void list_section_keys(std::vector<ConfigKey>& out) {
    for (const auto& section : sections()) list_keys(section.name, section.keys, out);
}

}  // namespace spur::config
