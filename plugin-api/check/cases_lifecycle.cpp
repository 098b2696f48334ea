// Cases about instances: making and unmaking them, odd configurations, older and newer hosts, threads and leaks.
#include "case.hpp"
#include "counters.hpp"
#include "dice.hpp"
#include "instance.hpp"
#include "process.hpp"

#include <atomic>
#include <barrier>
#include <deque>
#include <thread>

namespace spur::check {
namespace {

const Axis& axis_of(const Subject& subject) { return *find_axis(subject.type); }

void check_table(const Instance& instance, const Axis& axis) {
    const auto* table = static_cast<const char*>(instance.desc().query(instance.self(), axis.interface));
    require(table != nullptr, "query(\"{}\") returned NULL though the descriptor lists it", axis.interface);
    const auto size = *reinterpret_cast<const std::uint32_t*>(table);
    require(size >= axis.first_size, "the table for {} has size {}, the first release had {}: set it to sizeof",
            axis.interface, size, axis.first_size);
    require(size < (1u << 20), "the table for {} claims {} bytes: that cannot be meant", axis.interface, size);
    for (const auto& op : axis.required)
        require(*reinterpret_cast<void* const*>(table + op.offset) != nullptr,
                "{} is required and NULL in the table for {}", op.name, axis.interface);
    require(instance.desc().query(instance.self(), axis.interface) == table,
            "query(\"{}\") gives another table each time", axis.interface);
}

std::string create(const Subject& subject) {
    Bench bench(subject);
    const auto& desc = bench.desc();
    doing("in query()");
    check_table(bench.instance(), axis_of(subject));
    for (const auto* const* id = desc.interfaces; *id != nullptr; ++id)
        require(desc.query(bench.self(), *id) != nullptr, "query(\"{}\") returned NULL though the descriptor lists it",
                *id);
    for (const char* unknown : {"spur.unknown/1", "spur.sched/999", "", "%s"})
        require(desc.query(bench.self(), unknown) == nullptr,
                "query(\"{}\") answered: an unknown id is answered with NULL", unknown);
    bench.finish();
    return "";
}

std::string use(const Subject& subject) {
    Bench bench(subject);
    axis_of(subject).exercise(subject, bench.instance(), {});
    bench.finish();
    return "";
}

// ---- configuration -------------------------------------------------------------------------------------------------

// Creates with `config` and destroys again; true if create() took it.
bool try_configuration(const spur_plugin_desc& desc, const Subject& subject, const Configuration& config) {
    Memory memory;
    TestHost host(subject);
    const auto created = try_create(desc, host.get(), config.in(memory));
    if (created.self == nullptr) return false;
    desc.query(created.self, "spur.unknown/1");
    host.before_destroy();
    desc.destroy(created.self);
    return true;
}

std::string extreme_options(const Subject& subject) {
    const Module module(subject.file);
    const auto& desc = module.plugin(subject.type);
    const Configuration usual(desc, subject);
    const auto options = options_of(desc);
    if (options.empty()) return "no options";
    unsigned tried = 0, taken = 0;
    const auto attempt = [&](const Configuration& config, const std::string& words) {
        doing(fmt::format("in create() with {}", words));
        taken += try_configuration(desc, subject, config);
        ++tried;
    };
    for (std::uint32_t i = 0; i < options.size(); ++i)
        for (const auto& extreme : extremes_of(options[i])) {
            auto config = usual;
            config.set(i, extreme.value);
            attempt(config, fmt::format("{} = {}", options[i].key, extreme.words));
        }
    Dice dice(subject.seed);
    for (unsigned round = 0; round < 50 && options.size() > 1; ++round) {
        auto config = usual;
        for (std::uint32_t i = 0; i < options.size(); ++i)
            if (const auto corners = extremes_of(options[i]); !corners.empty()) config.set(i, dice.pick(corners).value);
        attempt(config, fmt::format("random extremes, round {}", round));
    }
    return fmt::format("{} configurations, {} taken, {} refused with a sentence", tried, taken, tried - taken);
}

// ---- hosts ---------------------------------------------------------------------------------------------------------

std::string use_with(const Subject& subject, Shape shape, TestHost::Services services) {
    Bench bench(subject, shape, services);
    axis_of(subject).exercise(subject, bench.instance(), shape);
    bench.finish();
    return "";
}
std::string older_host(const Subject& subject) { return use_with(subject, {.first = true}, TestHost::Services::all); }
std::string newer_host(const Subject& subject) { return use_with(subject, {.extra = 72}, TestHost::Services::all); }
std::string no_services(const Subject& subject) {
    // Doing without may mean refusing: a plugin that needs the state directory cannot invent one.
    const Module module(subject.file);
    const auto& desc = module.plugin(subject.type);
    TestHost host(subject, {}, TestHost::Services::none);
    Memory memory;
    doing("in create() without services");
    const auto created = try_create(desc, host.get(), Configuration(desc, subject).in(memory));
    if (created.self == nullptr) return fmt::format("refuses: {}", created.sentence);
    desc.destroy(created.self);
    return use_with(subject, {}, TestHost::Services::none);
}

// ---- more than one -------------------------------------------------------------------------------------------------

std::string two_instances(const Subject& subject) {
    const Module module(subject.file);
    const auto& desc = module.plugin(subject.type);
    const auto& axis = axis_of(subject);
    const Configuration config(desc, subject);
    Memory memory;
    TestHost old_host(subject), new_host(subject);
    std::optional<Instance> old_one(std::in_place, desc, old_host, config.in(memory));
    axis.exercise(subject, *old_one, {});
    {
        Instance new_one(desc, new_host, config.in(memory));
        require(new_one.self() != old_one->self(), "create() gave the same instance twice");
        check_table(new_one, axis);
        old_one.reset();
        doing("using the second instance after the first was destroyed");
        axis.exercise(subject, new_one, {});
    }
    old_host.judge();
    new_host.judge();
    return "";
}

std::string thousand_rounds(const Subject& subject) {
    constexpr int warm_up = 100, rounds = 1000;
    const Module module(subject.file);
    const auto& desc = module.plugin(subject.type);
    Memory memory;
    const auto* config = Configuration(desc, subject).in(memory);
    const auto round = [&] {
        TestHost host(subject);
        { const Instance instance(desc, host, config); }
        host.judge();
    };
    doing("creating and destroying instances");
    for (int i = 0; i < warm_up; ++i) round();
    const auto before = Footprint::now();
    for (int i = 0; i < rounds; ++i) round();
    before.expect_no_more_after(rounds);
    return fmt::format("{} rounds", rounds);
}

std::string leaks_nothing_in_use(const Subject& subject) {
    constexpr int warm_up = 10, rounds = 40;
    const auto round = [&] {
        Bench bench(subject);
        axis_of(subject).exercise(subject, bench.instance(), {});
        bench.finish();
    };
    for (int i = 0; i < warm_up; ++i) round();
    const auto before = Footprint::now();
    for (int i = 0; i < rounds; ++i) round();
    before.expect_no_more_after(rounds);
    return fmt::format("{} rounds", rounds);
}

// ---- threads -------------------------------------------------------------------------------------------------------

std::string roles_are_not_threads(const Subject& subject) {
    Bench bench(subject);
    const auto& axis = axis_of(subject);
    // Thread after thread in the same role, each gone before the next.
    for (int i = 0; i < 3; ++i) {
        std::exception_ptr trouble;
        std::thread([&] {
            try {
                axis.exercise(subject, bench.instance(), {});
            } catch (...) {
                trouble = std::current_exception();
            }
        }).join();
        if (trouble) std::rethrow_exception(trouble);
    }
    bench.finish();
    return "";
}

std::string query_from_everywhere(const Subject& subject) {
    constexpr int threads = 8, calls = 2000;
    Bench bench(subject);
    const auto& desc = bench.desc();
    const char* interface = axis_of(subject).interface;
    const auto* expected = desc.query(bench.self(), interface);
    std::atomic<int> wrong = 0;
    std::barrier start(threads);
    doing("in query() from several threads at once");
    {
        std::vector<std::jthread> crowd;
        for (int t = 0; t < threads; ++t)
            crowd.emplace_back([&] {
                start.arrive_and_wait();
                for (int i = 0; i < calls; ++i) wrong += desc.query(bench.self(), interface) != expected;
            });
    }
    require(wrong == 0, "query() from {} threads at once gave {} wrong answers", threads, wrong.load());
    bench.finish();
    return "";
}

std::string leaves_no_threads(const Subject& subject) {
    // A thread that is left may still use its host: the hosts stay until the process ends, so that it is counted and does not crash.
    static auto& benches = *new std::deque<Bench>;
    const auto round = [&] {
        auto& bench = benches.emplace_back(subject);
        axis_of(subject).exercise(subject, bench.instance(), {});
        bench.finish();
    };
    round();  // libraries may start a pool of theirs once a process
    const auto before = Footprint::now();
    round();
    const auto left = before.later().threads - before.threads;
    require(left <= 0, "{} thread{} of the plugin still run{} after destroy(): join them there", left,
            left == 1 ? "" : "s", left == 1 ? "s" : "");
    return "";
}

constexpr Case all[] = {
    {"create", "an instance with default options answers its interfaces, and only those", &create},
    {"use", "an ordinary use works and uses the host's services properly", &use},
    {"extreme-options", "any value within an option's kind is taken or refused with a sentence", &extreme_options, 120},
    {"older-host", "works in a host with the first release's structs", &older_host},
    {"newer-host", "works in a host with longer structs and records", &newer_host},
    {"no-services", "does without services, or refuses with a sentence", &no_services},
    {"two-instances", "a second instance can be made and used before the first is destroyed", &two_instances},
    {"thousand-rounds", "1,000 instances later there is no more memory, descriptor or thread in use", &thousand_rounds,
     180},
    {"use-leaks", "40 ordinary uses later there is no more memory, descriptor or thread in use", &leaks_nothing_in_use,
     180},
    {"thread-roles", "calls in one role may come from several threads", &roles_are_not_threads},
    {"query-threads", "query() may be called from several threads at once", &query_from_everywhere},
    {"threads-joined", "no thread of the plugin outlives destroy()", &leaves_no_threads},
};

}  // namespace

std::span<const Case> lifecycle_cases() { return all; }

}  // namespace spur::check
