// The policy: every file <prefix><number> in a directory is a device.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct DeviceFiles {
    std::filesystem::path directory;
    std::string prefix;

    // Numbers of the devices that are there, in order.
    std::vector<std::uint32_t> scan() const {
        std::vector<std::uint32_t> found;
        for (const auto& entry : std::filesystem::directory_iterator(directory)) {
            const auto name = entry.path().filename().string();
            if (!name.starts_with(prefix)) continue;
            std::uint32_t number = 0;
            const auto* end = name.data() + name.size();
            const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, number);
            if (error == std::errc{} && stop == end && path_of(number) == entry.path()) found.push_back(number);
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    // The device with this key, which is its path; none: it is not there.
    std::optional<std::uint32_t> find(std::string_view key) const {
        for (const auto number : scan())
            if (path_of(number).string() == key) return number;
        return std::nullopt;
    }
    std::filesystem::path path_of(std::uint32_t number) const { return directory / (prefix + std::to_string(number)); }
};
