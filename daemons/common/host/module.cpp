// The checks behind read_module(), in the order in which a plugin's structures hang together.
#include "daemons/common/host/module.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/text/lexical.hpp"
#include "daemons/common/host/memory.hpp"
#include "daemons/common/host/options.hpp"
#include "daemons/common/host/search.hpp"
#include "plugin-api/abi/first_sizes.hpp"

namespace spur::host {
namespace {

// No honest plugin comes near these; they keep a wild number from becoming a wild read.
constexpr std::uint32_t most_bytes = 64U * 1024;
constexpr std::size_t most_plugins = 64, most_options = 256, most_interfaces = 32;
constexpr std::size_t longest_name = 64, longest_line = 1024, longest_fallback = 4096;

constexpr std::array<const char*, 11> kind_names{"unknown", "string", "integer", "number", "boolean", "duration",
                                                 "size",    "path",   "list",    "choice", "secret"};

class Reader {
public:
    Reader(const std::string& file, const std::string& program) : file_{file}, program_{program} {}

    template <class... Args>
    std::unexpected<Error> refuse(fmt::format_string<Args...> text, Args&&... args) const {
        return fail(ErrorCode::invalid, "plugin file {} refused: {}", file_,
                    fmt::format(text, std::forward<Args>(args)...));
    }

    // A size-prefixed struct: at least the first release's members, at most something sane; what is newer than us is
    // left out, what the plugin's headers did not have yet is zero.
    template <class T>
    Result<T> grown(const T* from, const std::string& what) const {
        constexpr auto first_release = abi::first_size<T>;
        const auto size = copy_value(reinterpret_cast<const std::uint32_t*>(from));
        if (!size)
            return refuse("{} lies in memory that cannot be read; build the plugin again with its headers", what);
        if (*size < first_release)
            return refuse(
                "{} is {} bytes and {} needs at least {}; build the plugin with the headers of Spur 1.0 or later", what,
                *size, program_, first_release);
        if (*size > most_bytes)
            return refuse("{} claims to be {} bytes long; its `size` was not set to sizeof", what, *size);
        T value{};
        if (!copy_memory(&value, from, std::min<std::size_t>(*size, sizeof(T))))
            return refuse("{} claims {} bytes and not all of them can be read; its `size` was not set to sizeof", what,
                          *size);
        return value;
    }

