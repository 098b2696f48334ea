// The services, each in a few lines, and a loader without any of the daemon's refinements.
#include "test_host.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace spur::test {
namespace {

struct Metric {
    std::string name;
    double value = 0;
    std::uint64_t observations = 0;
};

struct Task {
    spur_task run;
    void* argument;
};

using Clock = std::chrono::steady_clock;

}  // namespace

const spur_stop* never_stopped() {
    static const spur_stop stop{sizeof(spur_stop), -1, INT64_MAX, nullptr, [](const spur_stop*) { return 0U; }};
    return &stop;
}

// Each service's context points back here.
struct TestHost::Parts {
    mutable std::mutex mutex;
    std::map<std::string, std::string> facts;
    std::vector<std::string> lines;
    std::vector<Metric> metrics;
    std::map<std::string, bool> withheld;
    std::atomic<bool> clock_is_manual{false};
    std::atomic<std::int64_t> manual_ns{0};

    std::condition_variable changed;
    std::map<std::pair<Clock::time_point, std::uint64_t>, Task> tasks;
    std::uint64_t last_timer = 0;
    bool task_running = false;
    bool stopping = false;
    std::thread worker;

    spur_log log{};
    spur_clock clock{};
    spur_config_service config{};
    spur_metrics metrics_service{};
    spur_executor executor{};
    spur_host host{};

    Parts();
    ~Parts();
    void work();
    std::uint64_t add_task(std::int64_t delay_ns, spur_task run, void* argument);
    std::uint32_t define(const std::string& name);
    const void* service(std::string_view id) const;
};

