// grpc.health.v1: stock probes learn whether the daemon serves. They have no credential, and learn nothing else.
#pragma once

#include "daemons/common/wire/server.hpp"

#include <cstdint>
#include <map>
#include <mutex>

namespace spur::wire {

class Service;

class Health {
public:
    // `service` says which names may be asked for; it outlives the server's threads.
    void serve(RpcServer& server, const Service& service);
    void set_serving(bool serving);  // [any thread]

private:
    void watch(const Session& session, const Service& service, std::string_view request);

    std::mutex mutex_;
    bool serving_{true};
    std::uint64_t next_watcher_{0};
    std::map<std::uint64_t, Session> watchers_;
};

}  // namespace spur::wire