    Result<std::string> text(const char* from, std::size_t longest, const std::string& what) const {
        if (from == nullptr) return refuse("{} is NULL; give it a text, \"\" if there is nothing to say", what);
        if (auto copied = copy_string(from, longest)) {
            if (std::ranges::any_of(*copied, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
                return refuse("{} is {} and must be one printable line", what, spur::quoted(*copied));
            return *std::move(copied);
        }
        return refuse("{} is not a terminated string of at most {} bytes", what, longest);
    }
    Result<std::string> optional_text(const char* from, std::size_t longest, const std::string& what) const {
        return from == nullptr ? Result<std::string>{std::string{}} : text(from, longest, what);
    }

    Result<OptionInfo> option(const char* from, std::size_t stride, const std::string& type, std::size_t index) const;
    Result<std::vector<OptionInfo>> options(const spur_plugin_desc& desc, const std::string& type) const;
    Result<std::vector<std::string>> interfaces(const spur_plugin_desc& desc, const std::string& type) const;
    Result<DescriptorInfo> descriptor(const spur_plugin_desc& desc) const;

private:
    const std::string& file_;
    const std::string& program_;
};

bool is_key(std::string_view key) {
    return !key.empty() && key[0] >= 'a' && key[0] <= 'z' &&
           std::ranges::all_of(key, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_'; });
}

// As much of the record as its writer's headers had; what they did not have yet is zero.
Result<OptionInfo> Reader::option(const char* from, std::size_t stride, const std::string& type,
                                  std::size_t index) const {
    spur_option record{};
    const auto* const raw = &record;
    if (!copy_memory(&record, from, std::min(stride, sizeof(record))))
        return refuse("option {} of {} cannot be read; option_count is too high or `options` is wrong", index, type);
    OptionInfo out;
    SPUR_TRY(out.key, text(raw->key, longest_name, fmt::format("the key of option {} of {}", index, type)));
    const auto what = fmt::format("option {} of {}", spur::quoted(out.key), type);
    if (!is_key(out.key)) return refuse("{} is not named in lower_case_words", what);
    out.kind = raw->kind;
    out.flags = raw->flags;
    if (out.kind == 0 || out.kind >= kind_names.size())
        return refuse("{} is of kind {}, which {} does not know; it needs a newer Spur", what, out.kind, program_);
    out.has_fallback = raw->fallback != nullptr;
    SPUR_TRY(out.fallback, optional_text(raw->fallback, longest_fallback, "the default of " + what));
    SPUR_TRY(out.help, optional_text(raw->help, longest_line, "the help of " + what));
    SPUR_TRY(out.choices, optional_text(raw->choices, longest_line, "the choices of " + what));
    out.minimum = raw->minimum;
    out.maximum = raw->maximum;
    if (out.has_range() && out.minimum > out.maximum) return refuse("{} has a minimum above its maximum", what);
    if (out.kind == SPUR_OPTION_CHOICE && out.choices.empty())
        return refuse("{} is a choice among nothing; set `choices`", what);
    if (out.is_required() && out.has_fallback) return refuse("{} is required and has a default; one of the two", what);
    if (const auto good = check_fallback(out); !good)
        return refuse("the default of {} is no good: {}", what, good.error().text);
    return out;
}

Result<std::vector<OptionInfo>> Reader::options(const spur_plugin_desc& desc, const std::string& type) const {
    std::vector<OptionInfo> out;
    if (desc.option_count == 0) return out;
    if (desc.option_count > most_options)
        return refuse("{} claims {} options; the most is {}", type, desc.option_count, most_options);
    if (desc.options == nullptr) return refuse("{} claims {} options and `options` is NULL", type, desc.option_count);
    if (desc.option_stride < abi::first_size<spur_option> || desc.option_stride > most_bytes ||
        desc.option_stride % alignof(spur_option) != 0)
        return refuse("{} has option_stride {}; set it to sizeof(spur_option), which is {}", type, desc.option_stride,
                      sizeof(spur_option));
    for (std::uint32_t i = 0; i < desc.option_count; ++i) {
        const auto* const at = reinterpret_cast<const char*>(desc.options) + std::size_t{desc.option_stride} * i;
        SPUR_TRY(auto one, option(at, desc.option_stride, type, i));
        for (const auto& other : out)
            if (other.key == one.key) return refuse("{} declares option {} twice", type, spur::quoted(one.key));
        out.push_back(std::move(one));
    }
    return out;
}

Result<std::vector<std::string>> Reader::interfaces(const spur_plugin_desc& desc, const std::string& type) const {
    std::vector<std::string> out;
    if (desc.interfaces == nullptr)
        return refuse("{} lists no interfaces; set `interfaces`, for example to \"spur.sched/1\"", type);
    while (true) {
        const auto entry = copy_value(desc.interfaces + out.size());
        if (!entry || out.size() > most_interfaces) return refuse("the `interfaces` of {} do not end with NULL", type);
        if (*entry == nullptr) break;
        SPUR_TRY(auto id, text(*entry, longest_name, "an interface of " + type));
        out.push_back(std::move(id));
    }
    if (out.empty()) return refuse("{} lists no interfaces; set `interfaces`, for example to \"spur.sched/1\"", type);
    return out;
}

Result<DescriptorInfo> Reader::descriptor(const spur_plugin_desc& desc) const {
    DescriptorInfo out;
    SPUR_TRY(out.type, text(desc.type, longest_name, "its `type`"));
    if (!is_plugin_type(out.type))
        return refuse("its type is {}, not axis/name in lower case, such as sched/backfill", spur::quoted(out.type));
    SPUR_TRY(out.version, text(desc.version, longest_name, "the `version` of " + out.type));
    SPUR_TRY(out.vendor, text(desc.vendor, longest_line, "the `vendor` of " + out.type));
    SPUR_TRY(out.summary, text(desc.summary, longest_line, "the `summary` of " + out.type));
    SPUR_TRY(out.options, options(desc, out.type));
    SPUR_TRY(out.interfaces, interfaces(desc, out.type));
    const std::array<std::pair<const char*, const void*>, 3> functions{{
        {"create", reinterpret_cast<const void*>(desc.create)},
        {"destroy", reinterpret_cast<const void*>(desc.destroy)},
        {"query", reinterpret_cast<const void*>(desc.query)},
    }};
    for (const auto& [name, function] : functions) {
        if (function == nullptr) return refuse("{}() of {} is NULL and required", name, out.type);
        if (!is_code(function)) return refuse("{}() of {} does not point to code", name, out.type);
    }
    return out;
}

}  // namespace

const char* option_kind_name(std::uint32_t kind) { return kind < kind_names.size() ? kind_names[kind] : kind_names[0]; }

Result<void> read_module(const spur_module* module, const std::string& file, const std::string& program,
                         ModuleInfo& info, std::vector<spur_plugin_desc>& descriptors) {
    const Reader reader{file, program};
    if (module == nullptr) return reader.refuse("its spur_module_v1() returned NULL");
    SPUR_TRY(const auto head, reader.grown(module, "its spur_module"));
    if (head.abi != SPUR_ABI_EPOCH)
        return reader.refuse("it was built for ABI epoch {} and {} speaks epoch {}; install its release for Spur 1.x",
                             head.abi, program, SPUR_ABI_EPOCH);
    info.path = file;
    info.epoch = head.abi;
    SPUR_TRY(info.built_with, reader.text(head.built_with, longest_name, "its `built_with`"));
    if (head.plugins == nullptr) return reader.refuse("its list of plugins is NULL");
    while (true) {
        const auto entry = copy_value(head.plugins + descriptors.size());
        if (!entry || descriptors.size() > most_plugins)
            return reader.refuse("its list of plugins does not end with NULL");
        if (*entry == nullptr) break;
        SPUR_TRY(const auto desc, reader.grown(*entry, fmt::format("descriptor {}", descriptors.size())));
        SPUR_TRY(auto described, reader.descriptor(desc));
        for (const auto& other : info.plugins)
            if (other.type == described.type) return reader.refuse("it holds {} twice", described.type);
        info.plugins.push_back(std::move(described));
        descriptors.push_back(desc);
    }
    if (descriptors.empty()) return reader.refuse("it holds no plugin");
    return {};
}

}  // namespace spur::host
