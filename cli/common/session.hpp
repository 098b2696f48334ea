// A command's conversation with the controller.
#pragma once

#include "cli/common/cluster.hpp"
#include "cli/common/console.hpp"
#include "daemons/common/wire/client.hpp"
#include "daemons/common/wire/members.hpp"
#include "spur/v1/controller.pb.h"

#include <chrono>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spur::cli {

// Why a request failed, in the words Slurm's users and their scripts know, and what else there is to say.
struct Failure {
    std::string text;
    std::vector<std::string> details;  // lines that explain it, printed before it
    ErrorCode code{ErrorCode::internal};
    bool immediately{false};       // it could not be had at once, and the user did not want to wait
    std::uint16_t slurm_error{0};  // Slurm's number for it; 0: it has none

    void print_details(const Console& console) const;
};
template <class T>
using Answer = std::expected<T, Failure>;

Failure to_failure(const wire::RpcError& error, const Cluster& cluster);
Failure to_failure(const Error& error);

class Session {
public:
    // `console` is told when the controllers keep a call waiting, and when an answer may be out of date; it outlives
    // the session. None: nobody is.
    static Answer<Session> open(const std::string& controller = {}, const Console* console = nullptr);

    // call<v1::PingReply>("Ping", request), or "/spur.v1.Tokens/Issue" of another service. `idempotent`: asking twice is
    // harmless.
    template <class Reply, class Request>
    Answer<Reply> call(std::string_view method, const Request& request, wire::CallOptions options = read_options()) {
        const auto path = method.starts_with('/') ? std::string(method) : "/spur.v1.Controller/" + std::string(method);
        auto reply = wire::call<Reply>(*channel_, path, request, options);
        if (!reply) return std::unexpected(to_failure(reply.error(), cluster_));
        return std::move(*reply);
    }

    static wire::CallOptions read_options() {
        return {.timeout = std::chrono::seconds(30), .idempotent = true, .metadata = {}};
    }
    static wire::CallOptions write_options() {
        return {.timeout = std::chrono::seconds(60), .idempotent = false, .metadata = {}};
    }

    // -M, --clusters: the name of this cluster if it is what `names` (or "all") means. There is no other to go to.
    Answer<std::string> choose_cluster(std::string_view names);

    const Cluster& cluster() const { return cluster_; }
    wire::Channel& channel() { return *channel_; }
    // A channel to one server, with the same credentials: wire::controller_name, or the name of an agent's node.
    wire::Channel channel_to(const Endpoint& endpoint, std::string_view server) const;

private:
    Session(Cluster cluster, std::shared_ptr<wire::CredentialSource> credentials, const Console* console);
    wire::ChannelOptions channel_options(std::vector<Endpoint> endpoints, std::string_view server) const;

    Cluster cluster_;
    std::shared_ptr<wire::CredentialSource> credentials_;
    std::unique_ptr<wire::Channel> channel_;
};

}  // namespace spur::cli
