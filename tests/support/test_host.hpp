// TestHost: a daemon as a plugin sees it, small enough to hold in one's head. TestPlugin: a shared object opened as the
// daemon would open it, with options given as text.
//
//   TestHost host;
//   host.set_fact("state_dir", dir);
//   auto plugin = TestPlugin::load(spur_plugin_path("state_raft"));
//   auto instance = plugin.create(host, {{"snapshot_threshold", "100"}});
//   const auto* ops = instance.query<spur_state_ops>(SPUR_STATE_IFACE);
#pragma once

#include <spur/plugin/clock.h>
#include <spur/plugin/config.h>
#include <spur/plugin/executor.h>
#include <spur/plugin/log.h>
#include <spur/plugin/metrics.h>
#include <spur/plugin/module.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spur::test {

class TestHost {
public:
    TestHost();
    ~TestHost();
    TestHost(const TestHost&) = delete;
    TestHost& operator=(const TestHost&) = delete;

    const spur_host* get() const;

    // spur.config/1 answers these.
    void set_fact(const std::string& key, const std::string& value);
    // spur.log/1 keeps every line, "warning: text". SPUR_TEST_LOG=1 in the environment also prints them.
    std::vector<std::string> log() const;
    bool has_logged(std::string_view part) const;
    // spur.clock/1 is the real one until the first of these; then it stands still and moves when told.
    void set_clock(std::int64_t unix_ns);
    void advance_clock(std::int64_t ns);
    // spur.metrics/1: what a counter or gauge stands at, and how many observations a histogram has.
    double metric(const std::string& name) const;
    std::uint64_t observations(const std::string& name) const;
    // spur.executor/1: tasks run on one thread in order of their time. Waits until none is due or running.
    void drain_executor();
    // Plugins must cope without: get() answers NULL for `id` from now on.
    void withhold(const std::string& id);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// For ops that want a spur_stop.
const spur_stop* never_stopped();

struct TestError {
    spur_status code = SPUR_OK;
    std::string text;
};

class TestInstance {
public:
    TestInstance(const spur_plugin_desc* desc, spur_plugin* plugin, TestError error)
        : desc_(desc), plugin_(plugin), error_(std::move(error)) {}
    TestInstance(TestInstance&& other) noexcept;
    TestInstance& operator=(TestInstance&& other) noexcept;
    ~TestInstance();

    explicit operator bool() const { return plugin_ != nullptr; }
    const TestError& error() const { return error_; }  // of create()
    spur_plugin* get() const { return plugin_; }
    template <class Ops>
    const Ops* query(const char* id) const {
        return static_cast<const Ops*>(desc_->query(plugin_, id));
    }
    void destroy();

private:
    const spur_plugin_desc* desc_;
    spur_plugin* plugin_;
    TestError error_;
};

// Options as in spur.conf; a list is comma-separated.
using TestOptions = std::map<std::string, std::string>;

class TestPlugin {
public:
    // The first descriptor of the module in `path`; throws with dlerror() if it does not load.
    static TestPlugin load(const std::string& path);

    const spur_plugin_desc& desc() const { return *desc_; }
    // Fills in the declared defaults and calls create(). An option nobody declared is a mistake in the test: throws.
    TestInstance create(const TestHost& host, const TestOptions& options = {}) const;

private:
    explicit TestPlugin(const spur_plugin_desc* desc) : desc_(desc) {}
    const spur_plugin_desc* desc_;
};

// Where this build puts its plugins: <SPUR_PLUGIN_DIR of the environment, or of the build>/<name>.so.
std::string spur_plugin_path(const std::string& name);

// A directory of its own for each test, removed with it.
class TestDirectory {
public:
    TestDirectory();
    ~TestDirectory();
    TestDirectory(const TestDirectory&) = delete;
    TestDirectory& operator=(const TestDirectory&) = delete;
    const std::string& path() const { return path_; }
    std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

private:
    std::string path_;
};

}  // namespace spur::test
