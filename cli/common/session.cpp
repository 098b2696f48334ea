// A command's conversation with the controller.
#include "cli/common/session.hpp"

#include "cli/common/credentials.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

namespace spur::cli {
namespace {

std::string endpoint_list(const Cluster& cluster) {
    std::string text;
    for (const auto& endpoint : cluster.controllers) text += (text.empty() ? "" : ", ") + endpoint.text();
    return text;
}

Failure failure_of(const Refusal& why, std::string detail) {
    return {std::string{why.sentence}, {std::move(detail)}, why.code, false, why.number};
}

}  // namespace

void Failure::print_details(const Console& console) const {
    for (const auto& line : details) console.error("{}", line);
}

// The controller's sentence may have several lines: what it is about first, Slurm's name for it last.
Failure to_failure(const Error& error) {
    Failure failure;
    failure.code = error.code;
    failure.slurm_error = error.slurm_error;
    for (const auto line : split(error.text, '\n'))
        if (!line.empty()) failure.details.emplace_back(line);
    if (!failure.details.empty()) {
        failure.text = std::move(failure.details.back());
        failure.details.pop_back();
    }
    return failure;
}

Failure to_failure(const wire::RpcError& error, const Cluster& cluster) {
    switch (error.status) {
        case wire::Status::unavailable:
            return failure_of(refusal::no_contact, fmt::format("{} (controller {}, from {})", error.text,
                                                               endpoint_list(cluster), cluster.source));
        case wire::Status::deadline_exceeded:
            return failure_of(refusal::timed_out, error.text);
        case wire::Status::unauthenticated:
            return failure_of(refusal::not_authentic, error.text);
        default:
            return to_failure(static_cast<const Error&>(error));
    }
}

Session::Session(Cluster cluster, std::shared_ptr<wire::CredentialSource> credentials, const Console* console)
    : cluster_(std::move(cluster)), credentials_(std::move(credentials)) {
    auto options = channel_options(cluster_.controllers, wire::controller_name);
    if (console != nullptr) options.tell = [console](std::string_view text) { console->info("{}", text); };
    channel_ = std::make_unique<wire::Channel>(std::move(options));
}

Answer<Session> Session::open(const std::string& controller, const Console* console) {
    auto cluster = find_cluster(controller);
    if (!cluster) return std::unexpected(to_failure(cluster.error()));
    if (cluster->controllers.empty())  // in the words that programs written for Slurm look for
        return std::unexpected(to_failure(refusal::no_contact.with(
            ": no cluster is known here; start one with `spur up`, or name one with SPUR_CONF or "
            "SPUR_CONTROLLER_ADDR")));
    auto credentials = open_credentials(*cluster);
    if (!credentials) return std::unexpected(to_failure(credentials.error()));
    return Session(std::move(*cluster), std::move(*credentials), console);
}

Answer<std::string> Session::choose_cluster(std::string_view names) {
    const auto reply = call<v1::PingReply>("Ping", v1::PingRequest{});
    if (!reply) return std::unexpected(reply.error());
    for (const auto name : split(names, ','))
        if (name != "all" && name != reply->cluster())
            return std::unexpected(
                Failure{fmt::format("'{}' can't be reached now, or it is an invalid entry for --cluster.  "
                                    "Use 'sacctmgr list clusters' to see available clusters.",
                                    name),
                        {},
                        ErrorCode::not_found});
    return reply->cluster();
}

wire::ChannelOptions Session::channel_options(std::vector<Endpoint> endpoints, std::string_view server) const {
    wire::ChannelOptions options;
    options.endpoints = std::move(endpoints);
    options.tls = cluster_.tls;
    options.credentials = credentials_;
    options.cluster = cluster_.name;
    options.server = server;
    return options;
}

wire::Channel Session::channel_to(const Endpoint& endpoint, std::string_view server) const {
    return wire::Channel(channel_options({endpoint}, server));
}

}  // namespace spur::cli
