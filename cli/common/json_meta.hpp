// The head that every --json output of Slurm has.
#pragma once

#include "cli/common/json.hpp"

namespace spur::cli {

inline void json_head(JsonWriter& json, std::string_view type = "openapi/v0.0.38",
                      std::string_view name = "Slurm OpenAPI v0.0.38") {
    json.begin_object();
    json.key("meta");
    json.begin_object();
    json.key("plugin");
    json.begin_object();
    json.member("type", type);
    json.member("name", name);
    json.end_object();
    json.key("Slurm");
    json.begin_object();
    json.key("version");
    json.begin_object();
    json.member("major", 22);
    json.member("micro", 8);
    json.member("minor", 5);
    json.end_object();
    json.member("release", "22.05.8");
    json.end_object();
    json.end_object();
    json.key("errors");
    json.begin_array();
    json.end_array();
}

}  // namespace spur::cli
