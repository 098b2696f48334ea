// The methods of each scope.
#include "daemons/common/auth/scopes.hpp"

#include <algorithm>

namespace spur::auth {
namespace {

constexpr std::string_view reads[] = {
    "/spur.v1.Controller/Ping",           "/spur.v1.Controller/ListJobs",     "/spur.v1.Controller/ListNodes",
    "/spur.v1.Controller/ListPartitions", "/spur.v1.Controller/GetScript",    "/spur.v1.Controller/ListReservations",
    "/spur.v1.Controller/ListLicenses",   "/spur.v1.Controller/ListSwitches", "/spur.v1.Controller/GetConfig",
    "/spur.v1.Controller/PluginStats",    "/spur.v1.Controller/Diagnostics",  "/spur.v1.Controller/AwaitAllocation",
    "/spur.v1.Controller/Watch",          "/spur.v1.Controller/Explain",      "/spur.v1.Controller/ListAccounts",
    "/spur.v1.Controller/ListShares",     "/spur.v1.Agent/AgentStatus",       "/spur.v1.Controller/ListPriorities",
};
constexpr std::string_view jobs[] = {
    "/spur.v1.Controller/Submit",     "/spur.v1.Controller/SignalJobs", "/spur.v1.Controller/UpdateJobs",
    "/spur.v1.Controller/CreateStep", "/spur.v1.Controller/FinishStep", "/spur.v1.Controller/ReleaseAllocation",
    "/spur.v1.Agent/RunStep",
};

}  // namespace

std::string_view scope_of(std::string_view method) {
    if (std::ranges::find(reads, method) != std::end(reads)) return "read";
    if (std::ranges::find(jobs, method) != std::end(jobs)) return "jobs";
    return "admin";
}

Result<void> check_scopes(std::string_view method, const std::vector<std::string>& scopes) {
    const auto needed = scope_of(method);
    if (std::ranges::find(scopes, needed) != scopes.end()) return {};
    std::string has;
    for (const auto& scope : scopes) (has += has.empty() ? "" : " ") += scope;
    return fail(ErrorCode::denied, "the credential's scope is \"{}\", and {} needs \"{}\"", has, method, needed);
}

}  // namespace spur::auth