namespace {

constexpr const char* level_names[] = {"", "error", "warning", "info", "debug"};

std::int64_t real_ns(clockid_t id) {
    timespec now{};
    clock_gettime(id, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

TestHost::Parts::Parts() {
    log = {sizeof log, 0, this,
           [](const spur_log* self, std::uint32_t level, spur_str text) {
               auto& parts = *static_cast<Parts*>(self->context);
               auto line =
                   std::string(level_names[level <= 4 ? level : 0]) + ": " + std::string(text.data, text.length);
               if (std::getenv("SPUR_TEST_LOG") != nullptr) std::fprintf(stderr, "%s\n", line.c_str());
               const std::lock_guard lock(parts.mutex);
               parts.lines.push_back(std::move(line));
           },
           [](const spur_log*, std::uint32_t) { return 1u; }};
    clock = {sizeof clock, 0, this,
             [](const spur_clock* self) {
                 auto& parts = *static_cast<Parts*>(self->context);
                 return parts.clock_is_manual ? parts.manual_ns.load() : real_ns(CLOCK_REALTIME);
             },
             [](const spur_clock* self) {
                 auto& parts = *static_cast<Parts*>(self->context);
                 return parts.clock_is_manual ? parts.manual_ns.load() : real_ns(CLOCK_MONOTONIC);
             }};
    config = {sizeof config, 0, this, [](const spur_config_service* self, const char* key, const spur_sink* sink) {
                  auto& parts = *static_cast<Parts*>(self->context);
                  std::string value;
                  {
                      const std::lock_guard lock(parts.mutex);
                      const auto found = parts.facts.find(key);
                      if (found == parts.facts.end()) return SPUR_E_NOT_FOUND;
                      value = found->second;
                  }
                  return sink->write(sink, value.data(), value.size());
              }};
    metrics_service = {sizeof metrics_service,
                       0,
                       this,
                       [](const spur_metrics* self, const spur_metric* metric) {
                           return static_cast<Parts*>(self->context)->define({metric->name.data, metric->name.length});
                       },
                       [](const spur_metrics* self, std::uint32_t metric, spur_span values) {
                           auto& parts = *static_cast<Parts*>(self->context);
                           std::string name;
                           {
                               const std::lock_guard lock(parts.mutex);
                               name = parts.metrics.at(metric - 1).name;
                           }
                           for (std::uint32_t i = 0; i < values.count; ++i) {
                               const auto* const value = SPUR_AT(spur_str, values, i);
                               name += "|" + std::string(value->data, value->length);
                           }
                           return parts.define(name);
                       },
                       [](const spur_metrics*, std::uint32_t) {},
                       [](const spur_metrics* self, std::uint32_t handle, double amount) {
                           auto& parts = *static_cast<Parts*>(self->context);
                           const std::lock_guard lock(parts.mutex);
                           parts.metrics.at(handle - 1).value += amount;
                       },
                       [](const spur_metrics* self, std::uint32_t handle, double value) {
                           auto& parts = *static_cast<Parts*>(self->context);
                           const std::lock_guard lock(parts.mutex);
                           parts.metrics.at(handle - 1).value = value;
                           ++parts.metrics.at(handle - 1).observations;
                       }};
    executor = {
        sizeof executor,
        0,
        this,
        [](const spur_executor* self, spur_task run, spur_task, void* argument) {
            static_cast<Parts*>(self->context)->add_task(0, run, argument);
            return SPUR_OK;
        },
        [](const spur_executor*, spur_blocking_task run, spur_task, void* argument) {
            std::thread([run, argument] { run(argument, never_stopped()); }).detach();
            return SPUR_OK;
        },
        [](const spur_executor* self, std::int64_t delay_ns, spur_task run, spur_task, void* argument,
           std::uint64_t* id) {
            const auto added = static_cast<Parts*>(self->context)->add_task(delay_ns, run, argument);
            if (id != nullptr) *id = added;
            return SPUR_OK;
        },
        [](const spur_executor*, std::int64_t, spur_task, spur_task, void*, std::uint64_t*) {
            return SPUR_E_UNSUPPORTED;  // no plugin under test has asked for it yet
        },
        [](const spur_executor*, std::int32_t, std::uint32_t, spur_watcher, spur_task, void*, std::uint64_t*) {
            return SPUR_E_UNSUPPORTED;
        },
        [](const spur_executor* self, std::uint64_t timer) {
            auto& parts = *static_cast<Parts*>(self->context);
            const std::lock_guard lock(parts.mutex);
            return static_cast<std::uint32_t>(
                std::erase_if(parts.tasks, [&](const auto& task) { return task.first.second == timer; }));
        }};
    host = {sizeof host,
            0,
            "test",
            "1.0.0",
            [](const spur_host* self, const char* id) { return static_cast<Parts*>(self->context)->service(id); },
            this};
    worker = std::thread([this] { work(); });
}

TestHost::Parts::~Parts() {
    {
        const std::lock_guard lock(mutex);
        stopping = true;
    }
    changed.notify_all();
    worker.join();
}

std::uint64_t TestHost::Parts::add_task(std::int64_t delay_ns, spur_task run, void* argument) {
    const std::lock_guard lock(mutex);
    tasks[{Clock::now() + std::chrono::nanoseconds(delay_ns), ++last_timer}] = {run, argument};
    changed.notify_all();
    return last_timer;
}

std::uint32_t TestHost::Parts::define(const std::string& name) {
    const std::lock_guard lock(mutex);
    for (std::uint32_t i = 0; i < metrics.size(); ++i)
        if (metrics[i].name == name) return i + 1;
    metrics.push_back({name, 0, 0});
    return static_cast<std::uint32_t>(metrics.size());
}

void TestHost::Parts::work() {
    std::unique_lock lock(mutex);
    while (!stopping) {
        if (tasks.empty()) {
            changed.wait(lock);
            continue;
        }
        const auto due = tasks.begin()->first.first;
        if (Clock::now() < due) {
            changed.wait_until(lock, due);
            continue;
        }
        const auto task = tasks.begin()->second;
        tasks.erase(tasks.begin());
        task_running = true;
        lock.unlock();
        task.run(task.argument);
        lock.lock();
        task_running = false;
        changed.notify_all();
    }
}

const void* TestHost::Parts::service(std::string_view id) const {
    {
        const std::lock_guard lock(mutex);
        if (withheld.contains(std::string(id))) return nullptr;
    }
    if (id == SPUR_LOG_SERVICE) return &log;
    if (id == SPUR_CLOCK_SERVICE) return &clock;
    if (id == SPUR_CONFIG_SERVICE) return &config;
    if (id == SPUR_METRICS_SERVICE) return &metrics_service;
    if (id == SPUR_EXECUTOR_SERVICE) return &executor;
    return nullptr;
}

TestHost::TestHost() : parts_(std::make_unique<Parts>()) {}
TestHost::~TestHost() = default;

const spur_host* TestHost::get() const { return &parts_->host; }

void TestHost::set_fact(const std::string& key, const std::string& value) {
    const std::lock_guard lock(parts_->mutex);
    parts_->facts[key] = value;
}

std::vector<std::string> TestHost::log() const {
    const std::lock_guard lock(parts_->mutex);
    return parts_->lines;
}

bool TestHost::has_logged(std::string_view part) const {
    for (const auto& line : log())
        if (line.find(part) != std::string::npos) return true;
    return false;
}

void TestHost::set_clock(std::int64_t unix_ns) {
    parts_->manual_ns = unix_ns;
    parts_->clock_is_manual = true;
}

void TestHost::advance_clock(std::int64_t ns) {
    if (!parts_->clock_is_manual) set_clock(real_ns(CLOCK_REALTIME));
    parts_->manual_ns += ns;
}

double TestHost::metric(const std::string& name) const {
    const std::lock_guard lock(parts_->mutex);
    for (const auto& metric : parts_->metrics)
        if (metric.name == name) return metric.value;
    return 0;
}

std::uint64_t TestHost::observations(const std::string& name) const {
    const std::lock_guard lock(parts_->mutex);
    for (const auto& metric : parts_->metrics)
        if (metric.name == name) return metric.observations;
    return 0;
}

void TestHost::drain_executor() {
    std::unique_lock lock(parts_->mutex);
    parts_->changed.wait(lock, [this] {
        return !parts_->task_running && (parts_->tasks.empty() || parts_->tasks.begin()->first.first > Clock::now());
    });
}

void TestHost::withhold(const std::string& id) {
    const std::lock_guard lock(parts_->mutex);
    parts_->withheld[id] = true;
}

// ---- plugins -------------------------------------------------------------------------------------------------------

TestInstance::TestInstance(TestInstance&& other) noexcept
    : desc_(other.desc_), plugin_(std::exchange(other.plugin_, nullptr)), error_(std::move(other.error_)) {}

TestInstance& TestInstance::operator=(TestInstance&& other) noexcept {
    std::swap(desc_, other.desc_);
    std::swap(plugin_, other.plugin_);
    std::swap(error_, other.error_);
    return *this;
}

TestInstance::~TestInstance() { destroy(); }

void TestInstance::destroy() {
    if (plugin_ != nullptr) desc_->destroy(std::exchange(plugin_, nullptr));
}

TestPlugin TestPlugin::load(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto module = reinterpret_cast<spur_module_v1_fn>(dlsym(library, "spur_module_v1"));
    if (module == nullptr) throw std::runtime_error(path + " exports no spur_module_v1");
    return TestPlugin(module()->plugins[0]);
}

namespace {

std::int64_t scaled(const std::string& text, const std::map<char, std::int64_t>& units) {
    std::size_t end = 0;
    const auto number = std::stoll(text, &end);
    const auto unit = end < text.size() ? units.find(text[end]) : units.end();
    return unit == units.end() ? number : number * unit->second;
}

// Values with the memory they point to.
struct Values {
    std::vector<spur_config_value> values;
    std::deque<std::string> texts;
    std::deque<std::vector<const char*>> lists;

    void add(const spur_option& option, const std::string& text, bool is_default) {
        spur_config_value value{};
        value.key = option.key;
        value.kind = option.kind;
        value.is_default = is_default ? 1 : 0;
        value.text = texts.emplace_back(text).c_str();
        switch (option.kind) {
            case SPUR_OPTION_INT:
                value.integer = text.empty() ? 0 : std::stoll(text);
                break;
            case SPUR_OPTION_FLOAT:
                value.real = text.empty() ? 0 : std::stod(text);
                break;
            case SPUR_OPTION_BOOL:
                value.integer = text == "true" || text == "1" ? 1 : 0;
                break;
            case SPUR_OPTION_DURATION:
                value.integer = text.empty() ? 0
                                : text.back() == 's' || text.back() == 'm' || text.back() == 'h'
                                    ? scaled(text, {{'s', 1}, {'m', 60}, {'h', 3600}})
                                    : std::stoll(text) * 60;
                break;
            case SPUR_OPTION_SIZE:
                value.integer =
                    text.empty() ? 0 : scaled(text, {{'K', 1 << 10}, {'M', 1 << 20}, {'G', std::int64_t{1} << 30}});
                break;
            case SPUR_OPTION_LIST:
                add_list(text, value);
                break;
            default:
                break;
        }
        values.push_back(value);
    }

private:
    void add_list(const std::string& text, spur_config_value& value) {
        auto& list = lists.emplace_back();
        for (std::size_t at = 0; at < text.size();) {
            const auto comma = std::min(text.find(',', at), text.size());
            list.push_back(texts.emplace_back(text.substr(at, comma - at)).c_str());
            at = comma + 1;
        }
        value.list = list.data();
        value.list_count = static_cast<std::uint32_t>(list.size());
    }
};

}  // namespace

TestInstance TestPlugin::create(const TestHost& host, const TestOptions& options) const {
    Values values;
    std::size_t used = 0;
    for (std::uint32_t i = 0; i < desc_->option_count; ++i) {
        const auto& option = *reinterpret_cast<const spur_option*>(reinterpret_cast<const char*>(desc_->options) +
                                                                   std::size_t{desc_->option_stride} * i);
        const auto given = options.find(option.key);
        if (given != options.end()) ++used;
        const std::string fallback = option.fallback == nullptr ? "" : option.fallback;
        values.add(option, given == options.end() ? fallback : given->second, given == options.end());
    }
    if (used != options.size()) throw std::logic_error(std::string("an option is not declared by ") + desc_->type);
    const spur_config config{
        sizeof config,
        0,
        {values.values.data(), static_cast<std::uint32_t>(values.values.size()), sizeof(spur_config_value)},
        "spur.conf"};
    spur_error error{sizeof(spur_error), SPUR_OK, ""};
    spur_plugin* instance = nullptr;
    const auto status = desc_->create(host.get(), &config, &instance, &error);
    return {desc_, status == SPUR_OK ? instance : nullptr, {status, error.text}};
}

std::string spur_plugin_path(const std::string& name) {
    const char* directory = std::getenv("SPUR_PLUGIN_DIR");
    return std::string(directory == nullptr ? SPUR_BUILD_PLUGIN_DIR : directory) + "/" + name + ".so";
}

TestDirectory::TestDirectory() {
    const auto base = std::filesystem::temp_directory_path() / "spur-test-XXXXXX";
    path_ = base.string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

TestDirectory::~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace spur::test
