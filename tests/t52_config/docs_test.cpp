// The reference is whole: what can be written is described, and what is described can be written.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "daemons/common/config/config.hpp"

namespace spur::config {
namespace {

// Lines such as "| `max_time` | minutes | ...", under headings such as "## [[partitions]]".
std::set<std::pair<std::string, std::string>> documented() {
    std::set<std::pair<std::string, std::string>> keys;
    std::ifstream file{SPUR_CONF_DOC};
    static const std::regex heading{R"(^## `?\[*([a-z]*)\]*`?.*)"}, row{R"(^\| `([a-z_]+)` \|.*)"};
    std::string section;
    for (std::string line; std::getline(file, line);) {
        std::smatch found;
        if (line.starts_with("## The top level"))
            section = "";
        else if (std::regex_match(line, found, heading))
            section = found[1];
        else if (std::regex_match(line, found, row))
            keys.emplace(section, found[1]);
    }
    return keys;
}

TEST(T52Config, EveryKeyIsInTheReferenceAndNoOtherIs) {
    std::set<std::pair<std::string, std::string>> known;
    for (const auto& key : config_keys()) known.emplace(key.section, key.key);
    const auto written = documented();
    for (const auto& [section, key] : known)
        EXPECT_TRUE(written.contains({section, key})) << "[" << section << "] " << key << " is not described";
    for (const auto& [section, key] : written)
        EXPECT_TRUE(known.contains({section, key})) << "[" << section << "] " << key << " does not exist";
}

}  // namespace
}  // namespace spur::config
