// Health checks.
#include "daemons/common/wire/health.hpp"

#include "daemons/common/wire/server_state.hpp"
#include "grpc/health/v1/health.pb.h"

namespace spur::wire {
namespace {

namespace v1 = grpc::health::v1;

v1::HealthCheckResponse response(v1::HealthCheckResponse::ServingStatus status) {
    v1::HealthCheckResponse message;
    message.set_status(status);
    return message;
}

v1::HealthCheckResponse response(bool serving) {
    return response(serving ? v1::HealthCheckResponse::SERVING : v1::HealthCheckResponse::NOT_SERVING);
}

bool knows(const Service& service, const std::string& name) {
    return name.empty() || service.service_names().contains(name);
}

}  // namespace

void Health::serve(RpcServer& server, const Service& service) {
    server.unary(
        "/grpc.health.v1.Health/Check",
        [this, &service](const Call& call) {
            const auto request = call.parse<v1::HealthCheckRequest>();
            if (!request) return call.fail(request.error());
            if (!knows(service, request->service()))
                return call.fail({ErrorCode::not_found,
                                  fmt::format("service \"{}\" is not served here; reflection lists those that are",
                                              request->service())});
            const std::lock_guard lock{mutex_};
            call.reply_with(response(serving_));
        },
        Access::anyone);
    server.stream(
        "/grpc.health.v1.Health/Watch",
        [this, &service](const Session& session) {
            session.on_message([this, &service, session, asked = false](const std::string& request) mutable {
                if (std::exchange(asked, true))
                    return session.close(Error{ErrorCode::invalid, "Watch takes one request, more were sent"});
                watch(session, service, request);
            });
        },
        Access::anyone);
}

void Health::watch(const Session& session, const Service& service, std::string_view request) {
    v1::HealthCheckRequest wanted;
    if (!wanted.ParseFromArray(request.data(), static_cast<int>(request.size())))
        return session.close(Error{ErrorCode::invalid, "the request is not a well-formed HealthCheckRequest"});
    if (!knows(service, wanted.service())) {  // stays open: the client may wait for a newer daemon
        session.send_message(response(v1::HealthCheckResponse::SERVICE_UNKNOWN));
        return;
    }
    const std::lock_guard lock{mutex_};
    const auto id = next_watcher_++;
    session.send_message(response(serving_));
    watchers_.emplace(id, session);
    session.on_closed([this, id](const std::optional<Error>&) {
        const std::lock_guard closing{mutex_};
        watchers_.erase(id);
    });
}

void Health::set_serving(bool serving) {
    const std::lock_guard lock{mutex_};
    if (std::exchange(serving_, serving) == serving) return;
    for (const auto& [id, session] : watchers_) session.send_message(response(serving));
}

}  // namespace spur::wire
