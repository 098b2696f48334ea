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

constexpr spur_stop never{sizeof(spur_stop), -1, INT64_MAX, nullptr,
                          [](const spur_stop*) -> std::uint32_t { return 0; }};

struct Device {
    std::uint32_t index;
    std::string key, parent, type, text;  // text: the whole record, for comparing scans
};
struct Link {
    std::string from, to;
    std::uint32_t to_what, kind, weight;
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
        expect_ok("scan()", ops_of(instance).scan(instance.self(), sink, &never, err.get()), err);
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
    std::vector<std::string> keys() const {
        std::vector<std::string> all;
        for (const auto& device : devices) all.push_back(device.key);
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
            object(fmt::format("device {} has unknown health {}", view(d.key), d.health));
        devices.push_back({d.index, std::string(view(d.key)), std::string(view(d.parent)), std::string(view(d.type)),
                           fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}\n", d.index, d.numa_node, d.health,
                                       d.memory_mib, view(d.key), view(d.parent), view(d.type), view(d.pci),
                                       view(d.near_cpus), view(d.device_files), view(d.cdi), view(d.profile),
                                       view(d.clique))});
    }
    void add(const spur_gpu_link& link) {
        if (link.size < first_size<spur_gpu_link>)
            return object(fmt::format("a link has size {}: set it to sizeof(spur_gpu_link)", link.size));
        links.push_back(
            {std::string(view(link.from)), std::string(view(link.to)), link.to_what, link.kind, link.weight});
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
    std::set<std::string> keys;
    for (const auto& device : scan.devices) {
        require(!device.key.empty(), "device {} has no key", device.index);
        require(keys.insert(device.key).second, "two devices have the key {}", device.key);
        require(!device.type.empty(), "device {} has no type", device.key);
        require(std::ranges::none_of(device.type, [](char c) { return c == ' ' || c == ':' || c == ',' || c == '='; }),
                "type \"{}\" of device {} cannot be written in a gres request", device.type, device.key);
    }
    for (const auto& device : scan.devices) {
        require(device.parent.empty() || keys.contains(device.parent),
                "device {} is a part of device {}, which is not there", device.key, device.parent);
        require(device.parent != device.key, "device {} is a part of itself", device.key);
    }
    bench.finish();
    return found(scan);
}

