// The question, and its pages.
#include "cli/sacct/ask.hpp"

#include "cli/common/accounting.hpp"
#include "cli/common/users.hpp"
#include "core/text/lexical.hpp"

#include <unistd.h>

namespace spur::cli::sacct {
namespace {

void add(const std::vector<std::string>& list, google::protobuf::RepeatedPtrField<std::string>* out) {
    for (const auto& item : list) *out->Add() = item;
}

template <class Find>
Result<std::uint32_t> number_of(const std::string& text, const char* what, const Find& find) {
    if (const auto number = find(text)) return *number;
    return fail(ErrorCode::not_found, "Invalid {} id: {}", what, text);
}

}  // namespace

Result<v1::ListHistoryRequest> request_for(const Options& options, const Window& window, const std::string& cluster) {
    v1::ListHistoryRequest request;
    if (options.clusters.size() > 1)
        add(options.clusters, request.mutable_clusters());
    else
        request.set_cluster(options.clusters.empty() ? cluster : options.clusters.front());
    if (options.all_clusters) {
        request.clear_cluster();
        request.clear_clusters();
    }
    add(options.jobs, request.mutable_ids());
    add(options.accounts, request.mutable_accounts());
    add(options.partitions, request.mutable_partitions());
    add(options.states, request.mutable_states());
    add(options.names, request.mutable_names());
    add(options.qos, request.mutable_qos());
    add(options.wckeys, request.mutable_wckeys());
    add(options.reservations, request.mutable_reservations());
    add(options.constraints, request.mutable_constraints());
    add(options.reasons, request.mutable_reasons());
    for (const auto& user : options.users) {
        SPUR_TRY(const auto uid, number_of(user, "user", find_user));
        request.add_uids(uid);
    }
    for (const auto& group : options.groups) {
        SPUR_TRY(const auto gid, number_of(group, "group", find_group));
        request.add_gids(gid);
    }
    for (const auto& id : options.associations)
        request.add_associations(static_cast<std::uint32_t>(find_unsigned(id).value_or(0)));
    const bool is_about_all = options.all_users || ::geteuid() == 0 || !options.jobs.empty() || !options.nodes.empty();
    if (options.users.empty() && !is_about_all) request.add_uids(::geteuid());
    const auto set_range = [](const Range& range, v1::ListHistoryRequest::Range* out) {
        out->set_least(range.least);
        out->set_most(range.most);
    };
    if (options.node_count) set_range(*options.node_count, request.mutable_nodes());
    if (options.cpu_count) set_range(*options.cpu_count, request.mutable_cpus());
    if (options.limit_min)
        set_range({*options.limit_min, options.limit_max.value_or(*options.limit_min)},
                  request.mutable_time_limit_min());
    if (options.whole_het) request.set_whole_het(*options.whole_het);
    request.set_node_list(options.nodes);
    request.set_start(window.start);
    request.set_end(window.end == 0 ? 0 : window.end + 1);
    request.set_with_steps(!options.allocations && options.show != Show::scripts && options.show != Show::environments);
    request.set_all_runs(options.duplicates);
    request.set_with_script(options.show == Show::scripts);
    request.set_with_environment(options.show == Show::environments);
    return request;
}

Answer<Runs> ask(Session& session, v1::ListHistoryRequest request) {
    auto channel = open_accounting(session);
    if (!channel) return std::unexpected(channel.error());
    Runs runs;
    do {
        auto reply = wire::call<v1::ListHistoryReply>(*channel, "/spur.v1.Accounting/ListHistory", request,
                                                      Session::read_options());
        if (!reply) return std::unexpected(to_failure(static_cast<const Error&>(reply.error())));
        for (auto& run : *reply->mutable_jobs()) runs.push_back(std::move(run));
        request.set_after(reply->next());
    } while (!request.after().empty());
    return runs;
}

Answer<std::string> find_cluster_name(Session& session) {
    if (!session.cluster().name.empty()) return session.cluster().name;
    const auto config = session.call<v1::GetConfigReply>("GetConfig", v1::GetConfigRequest{});
    if (!config) return std::unexpected(config.error());
    for (const auto& item : config->items())
        if (item.key() == "ClusterName") return item.value();
    return std::string{};
}

}  // namespace spur::cli::sacct
