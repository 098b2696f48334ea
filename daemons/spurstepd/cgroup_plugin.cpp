// A small host for one plugin: dlopen, its options, its services, and its ops.
#include "daemons/spurstepd/cgroup_plugin.hpp"

#include <dlfcn.h>
#include <spur/plugin/config.h>
#include <spur/plugin/log.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <list>

#include "core/version.hpp"

namespace spur::step {

struct CgroupPlugin::Host {
    explicit Host(const CgroupOptions& settings) : options{settings} {
        log.context = this;
        facts.context = this;
        host.context = this;
    }

    CgroupOptions options;
    std::list<std::string> kept;  // what config values point to
    std::list<std::vector<const char*>> lists;

    static void write_log(const spur_log*, std::uint32_t level, spur_str text) {
        if (level > SPUR_LOG_WARNING) return;
        const auto line = "spurstepd: " + std::string{text.data, text.length} + "\n";
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
    }
    static std::uint32_t log_enabled(const spur_log*, std::uint32_t level) { return level <= SPUR_LOG_WARNING; }
    static spur_status get_fact(const spur_config_service* service, const char* key, const spur_sink* sink) {
        const auto& options = static_cast<const Host*>(service->context)->options;
        const std::string_view name{key};
        const std::string* value = name == "node_name"      ? &options.node
                                   : name == "cluster_name" ? &options.cluster
                                   : name == "state_dir"    ? &options.state_dir
                                   : name == "plugin.file"  ? &options.file
                                                            : nullptr;
        return value == nullptr ? SPUR_E_NOT_FOUND : sink->write(sink, value->data(), value->size());
    }
    static const void* service(const spur_host* host, const char* id) {
        const auto* self = static_cast<const Host*>(host->context);
        if (std::strcmp(id, SPUR_LOG_SERVICE) == 0) return &self->log;
        if (std::strcmp(id, SPUR_CONFIG_SERVICE) == 0) return &self->facts;
        return nullptr;
    }

    spur_log log{sizeof(spur_log), 0, nullptr, &write_log, &log_enabled};
    spur_config_service facts{sizeof(spur_config_service), 0, nullptr, &get_fact};
    spur_host host{sizeof(spur_host), 0, "spurstepd", program_version, &service, nullptr};

    spur_config_value value_of(const spur_option& option) {
        spur_config_value value{};
        value.key = option.key;
        value.kind = option.kind;
        value.is_default = 1;
        kept.emplace_back(option.fallback == nullptr ? "" : option.fallback);
        for (const auto& [key, text] : options.options)
            if (key == option.key) {
                value.is_default = 0;
                kept.back() = text;
            }
        const auto& text = kept.back();
        value.text = text.c_str();
        value.integer = text == "true" ? 1 : std::strtoll(text.c_str(), nullptr, 10);
        value.real = std::strtod(text.c_str(), nullptr);
        if (option.kind == SPUR_OPTION_LIST) fill_list(text, value);
        return value;
    }

    void fill_list(const std::string& text, spur_config_value& value) {
        auto& items = lists.emplace_back();
        for (std::size_t at = 0; !text.empty() && at <= text.size();) {
            const auto end = std::min(text.find('\x1f', at), text.size());
            items.push_back(kept.emplace_back(text.substr(at, end - at)).c_str());
            at = end + 1;
        }
        value.list = items.data();
        value.list_count = static_cast<std::uint32_t>(items.size());
    }
};

Result<std::unique_ptr<CgroupPlugin>> CgroupPlugin::load(const CgroupOptions& options) {
    void* const handle = dlopen(options.file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return fail(ErrorCode::unavailable, "{}: {}", options.file, dlerror());
    const auto module_of = reinterpret_cast<spur_module_v1_fn>(dlsym(handle, "spur_module_v1"));
    if (module_of == nullptr) return fail(ErrorCode::invalid, "{} is not a Spur plugin", options.file);

    std::unique_ptr<CgroupPlugin> plugin{new CgroupPlugin};
    plugin->host_ = std::make_unique<Host>(options);
    for (const auto* const* each = module_of()->plugins; *each != nullptr; ++each)
        if (options.type == (*each)->type) plugin->descriptor_ = *each;
    if (plugin->descriptor_ == nullptr) return fail(ErrorCode::invalid, "{} has no {}", options.file, options.type);

    const auto& descriptor = *plugin->descriptor_;
    std::vector<spur_config_value> values;
    for (std::uint32_t i = 0; i < descriptor.option_count; ++i)
        values.push_back(plugin->host_->value_of(*reinterpret_cast<const spur_option*>(
            reinterpret_cast<const char*>(descriptor.options) + std::size_t{descriptor.option_stride} * i)));
    const spur_config config{sizeof(spur_config),
                             0,
                             {values.data(), static_cast<std::uint32_t>(values.size()), sizeof(spur_config_value)},
                             ""};
    spur_error error{sizeof(spur_error), SPUR_OK, {}};
    if (descriptor.create(&plugin->host_->host, &config, &plugin->self_, &error) != SPUR_OK)
        return fail(ErrorCode::unavailable, "{}: {}", options.type, error.text);
    plugin->ops_ = static_cast<const spur_cgroup_ops*>(descriptor.query(plugin->self_, SPUR_CGROUP_IFACE));
    if (plugin->ops_ == nullptr)
        return fail(ErrorCode::invalid, "{} does not speak {}", options.type, SPUR_CGROUP_IFACE);
    plugin->capabilities_ = plugin->ops_->capabilities(plugin->self_);
    if (const auto missing = options.needed & ~plugin->capabilities_; missing != 0)
        return fail(ErrorCode::unavailable, "{} can do less in the step daemon than in spurd (capabilities {:#x})",
                    options.type, missing);
    return plugin;
}

CgroupChoice CgroupChoice::make(const CgroupOptions& options) {
    if (options.file.empty()) return {};
    auto loaded = CgroupPlugin::load(options);
    if (loaded) return {*std::move(loaded), {}};
    return {nullptr, std::move(loaded.error().text)};
}

CgroupPlugin::~CgroupPlugin() {
    if (self_ != nullptr) descriptor_->destroy(self_);
}

}  // namespace spur::step
