// What the tests of the host share: a host that looks into the folder of test plugins, and configurations in one line.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "daemons/common/host/host.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::host {

inline const bool is_quiet = (log::set_level(log::Level::warning), true);

inline HostOptions test_options() {
    HostOptions options;
    options.program = "spurtest";
    options.facts = {{"cluster_name", "testing"}};
    options.check_roles = true;
    return options;
}

inline Config config_with(std::map<std::string, std::vector<std::string>> plugins,
                          std::map<std::string, std::vector<ConfigOption>> options = {}) {
    Config config;
    config.path = "spur.conf";
    config.plugin_dirs = {SPUR_TEST_PLUGINS, SPUR_TEST_LIB};
    config.plugins = std::move(plugins);
    config.plugin_options = std::move(options);
    return config;
}

inline std::vector<ConfigOption> acting(const std::string& act, const std::string& when = "plan") {
    return {{"act", act, 10}, {"when", when, 11}};
}

inline Config actor_config(const std::string& act, const std::string& when = "plan") {
    return config_with({{"sched", {"sched/actor"}}}, {{"sched/actor", acting(act, when)}});
}

// What sched/actor says of itself when it is given no view; "" if it does not.
template <class Sched>
std::string told_by(const Sched& sched) {
    spur_error error{sizeof(spur_error), SPUR_OK, {}};
    return sched.call(&spur_sched_ops::plan, nullptr, nullptr, nullptr, &error) == 1 ? error.text : std::string{};
}

// Waits for `done()`, for as long as a busy machine may need.
template <class Done>
bool eventually(const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return true;
}

class TempDir {
public:
    TempDir() {
        std::string name = testing::TempDir() + "spurXXXXXX";
        path_ = ::mkdtemp(name.data());
    }
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path copy(const std::string& plugin, const std::string& as = {}) const {
        const auto to = path_ / (as.empty() ? plugin : as);
        std::filesystem::copy_file(std::filesystem::path{SPUR_TEST_PLUGINS} / plugin, to,
                                   std::filesystem::copy_options::overwrite_existing);
        return to;
    }

private:
    std::filesystem::path path_;
};

}  // namespace spur::host
