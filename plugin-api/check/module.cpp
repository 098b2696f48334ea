// Opening, and the few checks without which nothing else can be asked.
#include "module.hpp"

#include "memory.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstring>

namespace spur::check {
namespace {
constexpr std::size_t most_plugins = 64;
}

Module::Module(const std::string& file) {
    doing("opening it");
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ == nullptr) fail("cannot be loaded: {}", dlerror());
    entry_ = reinterpret_cast<spur_module_v1_fn>(dlsym(handle_, "spur_module_v1"));
    require(entry_ != nullptr, "does not export spur_module_v1(); use SPUR_PLUGIN(...) and link with plugin.map");
    doing("calling spur_module_v1()");
    module_ = entry_();
    require(module_ != nullptr, "spur_module_v1() returned NULL");
    require(module_->size >= first_size<spur_module>,
            "spur_module.size is {}, the first release had {}: set it to sizeof(spur_module)", module_->size,
            first_size<spur_module>);
    require(module_->abi == SPUR_ABI_EPOCH, "spur_module.abi is {}, this release speaks epoch {}", module_->abi,
            SPUR_ABI_EPOCH);
    require(module_->plugins != nullptr, "spur_module.plugins is NULL");
}

std::vector<const spur_plugin_desc*> Module::plugins() const {
    doing("reading the list of plugins");
    std::vector<const spur_plugin_desc*> all;
    for (const auto* const* next = module_->plugins; *next != nullptr; ++next) {
        require(all.size() < most_plugins, "spur_module.plugins does not end in NULL");
        all.push_back(*next);
    }
    require(!all.empty(), "spur_module.plugins is empty");
    return all;
}

const spur_plugin_desc& Module::plugin(const std::string& type) const {
    for (const auto* desc : plugins())
        if (desc->type != nullptr && type == desc->type) return *desc;
    fail("has no plugin of type {}", type);
}

bool Module::provides(const std::string& symbol) const { return dlsym(handle_, symbol.c_str()) != nullptr; }

Options options_of(const spur_plugin_desc& desc) {
    return Options({desc.options, desc.option_count, desc.option_stride});
}

unsigned minor_of(std::string_view built_with) {
    constexpr unsigned newest = 0xffffffff;
    if (built_with.starts_with("0.")) return 0;
    unsigned minor = newest;
    if (built_with.starts_with("1."))
        std::from_chars(built_with.data() + 2, built_with.data() + built_with.size(), minor);
    return minor;
}

std::string text_of(const char* text, std::string_view what) {
    constexpr std::size_t most = 4096;
    require(text != nullptr, "{} is NULL", what);
    const auto length = strnlen(text, most);
    require(length < most, "{} is not terminated within {} bytes", what, most);
    require(length > 0, "{} is empty", what);
    return {text, length};
}

}  // namespace spur::check