std::string links(const Subject& subject) {
    Bench bench(subject);
    const Scan scan(bench.instance());
    const auto known = scan.keys();
    for (const auto& link : scan.links) {
        require(std::ranges::count(known, link.from) == 1, "a link from {} to {} names a device that is not there",
                link.from, link.to);
        require(link.kind <= SPUR_LINK_SAME_CARD, "a link is of unknown kind {}", link.kind);
        require(std::ranges::count(scan.links, link) == 1, "the link from {} to {} is reported twice", link.from,
                link.to);
        if (link.to_what != SPUR_GPU_TO_DEVICE) continue;
        require(std::ranges::count(known, link.to) == 1, "a link from {} to {} names a device that is not there",
                link.from, link.to);
        require(link.from != link.to, "device {} is linked to itself", link.from);
        require(std::ranges::count(scan.links, Link{link.to, link.from, link.to_what, link.kind, link.weight}) == 1,
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

struct Seen {
    spur_gpu_env_sink sink{
        .size = sizeof(spur_gpu_env_sink), .reserved = 0, .context = this, .variable = &variable, .device_file = &file};
    std::vector<std::string> variables, files;
    Seen() = default;
    Seen(const Seen&) = delete;
    Seen& operator=(const Seen&) = delete;
    static void variable(const spur_gpu_env_sink* sink, spur_str name, spur_str value) {
        static_cast<Seen*>(sink->context)->variables.push_back(fmt::format("{}={}", view(name), view(value)));
    }
    static void file(const spur_gpu_env_sink* sink, spur_str path) {
        static_cast<Seen*>(sink->context)->files.emplace_back(view(path));
    }
};

// Of job 7, its first step, task 0.
class Binding {
public:
    explicit Binding(const std::vector<std::string>& keys, std::uint32_t flags = 0) {
        for (const auto& key : keys) grants_.push_back({plugin::str(key), 0});
        record_ = {.size = sizeof(spur_gpu_binding),
                   .flags = flags,
                   .job = 7,
                   .attempt = 1,
                   .step = 0,
                   .task = 0,
                   .uid = 1000,
                   .reserved = 0,
                   .grants = plugin::span_of(grants_)};
    }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;
    const spur_gpu_binding* get() const { return &record_; }

private:
    std::vector<spur_gpu_grant> grants_;
    spur_gpu_binding record_{};
};

std::string binds(const Subject& subject) {
    Bench bench(subject);
    const Scan scan(bench.instance());
    const auto& ops = ops_of(bench.instance());
    const auto bind = [&](const std::vector<std::string>& keys) {
        for (const auto flags : {0U, SPUR_GPU_ISOLATED}) {
            const Binding binding(keys, flags);
            Seen seen, again;
            ErrorBox err;
            doing("in bind()");
            expect_ok("bind()", ops.bind(bench.self(), binding.get(), &seen.sink, err.get()), err);
            expect_ok("bind()", ops.bind(bench.self(), binding.get(), &again.sink, err.get()), err);
            require(seen.variables == again.variables && seen.files == again.files,
                    "bind() of the same binding answers differently when asked again");
            for (const auto& variable : seen.variables)
                require(variable.find('=') > 0 && variable.substr(0, variable.find('=')).find_first_of(" \n") ==
                                                      std::string::npos,
                        "bind() sets a variable \"{}\"", variable);
            for (const auto& path : seen.files)
                require(path.starts_with('/'), "bind() names the device file \"{}\"", path);
            require(keys.empty() || !seen.variables.empty() || !seen.files.empty(),
                    "bind() of {} device(s) says nothing a job could see", keys.size());
            if (!SPUR_CAN(spur_gpu_ops, &ops, release)) continue;
            doing("in release()");
            for (int times = 0; times < 2; ++times)
                expect_ok("release()", ops.release(bench.self(), binding.get(), &never, err.get()), err);
        }
    };
    bind({});
    for (const auto& key : scan.keys()) bind({key});
    if (!scan.devices.empty()) bind(scan.keys());
    Seen ignored;
    ErrorBox err;
    const Binding unknown({"no such device"});
    require(ops.bind(bench.self(), unknown.get(), &ignored.sink, err.get()) < 0,
            "bind() of a device that is not there succeeds");
    bench.finish();
    return found(scan);
}

std::string loads(const Subject& subject) {
    Bench bench(subject);
    const Scan scan(bench.instance());
    const auto& ops = ops_of(bench.instance());
    if (!SPUR_CAN(spur_gpu_ops, &ops, load)) skip("load is optional and absent");
    for (const auto& key : scan.keys()) {
        const Output<spur_gpu_load> out;
        ErrorBox err;
        doing("in load()");
        expect_ok("load()", ops.load(bench.self(), plugin::str(key), out.get(), err.get()), err);
        const auto load = out.read("load()");
        require(!std::isnan(load.busy) && load.busy <= 1, "device {} is busy to {}", key, load.busy);
        for (const auto value :
             {load.power_watts, load.temperature_c, load.energy_joules, load.clock_mhz, load.memory_clock_mhz})
            require(!std::isnan(value), "a figure of device {} is NaN", key);
    }
    bench.finish();
    return found(scan);
}

constexpr RequiredOp required[] = {{"scan", offsetof(spur_gpu_ops, scan)}, {"bind", offsetof(spur_gpu_ops, bind)}};
constexpr Case laws[] = {
    {"devices", "keys are unique, types can be written in a request, parts name a whole that is there", &devices},
    {"links", "links name existing devices and are the same in both directions", &links},
    {"scan-repeatable", "two scans without a change in between are identical", &repeatable},
    {"bind", "bind() tells a job what it got, refuses devices that are not there; release() can be repeated", &binds},
    {"load", "load() answers in range", &loads},
};

}  // namespace

extern const Axis gpu_axis;
const Axis gpu_axis{"gpu", "spurd", SPUR_GPU_IFACE, first_size<spur_gpu_ops>, required, laws, &exercise};

}  // namespace spur::check
