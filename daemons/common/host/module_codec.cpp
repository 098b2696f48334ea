// Fixed-width numbers and counted strings. The bytes come from a process that ran foreign code: nothing in them is
// believed.
#include "daemons/common/host/module_codec.hpp"

#include <cstring>

namespace spur::host {
namespace {

constexpr std::uint64_t most_items = 4'096;

// One walk over the members serves both directions.
class Writer {
public:
    void operator()(std::uint64_t number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof(number)); }
    void operator()(const std::string& text) {
        (*this)(std::uint64_t{text.size()});
        bytes += text;
    }
    std::string bytes;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest{bytes} {}
    std::uint64_t number() {
        std::uint64_t value = 0;
        if (!good || rest.size() < sizeof(value)) return good = false, 0;
        std::memcpy(&value, rest.data(), sizeof(value));
        rest.remove_prefix(sizeof(value));
        return value;
    }
    std::string text() {
        const auto size = number();
        if (!good || size > rest.size()) return good = false, std::string{};
        std::string value{rest.substr(0, size)};
        rest.remove_prefix(size);
        return value;
    }
    std::uint64_t count() {
        const auto value = number();
        if (value > most_items) return good = false, 0;
        return value;
    }
    std::string_view rest;
    bool good{true};
};

void write(Writer& put, const OptionInfo& option) {
    put(option.key);
    put(option.kind);
    put(option.flags);
    put(option.has_fallback ? 1 : 0);
    put(option.fallback);
    put(option.help);
    put(option.choices);
    put(static_cast<std::uint64_t>(option.minimum));
    put(static_cast<std::uint64_t>(option.maximum));
}

OptionInfo read_option(Reader& get) {
    OptionInfo option;
    option.key = get.text();
    option.kind = static_cast<std::uint32_t>(get.number());
    option.flags = static_cast<std::uint32_t>(get.number());
    option.has_fallback = get.number() != 0;
    option.fallback = get.text();
    option.help = get.text();
    option.choices = get.text();
    option.minimum = static_cast<std::int64_t>(get.number());
    option.maximum = static_cast<std::int64_t>(get.number());
    return option;
}

}  // namespace

std::string encode_module(const ModuleInfo& module) {
    Writer put;
    put(module.path);
    put(module.epoch);
    put(module.built_with);
    put(std::uint64_t{module.plugins.size()});
    for (const auto& plugin : module.plugins) {
        for (const auto* const text : {&plugin.type, &plugin.version, &plugin.vendor, &plugin.summary}) put(*text);
        put(std::uint64_t{plugin.interfaces.size()});
        for (const auto& id : plugin.interfaces) put(id);
        put(std::uint64_t{plugin.options.size()});
        for (const auto& option : plugin.options) write(put, option);
    }
    return std::move(put.bytes);
}

std::optional<ModuleInfo> decode_module(std::string_view bytes) {
    Reader get{bytes};
    ModuleInfo module;
    module.path = get.text();
    module.epoch = static_cast<std::uint32_t>(get.number());
    module.built_with = get.text();
    for (auto plugins = get.count(); plugins > 0 && get.good; --plugins) {
        auto& plugin = module.plugins.emplace_back();
        for (auto* const text : {&plugin.type, &plugin.version, &plugin.vendor, &plugin.summary}) *text = get.text();
        for (auto ids = get.count(); ids > 0 && get.good; --ids) plugin.interfaces.push_back(get.text());
        for (auto options = get.count(); options > 0 && get.good; --options) plugin.options.push_back(read_option(get));
    }
    if (!get.good || !get.rest.empty()) return std::nullopt;
    return module;
}

}  // namespace spur::host
