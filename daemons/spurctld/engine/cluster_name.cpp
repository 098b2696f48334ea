// The file beside the state that names its cluster.
#include "daemons/spurctld/engine/cluster_name.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/text/lexical.hpp"

namespace spur::ctld {

namespace {

std::string name_path(const std::string& dir) { return dir + "/cluster_name"; }

}  // namespace

Error name_mismatch(const std::string& dir, const std::string& kept, const std::string& name) {
    return {
        ErrorCode::conflict,
        fmt::format("the state in {} is that of cluster {}, and the configuration says cluster_name = {}; correct "
                    "cluster_name or state_dir, or start once with --rename-cluster to give the cluster its new name",
                    dir, spur::quoted(kept), spur::quoted(name))};
}

Result<void> check_cluster_name(const std::string& dir, const std::string& name, bool may_rename) {
    std::ifstream file{name_path(dir)};
    std::string kept;
    if (!std::getline(file, kept) || kept.empty() || kept == name || may_rename) return {};
    return std::unexpected(name_mismatch(dir, kept, name));
}

Result<void> keep_cluster_name(const std::string& dir, const std::string& name) {
    const auto path = name_path(dir), fresh = path + ".new";
    {
        std::ofstream file{fresh, std::ios::trunc};
        file << name << '\n';
        if (!file.flush()) return fail(ErrorCode::internal, "cannot write {}: {}", fresh, std::strerror(errno));
    }
    std::error_code error;
    std::filesystem::rename(fresh, path, error);
    if (error) return fail(ErrorCode::internal, "cannot write {}: {}", path, error.message());
    return {};
}

}  // namespace spur::ctld
