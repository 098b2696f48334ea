// Reading the feed and comparing versions.
#include "daemons/common/daemon/update.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include "core/text/lexical.hpp"
#include "core/version.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::daemon {
namespace {

std::vector<std::uint64_t> numbers(std::string_view version) {
    std::vector<std::uint64_t> out;
    for (const auto part : split(version.substr(0, version.find_first_of("-+")), '.'))
        out.push_back(find_unsigned(part).value_or(0));
    while (!out.empty() && out.back() == 0) out.pop_back();
    return out;
}

}  // namespace

bool is_newer(std::string_view version, std::string_view than) {
    const auto a = numbers(version), b = numbers(than);
    return std::ranges::lexicographical_compare(b, a);
}

Result<std::optional<std::string>> find_update(const UpdateConfig& config, std::string_view running) {
    if (!config.check_on_startup) return std::nullopt;
    std::ifstream file{config.feed};
    if (!file) return fail(ErrorCode::not_found, "[update] feed {} cannot be read", config.feed);
    std::optional<std::string> newest;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        std::string channel, version;
        if (words >> channel >> version && channel == config.channel &&
            is_newer(version, newest ? *newest : std::string{running}))
            newest = version;
    }
    return newest;
}

void log_update(const UpdateConfig& config) {
    const auto found = find_update(config, program_version);
    if (!found) return log::warning("{}", found.error().text);
    if (*found) log::info("release {} is out on the {} channel; this is {}", **found, config.channel, program_version);
}

}  // namespace spur::daemon
