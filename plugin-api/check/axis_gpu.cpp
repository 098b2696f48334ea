// The laws of spur.gpu/1.
#include "case.hpp"
#include "instance.hpp"

#include <spur/plugin/draft/gpu.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace spur::check {
namespace {

using plugin::view;

const spur_gpu_ops& ops_of(Instance& instance) { return instance.ops<spur_gpu_ops>(SPUR_GPU_IFACE); }

struct Device {
    std::uint32_t index, parent;
    std::string key, type, text;  // text: the whole record, for comparing scans
};
struct Link {
    std::uint32_t from, to, kind, weight;
    bool operator==(const Link&) const = default;
};

// Collects one scan.
class Scan {
public:
    Scan(Instance& instance, Shape shape = {}) : memory_(shape) {
        const auto* sink = memory_.one(
            spur_gpu_sink{.context = this,
                          .device = [](auto* table, auto* device) { static_cast<Scan*>(table->context)->add(*device); },
                          .link = [](auto* table, auto* link) { static_cast<Scan*>(table->context)->add(*link); }});
        ErrorBox err;
        doing("in scan()");
        expect_ok("scan()", ops_of(instance).scan(instance.self(), sink, err.get()), err);
        if (!fault_.empty()) throw Failed{fault_};
    }

    std::vector<Device> devices;
    std::vector<Link> links;
    std::string text() const {
        std::string all;
        for (const auto& device : devices) all += device.text;
        for (const auto& link : links) all += fmt::format("{}-{}:{}:{}\n", link.from, link.to, link.kind, link.weight);
        return all;
    }
    std::vector<std::uint32_t> indexes() const {
        std::vector<std::uint32_t> all;
        for (const auto& device : devices) all.push_back(device.index);
        return all;
    }

private:
    // Called from inside the plugin: nothing may be thrown through it.
    void object(std::string text) {
        if (fault_.empty()) fault_ = std::move(text);
    }
    void add(const spur_gpu_device& d) {
        if (d.size < first_size<spur_gpu_device>)
            return object(fmt::format("a device has size {}: set it to sizeof(spur_gpu_device)", d.size));
        if (d.health < SPUR_GPU_HEALTHY || d.health > SPUR_GPU_FAILED)
            object(fmt::format("device {} has unknown health {}", d.index, d.health));
        devices.push_back({d.index, d.parent, std::string(view(d.key)), std::string(view(d.type)),
                           fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}\n", d.index, d.parent, d.numa_node,
                                       d.health, d.slices_max, d.memory_mib, view(d.key), view(d.type), view(d.pci),
                                       view(d.near_cpus), view(d.device_files), view(d.cdi))});
    }
    void add(const spur_gpu_link& link) {
        if (link.size < first_size<spur_gpu_link>)
            return object(fmt::format("a link has size {}: set it to sizeof(spur_gpu_link)", link.size));
        links.push_back({link.from, link.to, link.kind, link.weight});
    }
    Memory memory_;
    std::string fault_;
};

void exercise(const Subject&, Instance& instance, const Shape& shape) { Scan(instance, shape).text(); }

std::string found(const Scan& scan) {
    return fmt::format("{} device{}, {} links", scan.devices.size(), scan.devices.size() == 1 ? "" : "s",
                       scan.links.size());
}

std::string devices(const Subject& subject) {
    Bench bench(subject);
    const Scan scan(bench.instance());
    std::set<std::uint32_t> indexes;
    std::set<std::string> keys;
    for (const auto& device : scan.devices) {
        require(indexes.insert(device.index).second, "two devices have index {}", device.index);
        require(!device.key.empty(), "device {} has no key", device.index);
        require(keys.insert(device.key).second, "two devices have the key {}", device.key);
        require(!device.type.empty(), "device {} has no type", device.index);
        require(std::ranges::none_of(device.type, [](char c) { return c == ' ' || c == ':' || c == ',' || c == '='; }),
                "type \"{}\" of device {} cannot be written in a gres request", device.type, device.index);
    }
    for (const auto& device : scan.devices)
        require(device.parent == SPUR_NONE || indexes.contains(device.parent),
                "device {} is a slice of device {}, which is not there", device.index, device.parent);
    bench.finish();
    return found(scan);
}

