// The file behind "spur.store/1": a plugin type's keys and values in a daemon's state directory. Small enough to be
// written as a whole, so a change is a new file in place of the old one.
#pragma once

#include <spur/plugin/store.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur::host {

class PluginStore {
public:
    struct Change {
        std::string key;
        std::optional<std::string> value;  // nothing: it is removed
    };
    using Values = std::map<std::string, std::string, std::less<>>;

    // The one of this process for that file; all instances of a type share it. Nothing is read or made yet.
    static std::shared_ptr<PluginStore> at(const std::filesystem::path& file);
    static std::filesystem::path place(const std::filesystem::path& state_dir, const std::string& type);

    explicit PluginStore(std::filesystem::path file) : file_{std::move(file)} {}
    PluginStore(const PluginStore&) = delete;
    PluginStore& operator=(const PluginStore&) = delete;

    // [any thread] All values, as they are now.
    Result<std::shared_ptr<const Values>> values();
    // All or none, durable on return.
    Result<void> change(const std::vector<Change>& changes);

private:
    Result<void> load();
    Result<void> save(const Values& values) const;

    const std::filesystem::path file_;
    std::mutex mutex_;
    std::shared_ptr<const Values> values_;  // empty: not read yet
};

}  // namespace spur::host
