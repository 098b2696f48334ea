// Parsing the options that describe devices and links.
#include "sim.hpp"

#include <charconv>
#include <map>
#include <stdexcept>
#include <string_view>

namespace spur::gpu_sim {

namespace {

constexpr std::pair<std::string_view, std::uint32_t> kinds[] = {{"host", 0},   {"numa", 1}, {"switch", 2},
                                                                {"nvlink", 3}, {"xgmi", 4}, {"card", 5}};

[[noreturn]] void refuse(std::string_view option, std::string_view entry, std::string_view why) {
    throw std::invalid_argument(std::string{option} + ": \"" + std::string{entry} + "\" " + std::string{why});
}

std::uint32_t number(std::string_view text, std::string_view option, std::string_view entry) {
    std::uint32_t value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        refuse(option, entry, "has no number where one belongs");
    return value;
}

// "0-3,6", checked against how many devices there are.
std::vector<std::uint32_t> indexes(std::string_view text, std::size_t count, std::string_view option,
                                   std::string_view entry) {
    std::vector<std::uint32_t> list;
    while (!text.empty()) {
        const auto part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        const auto dash = part.find('-');
        const auto first = number(part.substr(0, dash), option, entry);
        const auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1), option, entry);
        if (last < first || last >= count) refuse(option, entry, "names devices that are not there");
        for (auto index = first; index <= last; ++index) list.push_back(index);
    }
    if (list.empty()) refuse(option, entry, "names no devices");
    return list;
}

std::vector<Device> make_devices(const std::vector<std::string>& entries) {
    std::vector<Device> devices;
    for (const auto& entry : entries) {
        const auto colon = entry.rfind(':');
        if (colon == 0 || colon == std::string::npos) refuse("devices", entry, "is not type:count");
        const auto count = number(std::string_view{entry}.substr(colon + 1), "devices", entry);
        if (count > most_devices || devices.size() + count > most_devices)
            refuse("devices", entry, "makes more than 1024 devices");
        for (std::uint32_t i = 0; i < count; ++i) {
            auto& device = devices.emplace_back();
            device.index = static_cast<std::uint32_t>(devices.size() - 1);
            device.type = entry.substr(0, colon);
            device.key = "SIM-" + device.type + "-" + std::to_string(device.index);
        }
    }
    return devices;
}

std::vector<Link> make_links(const std::vector<std::string>& entries, std::size_t count) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Link> links;
    for (const auto& entry : entries) {
        const std::string_view text{entry};
        const auto first = text.find(':'), second = text.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos)
            refuse("links", entry, "is not devices:kind:weight");
        const auto kind_name = text.substr(first + 1, second - first - 1);
        std::uint32_t kind = none;
        for (const auto& [name, value] : kinds)
            if (name == kind_name) kind = value;
        if (kind == none) refuse("links", entry, "is of no known kind: host, numa, switch, nvlink, xgmi, card");
        const auto weight = number(text.substr(second + 1), "links", entry);
        const auto members = indexes(text.substr(0, first), count, "links", entry);
        for (const auto from : members)
            for (const auto to : members)
                if (from != to) links.try_emplace({from, to}, Link{from, to, kind, weight});
    }
    std::vector<Link> list;
    for (const auto& [pair, link] : links) list.push_back(link);
    return list;
}

// "0-3:value" entries.
template <class Assign>
void assign(const std::vector<std::string>& entries, std::vector<Device>& devices, std::string_view option,
            Assign set) {
    for (const auto& entry : entries) {
        const auto colon = entry.find(':');
        if (colon == std::string::npos) refuse(option, entry, "is not devices:value");
        for (const auto index : indexes(std::string_view{entry}.substr(0, colon), devices.size(), option, entry))
            set(devices[index], std::string_view{entry}.substr(colon + 1), entry);
    }
}

// "0-3:1g.10gb:7": the parts come behind all whole devices and are where their whole is.
void add_slices(const std::vector<std::string>& entries, std::vector<Device>& devices) {
    const auto whole = devices.size();
    for (const auto& entry : entries) {
        const std::string_view text{entry};
        const auto first = text.find(':'), last = text.rfind(':');
        if (first == std::string_view::npos || first == last) refuse("slices", entry, "is not devices:profile:count");
        const auto profile = text.substr(first + 1, last - first - 1);
        const auto count = number(text.substr(last + 1), "slices", entry);
        for (const auto parent : indexes(text.substr(0, first), whole, "slices", entry)) {
            if (count > most_devices || devices.size() + count > most_devices)
                refuse("slices", entry, "makes more than 1024 devices");
            for (std::uint32_t i = 0; i < count; ++i) {
                auto part = devices[parent];
                part.index = static_cast<std::uint32_t>(devices.size());
                part.parent = part.key;
                part.key += "/" + std::to_string(devices.size());
                part.type += "_" + std::string{profile};
                part.profile = profile;
                devices.push_back(std::move(part));
            }
        }
    }
}

}  // namespace

Machine build(const Options& options) {
    Machine machine;
    machine.devices = make_devices(options.devices);
    machine.links = make_links(options.links, machine.devices.size());
    assign(options.numa, machine.devices, "numa", [](Device& device, std::string_view value, std::string_view entry) {
        device.numa_node = number(value, "numa", entry);
    });
    assign(options.near_cpus, machine.devices, "near_cpus",
           [](Device& device, std::string_view value, std::string_view) { device.near_cpus = value; });
    assign(options.files, machine.devices, "files",
           [](Device& device, std::string_view value, std::string_view) { device.file = value; });
    for (const auto& entry : options.failed)
        for (const auto index : indexes(entry, machine.devices.size(), "failed", entry))
            machine.devices[index].failed = true;
    assign(options.cliques, machine.devices, "cliques",
           [](Device& device, std::string_view value, std::string_view) { device.clique = value; });
    add_slices(options.slices, machine.devices);
    return machine;
}

}  // namespace spur::gpu_sim
