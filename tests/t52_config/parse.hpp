// What these tests say: config_of("...") and mistakes_in("...").
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "daemons/common/config/config.hpp"

namespace spur::config {

inline Config config_of(std::string_view text) {
    auto config = parse_config(text, "spur.conf");
    if (!config) {
        ADD_FAILURE() << to_string(config.error(), "spur.conf");
        return {};
    }
    return *std::move(config);
}

inline std::string mistakes_in(std::string_view text) {
    const auto config = parse_config(text, "spur.conf");
    return config ? "none" : to_string(config.error(), "spur.conf");
}

}  // namespace spur::config
