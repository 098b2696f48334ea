// The search path and the files on it.
#include "daemons/common/host/search.hpp"

#include <algorithm>

#include "core/text/lexical.hpp"

namespace spur::host {
namespace {

namespace fs = std::filesystem;

bool is_word(std::string_view text) {
    if (text.empty() || text.size() > 32 || !(text[0] >= 'a' && text[0] <= 'z')) return false;
    return std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_'; });
}

}  // namespace

std::vector<fs::path> plugin_search_path(const std::vector<std::string>& configured) {
    std::vector<fs::path> candidates(configured.begin(), configured.end());
    std::error_code error;
    if (const auto self = fs::read_symlink("/proc/self/exe", error); !error)
        candidates.push_back((self.parent_path() / "../lib/spur").lexically_normal());
#ifdef SPUR_PLUGIN_DIR
    candidates.emplace_back(SPUR_PLUGIN_DIR);
#endif
    std::vector<fs::path> path, seen;
    for (auto& candidate : candidates) {
        auto real = fs::weakly_canonical(candidate, error);
        if (error) real = candidate;
        if (std::ranges::find(seen, real) != seen.end()) continue;
        seen.push_back(std::move(real));
        path.push_back(std::move(candidate));
    }
    return path;
}

bool is_plugin_type(std::string_view type) {
    const auto slash = type.find('/');
    return slash != std::string_view::npos && is_word(type.substr(0, slash)) && is_word(type.substr(slash + 1));
}

std::string plugin_file_name(std::string_view type) {
    std::string name{type};
    std::ranges::replace(name, '/', '_');
    return name + ".so";
}

Result<PluginFile> find_plugin(std::string_view type, const std::vector<fs::path>& dirs) {
    const auto name = plugin_file_name(type);
    PluginFile found;
    std::string where;
    for (const auto& dir : dirs) {
        std::error_code error;
        const auto file = dir / name;
        // A dangling link counts: the administrator meant it to be there, and the refusal will say what is wrong.
        const auto status = fs::symlink_status(file, error);
        where += (where.empty() ? "" : ", ") + dir.native();
        if (error == std::errc::permission_denied) where += " (which this user may not look into)";
        if (status.type() == fs::file_type::not_found || error) continue;
        if (found.path.empty())
            found.path = file;
        else
            found.shadowed.push_back(file);
    }
    if (!found.path.empty()) return found;
    return fail(ErrorCode::not_found,
                "plugin {} was not found: no {} in {}; install it, or add its directory to [plugins] dirs", type, name,
                where.empty() ? "an empty search path" : where);
}

}  // namespace spur::host
