// What spurd serves on its own port: srun starts steps and streams their stdio, anybody may ask how it is.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "daemons/common/wire/server.hpp"
#include "daemons/spurd/credential.hpp"
#include "daemons/spurd/loop.hpp"
#include "daemons/common/log/throttle.hpp"
#include "daemons/spurd/node_jobs.hpp"

namespace spur::agent {

class StepService {
public:
    struct Facts {
        std::string node;
        std::function<v1::StepKeys()> keys;   // [loop] whose signatures to trust
        std::function<std::string()> status;  // [loop]
    };
    StepService(Loop& loop, NodeJobs& jobs, Facts facts);
    void serve(wire::RpcServer& server);  // registers the handlers

private:
    class Client;
    void open(wire::Session session);
    void measure(const wire::Call& call);
    // Both wait until `until` for the controller to say whose signature to trust.
    void launch(const std::shared_ptr<Client>& client, const v1::StepLaunch& launch,
                std::chrono::steady_clock::time_point until);
    void attach(const std::shared_ptr<Client>& client, const v1::StepAttach& attach,
                std::chrono::steady_clock::time_point until);
    void when_verified(const std::shared_ptr<Client>& client, const std::string& credential,
                       std::optional<std::int64_t> now, std::chrono::steady_clock::time_point until,
                       std::function<void(VerifiedCredential)> then);

    Loop& loop_;
    NodeJobs& jobs_;
    Facts facts_;
    std::shared_ptr<log::Throttle> refusals_;
};

}  // namespace spur::agent