std::string links(const Subject& subject) {
    Bench bench(subject);
    const Scan scan(bench.instance());
    const auto known = scan.indexes();
    for (const auto& link : scan.links) {
        require(std::ranges::count(known, link.from) == 1 && std::ranges::count(known, link.to) == 1,
                "a link from {} to {} names a device that is not there", link.from, link.to);
        require(link.from != link.to, "device {} is linked to itself", link.from);
        require(link.kind <= SPUR_LINK_SAME_CARD, "a link is of unknown kind {}", link.kind);
        require(std::ranges::count(scan.links, link) == 1, "the link from {} to {} is reported twice", link.from,
                link.to);
        require(std::ranges::count(scan.links, Link{link.to, link.from, link.kind, link.weight}) == 1,
                "the link from {} to {} has no equal link back", link.from, link.to);
    }
    bench.finish();
    return found(scan);
}

std::string repeatable(const Subject& subject) {
    Bench bench(subject), other(subject);
    const Scan once(bench.instance());
    require(once.text() == Scan(bench.instance()).text(), "two scans differ");
    require(once.text() == Scan(other.instance()).text(), "the scans of two instances differ");
    bench.finish();
    other.finish();
    return found(once);
}

struct Binding {
    spur_gpu_env_sink sink{
        .size = sizeof(spur_gpu_env_sink), .reserved = 0, .context = this, .variable = &variable, .device_file = &file};
    std::vector<std::string> variables, files;
    Binding() = default;
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;
    static void variable(const spur_gpu_env_sink* sink, spur_str name, spur_str) {
        static_cast<Binding*>(sink->context)->variables.emplace_back(view(name));
    }
    static void file(const spur_gpu_env_sink* sink, spur_str path) {
        static_cast<Binding*>(sink->context)->files.emplace_back(view(path));
    }
};

std::string binds(const Subject& subject) {
    Bench bench(subject);
    const Scan scan(bench.instance());
    const auto& ops = ops_of(bench.instance());
    const auto bind = [&](const std::vector<std::uint32_t>& indexes) {
        Binding binding;
        ErrorBox err;
        doing("in bind()");
        expect_ok("bind()",
                  ops.bind(bench.self(), indexes.data(), static_cast<std::uint32_t>(indexes.size()), &binding.sink,
                           err.get()),
                  err);
        for (const auto& name : binding.variables)
            require(!name.empty() && name.find_first_of("= \n") == std::string::npos,
                    "bind() sets a variable named \"{}\"", name);
        for (const auto& path : binding.files)
            require(path.starts_with('/'), "bind() names the device file \"{}\"", path);
        require(indexes.empty() || !binding.variables.empty() || !binding.files.empty(),
                "bind() of {} device(s) says nothing a job could see", indexes.size());
    };
    bind({});
    for (const auto index : scan.indexes()) bind({index});
    if (!scan.devices.empty()) bind(scan.indexes());
    Binding ignored;
    ErrorBox err;
    const std::uint32_t unknown = 4'000'000;
    require(ops.bind(bench.self(), &unknown, 1, &ignored.sink, err.get()) < 0,
            "bind() of a device that is not there succeeds");
    bench.finish();
    return found(scan);
}

std::string loads(const Subject& subject) {
    Bench bench(subject);
    const Scan scan(bench.instance());
    const auto& ops = ops_of(bench.instance());
    if (!SPUR_CAN(spur_gpu_ops, &ops, load)) skip("load is optional and absent");
    for (const auto index : scan.indexes()) {
        const Output<spur_gpu_load> out;
        ErrorBox err;
        doing("in load()");
        expect_ok("load()", ops.load(bench.self(), index, out.get(), err.get()), err);
        const auto load = out.read("load()");
        require(!std::isnan(load.busy) && load.busy <= 1, "device {} is busy to {}", index, load.busy);
        require(!std::isnan(load.power_watts) && !std::isnan(load.temperature_c),
                "power or temperature of device {} is NaN", index);
    }
    bench.finish();
    return found(scan);
}

constexpr RequiredOp required[] = {{"scan", offsetof(spur_gpu_ops, scan)}, {"bind", offsetof(spur_gpu_ops, bind)}};
constexpr Case laws[] = {
    {"devices", "indexes and keys are unique, types can be written in a request, slices have parents", &devices},
    {"links", "links name existing devices and are the same in both directions", &links},
    {"scan-repeatable", "two scans without a change in between are identical", &repeatable},
    {"bind", "bind() tells a job what it got, and refuses devices that are not there", &binds},
    {"load", "load() answers in range", &loads},
};

}  // namespace

extern const Axis gpu_axis;
const Axis gpu_axis{"gpu", "spurd", SPUR_GPU_IFACE, first_size<spur_gpu_ops>, required, laws, &exercise};

}  // namespace spur::check
