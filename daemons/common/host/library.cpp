// dlopen by way of Boost.DLL, and the entry symbol. The only file that includes Boost.DLL.
#define BOOST_DLL_USE_STD_FS
#include "daemons/common/host/library.hpp"

#include <dlfcn.h>

#include <boost/dll/shared_library.hpp>
#include <map>
#include <memory>
#include <mutex>

#include "core/text/lexical.hpp"
#include "daemons/common/host/code_map.hpp"
#include "daemons/common/host/file_check.hpp"
#include "daemons/common/host/frame.hpp"
#include "daemons/common/host/memory.hpp"
#include "daemons/common/host/module.hpp"

namespace spur::host {
namespace {

namespace fs = std::filesystem;

struct Opened {
    Library library;
    std::string name;                   // for frames until it has told its own
    boost::dll::shared_library handle;  // never let go
};

// Never destroyed: static destructors of this program must not unmap plugins whose threads may still run.
struct Registry {
    std::mutex mutex;
    std::map<fs::path, std::unique_ptr<Opened>> opened;
};
Registry& registry() {
    static auto* const one = new Registry;
    return *one;
}

std::string name_by_file(const fs::path& file) {
    auto name = file.stem().native();
    if (const auto at = name.find('_'); at != std::string::npos) name[at] = '/';
    return name;
}

Result<void> open_object(Opened& opened, const fs::path& file) {
    const Frame frame{opened.name.c_str(), "load", Role::main};
    std::error_code error;
    try {
        opened.handle.load(file, error, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
    } catch (const std::exception& thrown) {
        return fail(ErrorCode::invalid, "plugin file {} refused: it threw while it was loaded: {}", file.native(),
                    thrown.what());
    } catch (...) {
        return fail(ErrorCode::invalid, "plugin file {} refused: it threw while it was loaded", file.native());
    }
    if (!error) return {};
    const char* const reason = ::dlerror();
    std::string text = reason == nullptr ? error.message() : reason;
    if (const auto prefix = file.native() + ": "; text.starts_with(prefix)) text.erase(0, prefix.size());
    const bool is_symbol = text.find("undefined symbol") != std::string::npos;
    return fail(ErrorCode::invalid, "plugin file {} refused: the dynamic linker says: {}; {}", file.native(), text,
                is_symbol ? "link it against all it needs, nothing comes from the daemon" : "install what it needs");
}

Result<spur_module_v1_fn> find_entry(const Opened& opened, const fs::path& file, const std::string& program) {
    if (opened.handle.has("spur_module_v1")) {
        const auto entry = reinterpret_cast<spur_module_v1_fn>(::dlsym(opened.handle.native(), "spur_module_v1"));
        if (is_code(reinterpret_cast<const void*>(entry))) return entry;
        return fail(ErrorCode::invalid, "plugin file {} refused: its spur_module_v1 is not a function", file.native());
    }
    constexpr int last_epoch_looked_for = 32;
    for (int epoch = 0; epoch <= last_epoch_looked_for; ++epoch)
        if (opened.handle.has(fmt::format("spur_module_v{}", epoch)))
            return fail(ErrorCode::invalid,
                        "plugin file {} refused: it exports spur_module_v{} and {} speaks spur_module_v1; install its "
                        "release for "
                        "Spur 1.x",
                        file.native(), epoch, program);
    return fail(ErrorCode::invalid,
                "plugin file {} refused: it does not export spur_module_v1() as {} needs, so it is no Spur plugin or "
                "its symbol is "
                "hidden; build it with spur_add_plugin() or mark the function SPUR_EXPORT",
                file.native(), program);
}

Result<const spur_module*> ask_entry(const Opened& opened, spur_module_v1_fn entry, const fs::path& file) {
    const Frame frame{opened.name.c_str(), "spur_module_v1", Role::main};
    try {
        return entry();
    } catch (...) {
        return fail(ErrorCode::invalid, "plugin file {} refused: its spur_module_v1() threw an exception",
                    file.native());
    }
}

// A file may hold several plugins, but it is found by its name: one of them must go by it.
Result<void> check_name(const ModuleInfo& module, const fs::path& asked) {
    const auto stem = asked.stem().native();
    for (const auto& plugin : module.plugins) {
        auto name = plugin.type;
        name[name.find('/')] = '_';
        if (name == stem) return {};
    }
    auto expected = module.plugins.front().type;
    expected[expected.find('/')] = '_';
    return fail(ErrorCode::invalid,
                "plugin file {} refused: it holds {}, which belongs in {}.so; rename the file or its type",
                asked.native(), module.plugins.front().type, expected);
}

}  // namespace

const spur_plugin_desc* Library::find(std::string_view type) const {
    for (std::size_t i = 0; i < descriptors.size(); ++i)
        if (info.plugins[i].type == type) return &descriptors[i];
    return nullptr;
}

Result<const Library*> load_library(const fs::path& asked, const LoadOptions& options) {
    auto file = asked;
    if (options.check_owner) {
        SPUR_TRY(file, check_owner(asked, options.user));
    } else {
        std::error_code error;
        file = fs::canonical(asked, error);
        if (error)
            return fail(ErrorCode::not_found, "plugin file {} cannot be opened: {}", asked.native(), error.message());
    }
    auto& all = registry();
    const std::lock_guard lock{all.mutex};
    if (const auto known = all.opened.find(file); known != all.opened.end()) {
        SPUR_CHECK(check_name(known->second->library.info, asked));
        return &known->second->library;
    }
    SPUR_TRY(const auto elf, check_elf(file));
    if (options.check_owner) SPUR_CHECK(check_runpath(file, elf.runpath, options.user));

    auto* const opened = new Opened;  // leaked on refusal too: its code has run, and may have left threads behind
    opened->name = name_by_file(asked);
    opened->library.name = asked;
    opened->library.stamp = elf.stamp;
    SPUR_CHECK(open_object(*opened, file));
    if (stamp_of(file.c_str()) != elf.stamp)
        return fail(ErrorCode::conflict, "plugin file {} refused: it was replaced while it was being loaded; try again",
                    file.native());
    SPUR_TRY(const auto entry, find_entry(*opened, file, options.program));
    SPUR_TRY(const auto* const module, ask_entry(*opened, entry, file));
    SPUR_CHECK(read_module(module, file.native(), options.program, opened->library.info, opened->library.descriptors));
    SPUR_CHECK(check_name(opened->library.info, asked));
    map_code(opened->handle.native(), opened->library.info.plugins.front().type.c_str(), opened->library.name.c_str(),
             opened->library.stamp);
    all.opened.emplace(file, opened);
    return &opened->library;
}

std::string find_change(const Library& library, const std::string& program) {
    const auto now = stamp_of(library.name.c_str());
    if (now == library.stamp) return {};
    if (now.is_same_file(library.stamp))
        return fmt::format(
            "was written over while it is in use, which may crash {} at any moment; restart it, and install plugins by "
            "renaming a new file into place (mv, install), never by copying over the old one",
            program);
    return fmt::format("changed on disk since it was loaded; restart {} to load it", program);
}

}  // namespace spur::host
