// A planner with one fault, chosen when it is compiled; the rest of it is the template's.
#include "plugin-api/templates/cpp/sched/first_come.cpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <thread>

namespace {

using namespace spur::plugin;

struct Planner {
    Planner(const spur_host*, const spur_config*) {
#ifdef FAULT_SCHED_LEAKS_MEMORY
        static void* volatile last;
        last = std::malloc(100);
#endif
#ifdef FAULT_SCHED_LEAKS_DESCRIPTORS
        [[maybe_unused]] const int lost = open("/dev/null", O_RDONLY);
#endif
#ifdef FAULT_SCHED_FORGETS_A_THREAD
        std::thread([] { pause(); }).detach();
#endif
#ifdef FAULT_SCHED_EXITS
        std::exit(3);
#endif
    }
    unsigned cycles = 0;
};

// A share of one CPU that every faulty plan can use.
struct OneCpu {
    std::uint64_t word = 1;
    spur_node_share share{0, 1, 1, {&word, 1, 0}, {nullptr, 0, sizeof(spur_gres_share)}, 1, 0};
    spur_placement placement = spur_placed(&share, 1);
};

spur_status plan(spur_plugin* self, const spur_cluster_view* view, const spur_selector* select,
                 const spur_plan_sink* sink, spur_error* err) {
    [[maybe_unused]] auto& planner = self_cast<Planner>(self);
    [[maybe_unused]] OneCpu one;
#ifdef FAULT_SCHED_LEAKS_IN_PLAN
    static void* volatile last;
    last = std::malloc(100);
#endif
#ifdef FAULT_SCHED_OVERSUBSCRIBES
    for (const auto slot : Records<std::uint32_t>(view->pending_order)) {
        const auto& job = *SPUR_AT(spur_job_view, view->pending, slot);
        sink->start(sink, slot, *SPUR_AT(std::uint32_t, job.partitions, 0), &one.placement, job.limit_s);
    }
    return SPUR_OK;
#endif
#ifdef FAULT_SCHED_STARTS_STRANGERS
    sink->start(sink, 1'000'000, 0, &one.placement, 60);
#endif
#ifdef FAULT_SCHED_CHANGES_ITS_MIND
    if (planner.cycles++ % 2 == 1) return SPUR_OK;
#endif
#ifdef FAULT_SCHED_NEVER_STARTS
    return SPUR_OK;
#endif
#ifdef FAULT_SCHED_IGNORES_STOP
    for (std::uint32_t i = 0; i < view->pending_order.count; ++i) {
        sink->stopped(sink);
        if (view->pending_order.count > 1000) usleep(1000);
    }
#endif
#ifdef FAULT_SCHED_READS_THE_CLOCK
    if (std::time(nullptr) == 0) return SPUR_OK;
#endif
#ifdef FAULT_SCHED_CRASHES
    *const_cast<volatile int*>(static_cast<int*>(nullptr)) = 1;
#endif
#ifdef FAULT_SCHED_THROWS
    throw std::runtime_error("nobody catches this");
#endif
#ifdef FAULT_SCHED_STEPS_BY_SIZEOF
    const auto* jobs = static_cast<const spur_job_view*>(view->pending.data);
    for (const auto slot : Records<std::uint32_t>(view->pending_order))
        if (jobs[slot].partitions.count > 100) std::abort();
#endif
#ifdef FAULT_SCHED_USES_ANOTHER_THREAD
    std::thread([&] { sink->stopped(sink); }).join();
#endif
    return guard(err, [&] { return FirstCome(*view, *select, *sink).plan(err); });
}

constexpr spur_sched_ops ops{
#ifdef FAULT_SCHED_FORGETS_SIZE
    .size = 8,
#else
    .size = sizeof(spur_sched_ops),
#endif
    .reserved = 0,
    .understands = SPUR_WISH_TIME_MIN | SPUR_WISH_DEADLINE | SPUR_WISH_LICENSES | SPUR_WISH_RESERVATION,
#ifdef FAULT_SCHED_HAS_NO_PLAN
    .plan = nullptr,
#else
    .plan = plan,
#endif
};

const void* query(spur_plugin*, const char* id) {
#ifdef FAULT_SCHED_ANSWERS_EVERYTHING
    (void)id;
    return &ops;
#else
    return std::string_view(id) == SPUR_SCHED_IFACE ? &ops : nullptr;
#endif
}

spur_status make(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
#ifdef FAULT_SCHED_SAYS_NOTHING
    if (option(config, "depth").integer > 100) return SPUR_E_INVALID;
#endif
#ifdef FAULT_SCHED_OVERFLOWS
    char small[8];
    std::memcpy(small, option(config, "label").text, std::strlen(option(config, "label").text) % 65537);
    asm volatile("" ::"r"(small) : "memory");
#endif
    return create<Planner>(host, config, out, err);
}

constexpr spur_option options[] = {
#ifdef FAULT_SCHED_DEFAULT_OUT_OF_RANGE
    {"depth", SPUR_OPTION_INT, 0, "500", "how far to look", nullptr, 1, 100},
#else
    {"depth", SPUR_OPTION_INT, 0, "50", "how far to look", nullptr, 1, 1000},
#endif
    {"label", SPUR_OPTION_STRING, 0, "none", "a word", nullptr, 0, 0},
};
constexpr const char* interfaces[] = {SPUR_SCHED_IFACE, nullptr};
constexpr spur_plugin_desc desc{.size = sizeof(spur_plugin_desc),
#ifdef FAULT_SCHED_FILLS_WHAT_IS_RESERVED
                                .reserved = 7,
#else
                                .reserved = 0,
#endif
#ifdef FAULT_SCHED_IS_MISNAMED
                                .type = "sched/somebody_else",
#else
                                .type = FAULT_TYPE,
#endif
                                .version = "1.0.0",
                                .vendor = "Spur's tests",
                                .summary = "a planner with a fault",
                                .options = options,
                                .option_count = std::size(options),
                                .option_stride = sizeof(spur_option),
                                .interfaces = interfaces,
                                .create = make,
                                .destroy = destroy<Planner>,
                                .query = query};

}  // namespace

SPUR_PLUGIN(&desc)
