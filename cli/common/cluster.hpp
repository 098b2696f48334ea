// Where the cluster is and how to prove who we are to it. Read at the start of every command, so it is cheap: a handful
// of lines are picked out of spur.conf, the full reading (and its errors) is the daemons' work.
#pragma once

#include "core/base/result.hpp"
#include "core/text/endpoint.hpp"
#include "daemons/common/wire/tls.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli {

// The quoted values of one file, by "section.key"; lists keep their order. Other kinds of values are skipped.
class ConfigLines {
public:
    static Result<ConfigLines> load(const std::string& path);
    static Result<ConfigLines> parse(std::string_view text, const std::string& path);

    const std::vector<std::string>* find(const std::string& key) const;
    std::string value(const std::string& key, std::string fallback = {}) const;
    const std::string& path() const { return path_; }
    // Every "plugin.<type>.<key>" of one plugin, the prefix taken off.
    std::map<std::string, std::vector<std::string>> with_prefix(const std::string& prefix) const;

private:
    std::string path_;
    std::map<std::string, std::vector<std::string>> values_;
};

struct Cluster {
    std::string name;                   // empty: not known
    std::vector<Endpoint> controllers;  // none: no cluster is known here
    std::vector<Endpoint> accounting;
    std::optional<wire::TlsOptions> tls;
    std::string auth;  // "auth/local"
    std::vector<std::string> plugin_dirs;
    std::map<std::string, std::vector<std::string>> auth_options;
    std::string state_dir;    // the controller's, where auth/local keeps its key
    std::string config_path;  // empty: none was found
    std::string source;       // where the address came from, for error messages
};

// In this order: `given` (--controller), SPUR_CONTROLLER_ADDR, the file SPUR_CONF names, the cluster this user started
// with `spur up`, /etc/spur/spur.conf.
Result<Cluster> find_cluster(const std::string& given = {});

// The file `spur up` leaves for commands while it runs: the form of spur.conf, only what a client needs.
std::string client_state_path();

}  // namespace spur::cli
