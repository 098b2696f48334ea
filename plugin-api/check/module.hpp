// The shared object as loaded by a daemon, and its descriptors.
#pragma once

#include "case.hpp"

#include <spur/plugin/plugin.hpp>

#include <string>
#include <vector>

namespace spur::check {

class Module {
public:
    // dlopen as the daemons do it. Throws Failed with a sentence.
    explicit Module(const std::string& file);

    const spur_module& get() const { return *module_; }
    spur_module_v1_fn entry() const { return entry_; }
    std::vector<const spur_plugin_desc*> plugins() const;
    const spur_plugin_desc& plugin(const std::string& type) const;
    bool provides(const std::string& symbol) const;  // by itself or a library it names

private:
    void* handle_ = nullptr;
    spur_module_v1_fn entry_ = nullptr;
    const spur_module* module_ = nullptr;
};

using Options = plugin::Records<spur_option>;
Options options_of(const spur_plugin_desc& desc);

// The n of "1.n", as spur_module.built_with says it. Headers from before 1.0 count as 1.0, what nobody can read as the
// newest.
unsigned minor_of(std::string_view built_with);

// A string out of a descriptor that must be there; Failed names it as `what` otherwise.
std::string text_of(const char* text, std::string_view what);

}  // namespace spur::check
