// spur plugin list and info: what plugin files say about themselves, asked in a child process each.
#include "cli/common/json.hpp"
#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/plugin/commands.hpp"
#include "daemons/common/host/probe.hpp"
#include "daemons/common/host/search.hpp"

namespace spur::cli::plugin {
namespace {

using host::DescriptorInfo;
using host::Found;
using host::OptionInfo;

std::string state_of(const Found& found, const std::string& type, const Surroundings& around) {
    if (found.shadowed) return "shadowed";  // a file of the same name comes earlier in the search path
    if (const auto state = around.running.find(type); state != around.running.end()) return state->second;
    return around.selected.contains(type) ? "selected" : "available";
}

// What the controller makes of its plugins, if there is one to ask: it may have put another in the place of a selected
// one.
std::map<std::string, std::string> ask_controller(const Invocation& self) {
    std::map<std::string, std::string> states;
    auto session = Session::open(self.controller);
    if (!session) return states;
    const auto reply = session->call<v1::PluginStatsReply>("PluginStats", v1::PluginStatsRequest{},
                                                           {.timeout = std::chrono::seconds{2},
                                                            .unreachable_timeout = std::chrono::milliseconds{200},
                                                            .idempotent = true,
                                                            .metadata = {}});
    if (!reply) return states;
    for (const auto& plugin : reply->plugins())
        states[plugin.type()] = plugin.state() == "active" ? "in force" : plugin.state();
    return states;
}

std::string type_from_name(const std::filesystem::path& file) {
    auto name = file.stem().string();
    if (const auto cut = name.find('_'); cut != std::string::npos) name[cut] = '/';
    return name;
}

std::string list_text(const std::vector<Found>& all, const Surroundings& around) {
    std::vector<std::vector<std::string>> rows{{"TYPE", "VERSION", "HEADERS", "VENDOR", "STATE", "FILE"}};
    std::string refusals;
    for (const auto& found : all) {
        if (!found.module) {
            rows.push_back({type_from_name(found.file), "-", "-", "-", "refused", found.file.string()});
            refusals += fmt::format("refused: {}\n", found.module.error().text);
            continue;
        }
        for (const auto& one : found.module->plugins)
            rows.push_back({one.type, one.version, found.module->built_with, one.vendor,
                            state_of(found, one.type, around), found.file.string()});
    }
    if (rows.size() == 1) {
        std::string dirs;
        for (const auto& dir : around.dirs) dirs += fmt::format("{}{}", dirs.empty() ? "" : ", ", dir.string());
        return fmt::format("no plugins in {}\n", dirs);
    }
    return in_columns(rows) + refusals;
}

void write_descriptor(JsonWriter& out, const DescriptorInfo& one) {
    out.member("type", one.type);
    out.member("axis", one.axis());
    out.member("version", one.version);
    out.member("vendor", one.vendor);
    out.member("summary", one.summary);
    out.key("interfaces");
    out.begin_array();
    for (const auto& id : one.interfaces) out.value(id);
    out.end_array();
}

std::string list_json(const std::vector<Found>& all, const Surroundings& around) {
    JsonWriter out;
    out.begin_object();
    out.key("plugins");
    out.begin_array();
    for (const auto& found : all) {
        if (!found.module) {
            out.begin_object();
            out.member("type", type_from_name(found.file));
            out.member("file", found.file.string());
            out.member("state", "refused");
            out.member("error", found.module.error().text);
            out.end_object();
            continue;
        }
        for (const auto& one : found.module->plugins) {
            out.begin_object();
            write_descriptor(out, one);
            out.member("file", found.file.string());
            out.member("headers", found.module->built_with);
            out.member("state", state_of(found, one.type, around));
            out.end_object();
        }
    }
    out.end_array();
    out.end_object();
    return out.take();
}

std::string range_text(const OptionInfo& option) {
    if (!option.choices.empty()) return option.choices;
    return option.has_range() ? fmt::format("{} to {}", option.minimum, option.maximum) : "";
}

std::string info_text(const host::ModuleInfo& module, const DescriptorInfo& one, const std::filesystem::path& file) {
    std::string interfaces;
    for (const auto& id : one.interfaces) interfaces += fmt::format("{}{}", interfaces.empty() ? "" : ", ", id);
    auto text = fmt::format("{} {} by {}\n{}\n\n", one.type, one.version, one.vendor, one.summary);
    text += in_columns({{"File", file.string()},
                        {"Headers", fmt::format("{} (epoch {})", module.built_with, module.epoch)},
                        {"Interfaces", interfaces}});
    if (one.options.empty()) return text + "\nIt has no options.\n";
    text += fmt::format("\nOptions, in [plugin.\"{}\"] of spur.conf:\n", one.type);
    std::vector<std::vector<std::string>> rows{{"KEY", "KIND", "DEFAULT", "VALUES", "MEANING"}};
    for (const auto& option : one.options)
        rows.push_back({option.key, host::option_kind_name(option.kind),
                        option.is_required()    ? "(required)"
                        : !option.has_fallback  ? "(empty)"
                        : option.fallback == "" ? "\"\""
                                                : option.fallback,
                        range_text(option), option.help});
    return text + in_columns(rows, "  ");
}

std::string info_json(const host::ModuleInfo& module, const DescriptorInfo& one, const std::filesystem::path& file) {
    JsonWriter out;
    out.begin_object();
    write_descriptor(out, one);
    out.member("file", file.string());
    out.member("headers", module.built_with);
    out.member("epoch", module.epoch);
    out.key("options");
    out.begin_array();
    for (const auto& option : one.options) {
        out.begin_object();
        out.member("key", option.key);
        out.member("kind", host::option_kind_name(option.kind));
        out.member("required", option.is_required());
        if (option.has_fallback)
            out.member("default", option.fallback);
        else
            out.member_null("default");
        if (!option.choices.empty()) out.member("choices", option.choices);
        if (option.has_range()) out.member("minimum", option.minimum), out.member("maximum", option.maximum);
        out.member("help", option.help);
        out.end_object();
    }
    out.end_array();
    out.end_object();
    return out.take();
}

}  // namespace

Result<int> list(const Options& options, Invocation& self) {
    SPUR_TRY(auto around, find_surroundings(options));
    around.running = ask_controller(self);
    const auto all = host::probe_all(around.dirs);
    print_out(options.json ? list_json(all, around) : list_text(all, around));
    return 0;
}

Result<int> info(const Options& options, Invocation&) {
    const auto& word = options.words.front();
    std::filesystem::path file = word;
    if (host::is_plugin_type(word) && !std::filesystem::exists(file)) {
        SPUR_TRY(const auto around, find_surroundings(options));
        SPUR_TRY(const auto found, host::find_plugin(word, around.dirs));
        file = found.path;
    }
    SPUR_TRY(const auto module, host::probe(file));
    std::string text;
    for (const auto& one : module.plugins) {
        if (host::is_plugin_type(word) && one.type != word) continue;
        if (!text.empty()) text += '\n';
        text += options.json ? info_json(module, one, file) : info_text(module, one, file);
    }
    if (text.empty()) return fail(ErrorCode::not_found, "{} holds no plugin {}", file.string(), word);
    print_out(text);
    return 0;
}

}  // namespace spur::cli::plugin
