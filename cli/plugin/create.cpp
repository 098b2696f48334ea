// spur plugin new: copies a template and fills in its names.
#include "cli/common/output.hpp"
#include "cli/plugin/commands.hpp"
#include "core/text/suggest.hpp"
#include "daemons/common/host/search.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

namespace spur::cli::plugin {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return fail(ErrorCode::unavailable, "cannot read {}", path.string());
    return std::string{std::istreambuf_iterator<char>(in), {}};
}

std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(" \n") + 1);
    return text;
}

// Every @KEY@ replaced by its value.
std::string filled(std::string text, const std::map<std::string, std::string>& values) {
    for (const auto& [key, value] : values)
        for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size()))
            text.replace(at, key.size(), value);
    return text;
}

std::vector<std::string> folders_in(const fs::path& dir) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(dir, error))
        if (entry.is_directory() && entry.path().filename() != "common") names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

// The template's own folder for `axis` in `language`.
Result<fs::path> find_template(const std::string& language, const std::string& axis) {
    const auto root = (program_dir() / "../share/spur/templates").lexically_normal();
    const auto languages = folders_in(root);
    if (languages.empty())
        return fail(ErrorCode::unavailable, "there are no templates in {}; install Spur with its share folder",
                    root.string());
    if (language.empty())
        return fail(ErrorCode::invalid, "in which language? --lang {}", fmt::join(languages, ", --lang "));
    if (std::ranges::find(languages, language) == languages.end())
        return fail(ErrorCode::invalid, "there is no template in \"{}\", only in {}{}", language,
                    fmt::join(languages, ", "), suggestion(language, languages));
    const auto known = folders_in(root / language);
    if (std::ranges::find(known, axis) == known.end())
        return fail(ErrorCode::invalid, "there is no template for axis \"{}\" in {}, only for {}{}", axis, language,
                    fmt::join(known, ", "), suggestion(axis, known));
    return root / language / axis;
}

Result<void> copy_filled(const fs::path& from, const fs::path& to, const std::map<std::string, std::string>& values) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(from, error)) {
        if (entry.path().filename() == "ABOUT.md") continue;
        SPUR_TRY(auto text, read_file(entry.path()));
        const auto path = to / entry.path().filename();
        std::ofstream out(path, std::ios::binary);
        out << filled(std::move(text), values);
        if (!out.flush()) return fail(ErrorCode::unavailable, "cannot write {}", path.string());
        fs::permissions(path, entry.status().permissions() | fs::perms::owner_write, error);
    }
    if (error) return fail(ErrorCode::unavailable, "cannot read {}: {}", from.string(), error.message());
    return {};
}

}  // namespace

Result<int> create(const Options& options, Invocation&) {
    const auto& type = options.words[0];
    const fs::path dir = options.words[1];
    if (!host::is_plugin_type(type))
        return fail(ErrorCode::invalid, "\"{}\" is not AXIS/NAME, both in lower case: sched/mine", type);
    const auto slash = type.find('/');
    SPUR_TRY(const auto source, find_template(options.language, type.substr(0, slash)));
    std::error_code error;
    if (fs::exists(dir, error) && !fs::is_empty(dir, error))
        return fail(ErrorCode::conflict, "{} exists and is not empty; name a new directory", dir.string());
    if (fs::create_directories(dir, error); error)
        return fail(ErrorCode::unavailable, "cannot make {}: {}", dir.string(), error.message());

    SPUR_TRY(auto about, read_file(source / "ABOUT.md"));
    const std::map<std::string, std::string> values = {
        {"@TYPE@", type},
        {"@AXIS@", type.substr(0, slash)},
        {"@NAME@", type.substr(slash + 1)},
        {"@FILE@", type.substr(0, slash) + "_" + type.substr(slash + 1)},
        {"@PREFIX@", program_dir().parent_path().string()},
        {"@ABOUT@", trimmed(std::move(about))},
    };
    SPUR_CHECK(copy_filled(source.parent_path() / "common", dir, values));
    SPUR_CHECK(copy_filled(source, dir, values));
    print_out(fmt::format("{} is in {}; its README.md says how to build and check it\n", type, dir.string()));
    return 0;
}

}  // namespace spur::cli::plugin
