// gRPC's server reflection, v1 and v1alpha: clients without our .proto files learn what a daemon speaks. The schema is
// public, so nobody is asked for a credential.
#pragma once

namespace spur::wire {

class RpcServer;
class Service;

// `service` says what is served; it outlives the server's threads.
void serve_reflection(RpcServer& server, const Service& service);

}  // namespace spur::wire
