// RpcServer: the listener and its I/O threads, put together.
#include "daemons/common/wire/server.hpp"

#include "daemons/common/wire/health.hpp"
#include "daemons/common/wire/io_thread.hpp"
#include "daemons/common/wire/reflection.hpp"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>

namespace spur::wire {

class RpcServer::Impl {
public:
    explicit Impl(ServerOptions options) : service_(std::move(options)) {}

    Result<void> start();
    void drain(std::chrono::milliseconds patience);

    Service service_;
    Health health_;
    std::uint16_t port_{0};

private:
    std::vector<std::unique_ptr<IoThread>> threads_;
    std::size_t next_{0};
};

Result<void> RpcServer::Impl::start() {
    std::shared_ptr<TlsContext> tls;
    if (service_.options.tls) {
        SPUR_TRY(tls, TlsContext::for_server(*service_.options.tls));
    }
    SPUR_TRY(auto listener, listen_on(service_.options.listen));
    SPUR_TRY(port_, local_port(listener.get()));
    const unsigned count = std::max(1u, service_.options.io_threads);
    for (unsigned i = 0; i < count; ++i) {
        SPUR_TRY(auto thread, IoThread::make(service_, tls));
        threads_.push_back(std::move(thread));
    }
    // The first thread accepts, and deals connections out in turn.
    SPUR_CHECK(threads_.front()->accept_on(std::move(listener),
                                           [this]() -> IoThread& { return *threads_[next_++ % threads_.size()]; }));
    for (auto& thread : threads_) thread->start();
    return {};
}

void RpcServer::Impl::drain(std::chrono::milliseconds patience) {
    health_.set_serving(false);
    const auto deadline = ServerClock::now() + patience;
    for (auto& thread : threads_) thread->drain(deadline);
    for (auto& thread : threads_) thread->join();
}

// A message that makes no sense is refused with a sentence; protobuf's own line about it would only let any caller fill
// the daemon's stderr.
RpcServer::RpcServer(ServerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
    google::protobuf::SetLogHandler(nullptr);
}
RpcServer::~RpcServer() { impl_->drain(std::chrono::milliseconds{0}); }

void RpcServer::unary(std::string_view method, UnaryHandler handler, Access access) {
    impl_->service_.methods[std::string{method}] = {std::move(handler), nullptr, access};
}

void RpcServer::stream(std::string_view method, StreamHandler handler, Access access) {
    impl_->service_.methods[std::string{method}] = {nullptr, std::move(handler), access};
}

Result<void> RpcServer::start() {
    impl_->health_.serve(*this, impl_->service_);
    serve_reflection(*this, impl_->service_);
    return impl_->start();
}
void RpcServer::set_serving(bool serving) { impl_->health_.set_serving(serving); }
std::uint16_t RpcServer::port() const { return impl_->port_; }
void RpcServer::drain(std::chrono::milliseconds patience) { impl_->drain(patience); }

RpcServer::Stats RpcServer::stats() const {
    const auto& service = impl_->service_;
    return {service.calls, service.failed_calls, service.refused_credentials, service.sessions, service.connections};
}

}  // namespace spur::wire
