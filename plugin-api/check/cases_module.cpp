// Cases about the file, before any instance is made: its symbols, its descriptor, its options.
#include "case.hpp"
#include "elf.hpp"
#include "memory.hpp"
#include "module.hpp"
#include "options.hpp"

#include <algorithm>
#include <regex>
#include <thread>

namespace spur::check {
namespace {

std::string joined(const std::vector<std::string>& items, const char* between = ", ") {
    return fmt::format("{}", fmt::join(items, between));
}

std::string exports(const Subject& subject) {
    auto exported = read_elf(subject.file).exported;
    require(std::ranges::count(exported, "spur_module_v1") != 0,
            "does not export spur_module_v1(); use SPUR_PLUGIN(...) and link with plugin.map");
    std::erase(exported, "spur_module_v1");
    if (exported.empty()) return "";
    const auto more = exported.size() > 5 ? fmt::format(" and {} more", exported.size() - 5) : "";
    exported.resize(std::min<std::size_t>(exported.size(), 5));
    fail("exports {}{} beside spur_module_v1; link with plugin.map (spur_add_plugin does)", joined(exported), more);
}

std::string imports(const Subject& subject) {
    const auto elf = read_elf(subject.file);
    const Module module(subject.file);
    std::vector<std::string> missing;
    for (const auto& symbol : elf.imported)
        if (!module.provides(symbol)) missing.push_back(symbol);
    require(missing.empty(),
            "imports {} which none of the libraries it names ({}) provides: a plugin imports nothing from the daemon",
            joined(missing), elf.needed.empty() ? "none" : joined(elf.needed));
    return fmt::format("needs {}", elf.needed.empty() ? "nothing" : joined(elf.needed));
}

std::string entry(const Subject& subject) {
    const Module module(subject.file);
    const auto* again = module.entry()();
    require(again == &module.get(), "spur_module_v1() returned another module the second time");
    const spur_module* elsewhere = nullptr;
    std::thread([&] { elsewhere = module.entry()(); }).join();
    require(elsewhere == &module.get(), "spur_module_v1() returned another module on another thread");
    const auto headers = text_of(module.get().built_with, "spur_module.built_with");
    return fmt::format("epoch {}, built with headers {}", module.get().abi, headers);
}

std::string one_line(const char* text, std::string_view what) {
    auto line = text_of(text, what);
    require(line.find('\n') == std::string::npos, "{} has more than one line", what);
    return line;
}

void check_interfaces(const spur_plugin_desc& desc, const Axis& axis) {
    require(desc.interfaces != nullptr, "interfaces is NULL: list what query() answers, ending in NULL");
    std::vector<std::string> listed;
    for (const auto* const* next = desc.interfaces; *next != nullptr; ++next) {
        require(listed.size() < 64, "interfaces does not end in NULL");
        listed.push_back(text_of(*next, "an interface id"));
    }
    require(std::ranges::count(listed, axis.interface) != 0,
            "interfaces lists {}, a {} plugin of this release speaks {}", listed.empty() ? "nothing" : joined(listed),
            axis.name, axis.interface);
}

void check_descriptor(const spur_plugin_desc& desc, const std::string& file) {
    doing("reading the descriptor");
    require(desc.size >= first_size<spur_plugin_desc>,
            "spur_plugin_desc.size is {}, the first release had {}: set it to sizeof(spur_plugin_desc)", desc.size,
            first_size<spur_plugin_desc>);
    require(desc.reserved == 0, "spur_plugin_desc.reserved is {}: what is reserved is 0 when written", desc.reserved);
    const auto type = text_of(desc.type, "type");
    static const std::regex pattern("[a-z][a-z0-9_]*/[a-z][a-z0-9_]*");
    require(std::regex_match(type, pattern), "type \"{}\" is not axis/name in lower case", type);
    const auto* axis = find_axis(type);
    require(axis != nullptr, "type \"{}\" names no axis of this release", type);
    one_line(desc.version, "version");
    one_line(desc.vendor, "vendor");
    one_line(desc.summary, "summary");
    require(desc.create != nullptr, "create is NULL");
    require(desc.destroy != nullptr, "destroy is NULL");
    require(desc.query != nullptr, "query is NULL");
    check_interfaces(desc, *axis);
    auto expected = type;
    std::ranges::replace(expected, '/', '_');
    const auto name = std::filesystem::path(file).filename().string();
    require(name == expected + ".so", "the file is named {}: the daemons look for {} in {}.so", name, type, expected);
}

std::string descriptor(const Subject& subject) {
    const Module module(subject.file);
    const auto plugins = module.plugins();
    const auto& desc = module.plugin(subject.type);
    if (plugins.size() == 1) {
        check_descriptor(desc, subject.file);
    } else {  // one file may carry several plugins; it is named after the first
        auto first = text_of(plugins.front()->type, "type");
        std::ranges::replace(first, '/', '_');
        auto mine = subject.type;
        std::ranges::replace(mine, '/', '_');
        check_descriptor(desc, mine + ".so");
        const auto name = std::filesystem::path(subject.file).filename().string();
        require(name == first + ".so", "the file is named {}: it is looked for as {}.so, after its first plugin", name,
                first);
    }
    return fmt::format("{} {} by {}", desc.type, desc.version, desc.vendor);
}

std::string options(const Subject& subject) {
    const Module module(subject.file);
    const auto& desc = module.plugin(subject.type);
    doing("reading the options");
    const auto faults = schema_faults(desc);
    require(faults.empty(), "{}", joined(faults, "; "));
    return fmt::format("{} option{}", desc.option_count, desc.option_count == 1 ? "" : "s");
}

constexpr Case all[] = {
    {"exports", "exports spur_module_v1 and nothing else", &exports},
    {"imports", "imports nothing that its own libraries do not provide", &imports},
    {"entry", "spur_module_v1() answers the same module at every call, on every thread", &entry},
    {"descriptor", "says what it is: type, version, vendor, summary, interfaces; the file is named after it",
     &descriptor},
    {"options", "declared options have a name, a kind, help and a default that fits", &options},
};

}  // namespace

std::span<const Case> module_cases() { return all; }

}  // namespace spur::check
