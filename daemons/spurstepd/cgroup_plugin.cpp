// The checked loader in a small form: the file, an instance with three services, its ops.
#include "daemons/spurstepd/cgroup_plugin.hpp"

#include <spur/plugin/clock.h>
#include <spur/plugin/config.h>
#include <spur/plugin/log.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "core/version.hpp"
#include "daemons/common/host/library.hpp"
#include "daemons/common/host/memory.hpp"
#include "daemons/common/host/options.hpp"
#include "daemons/spurstepd/deadline_stop.hpp"

namespace spur::step {

namespace {

constexpr auto program = "spurstepd";
constexpr std::size_t longest_key = 128, longest_line = 4096;

std::int64_t read_clock(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

struct CgroupPlugin::Services {
    explicit Services(const Setup& setup) : facts{setup.facts}, type{setup.type} {
        facts.push_back({"plugin.file", setup.file});
    }

    std::vector<Fact> facts;
    std::string type;
    LogLine log_line;

    template <class Table>
    static const Services& of(const Table* table) {
        return *static_cast<const Services*>(table->context);
    }
    static void write_log(const spur_log* table, std::uint32_t level, spur_str text) noexcept try {
        if (level > SPUR_LOG_WARNING || text.data == nullptr) return;
        auto line = of(table).type + ": " + std::string{text.data, std::min<std::size_t>(text.length, longest_line)};
        for (auto& c : line)
            if (static_cast<unsigned char>(c) < ' ') c = ' ';
        if (of(table).log_line) return of(table).log_line(level, line);
        line = std::string{program} + ": " + line + "\n";
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    } catch (...) {
    }
    static std::uint32_t log_enabled(const spur_log*, std::uint32_t level) { return level <= SPUR_LOG_WARNING; }
    static std::int64_t unix_ns(const spur_clock*) { return read_clock(CLOCK_REALTIME); }
    static std::int64_t monotonic_ns(const spur_clock*) { return read_clock(CLOCK_MONOTONIC); }
    static spur_status get_fact(const spur_config_service* table, const char* key, const spur_sink* sink) noexcept try {
        const auto wanted = host::copy_string(key, longest_key);
        if (!wanted || sink == nullptr || sink->write == nullptr) return SPUR_E_INVALID;
        for (const auto& fact : of(table).facts)
            if (fact.key == *wanted) return sink->write(sink, fact.value.data(), fact.value.size());
        return SPUR_E_NOT_FOUND;
    } catch (...) {
        return SPUR_E_INTERNAL;
    }
    // The rest needs threads, which an instance that is forked has not: see spur/plugin/cgroup.h.
    static const void* service(const spur_host* host, const char* id) noexcept try {
        const auto& self = of(host);
        const auto wanted = host::copy_string(id, longest_key);
        if (wanted == SPUR_LOG_SERVICE) return &self.log;
        if (wanted == SPUR_CLOCK_SERVICE) return &self.clock;
        if (wanted == SPUR_CONFIG_SERVICE) return &self.config;
        return nullptr;
    } catch (...) {
        return nullptr;
    }

    spur_log log{sizeof(spur_log), 0, this, &write_log, &log_enabled};
    spur_clock clock{sizeof(spur_clock), 0, this, &unix_ns, &monotonic_ns};
    spur_config_service config{sizeof(spur_config_service), 0, this, &get_fact};
    spur_host host{sizeof(spur_host), 0, program, program_version, &service, this};
};

// The kernel counts a thread as a directory below this one.
std::size_t count_threads() {
    struct stat info {};
    constexpr nlink_t own_links = 2;
    return stat("/proc/self/task", &info) == 0 && info.st_nlink > own_links ? info.st_nlink - own_links : 1;
}

CgroupPlugin::CgroupPlugin(const Setup& setup)
    : services_{std::make_unique<Services>(setup)},
      guard_{setup.type, std::chrono::milliseconds{setup.patience_ms}},
      type_{setup.type} {}

const char* CgroupPlugin::name_of(std::uint32_t offset) {
    for (const auto& op : host::CgroupAxis::info.ops)
        if (op.offset == offset) return op.name;
    return "an op";
}

CgroupPlugin::Answer CgroupPlugin::answer(std::uint32_t offset, spur_status status, const spur_error& error,
                                          const std::string& failure) const {
    if (!failure.empty()) return {SPUR_E_INTERNAL, failure};
    if (status >= 0) return {status, {}};
    return {status, host::failure_of(type_, name_of(offset), status, error).text};
}

void CgroupPlugin::set_log(LogLine log) const { services_->log_line = std::move(log); }

spur_stop CgroupPlugin::stop() const { return stop_after(std::chrono::nanoseconds{guard_.patience()} * 3 / 4); }

Result<void> CgroupPlugin::create(const spur_plugin_desc& desc, const Setup& setup, const host::DescriptorInfo& info) {
    SPUR_TRY(const auto config, host::PluginConfig::restore(info, setup.options, setup.source));
    const auto view = config.view();
    spur_error error{sizeof(spur_error), SPUR_OK, {}};
    spur_status status = SPUR_E_INTERNAL;
    const auto failure =
        guard_.run("create", [&] { status = desc.create(&services_->host, &view, &self_, &error); });
    if (!failure.empty()) return fail(ErrorCode::internal, "{}", failure);
    if (status != SPUR_OK) return std::unexpected(host::failure_of(type_, "create", status, error));
    if (self_ == nullptr)
        return fail(ErrorCode::internal, "plugin {} refused: its create() succeeded without making an instance", type_);
    destroy_ = desc.destroy;
    return {};
}

Result<std::unique_ptr<CgroupPlugin>> CgroupPlugin::load(const Setup& setup) {
    const auto& axis = host::CgroupAxis::info;
    const auto threads = count_threads();
    std::unique_ptr<CgroupPlugin> plugin{new CgroupPlugin{setup}};
    auto& guard = plugin->guard_;
    Result<const host::Library*> loaded = nullptr;
    if (const auto failure = guard.run(
            "load", [&] { loaded = host::load_library(setup.file, {.program = program, .user = geteuid()}); });
        !failure.empty())
        return fail(ErrorCode::internal, "{}", failure);
    SPUR_TRY(const auto* const library, loaded);
    const auto* const desc = library->find(setup.type);
    if (desc == nullptr) return fail(ErrorCode::invalid, "{} holds no {}", setup.file, setup.type);
    const auto& info = library->info.plugins[static_cast<std::size_t>(desc - library->descriptors.data())];
    SPUR_TRY(const auto* const older, host::choose_interface(axis, info, program));
    SPUR_CHECK(plugin->create(*desc, setup, info));

    const void* answered = nullptr;
    if (const auto failure = guard.run(
            "query",
            [&] { answered = desc->query(plugin->self_, older != nullptr ? older->id : axis.interface); });
        !failure.empty())
        return fail(ErrorCode::internal, "{}", failure);
    SPUR_TRY(plugin->table_, host::OpsTable::make(axis, older, setup.type, program, answered, plugin->self_));
    const auto& ops = *static_cast<const spur_cgroup_ops*>(plugin->table_.data());
    plugin->attach_ = ops.attach;
    if (const auto failure =
            guard.run("capabilities", [&] { plugin->capabilities_ = ops.capabilities(plugin->table_.self()); });
        !failure.empty())
        return fail(ErrorCode::internal, "{}", failure);
    if (const auto now = count_threads(); now > threads)
        return fail(ErrorCode::invalid,
                    "plugin {} refused: it has started {} threads, and its instances are forked into every step, where "
                    "they would be missing",
                    setup.type, now - threads);
    if (const auto missing = setup.needed & ~plugin->capabilities_; missing != 0)
        return fail(ErrorCode::unavailable, "{} can do less in the step daemon than in spurd (capabilities {:#x})",
                    setup.type, missing);
    SPUR_TRY(plugin->site_, SiteLimits::make(setup.options));
    return plugin;
}

CgroupChoice CgroupChoice::make(const Setup& setup) {
    if (setup.file.empty()) return {};
    auto loaded = CgroupPlugin::load(setup);
    if (loaded) return {*std::move(loaded), {}};
    return {nullptr, std::move(loaded.error().text)};
}

CgroupPlugin::~CgroupPlugin() {
    if (destroy_ != nullptr) guard_.run("destroy", [this] { destroy_(self_); });
}

}  // namespace spur::step
