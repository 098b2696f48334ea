// What it costs to keep a plugin in a process of its own: the same call of the same plugin here and there, in one run.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "daemons/common/auth/plugin_auth.hpp"
#include "daemons/common/isolate/process.hpp"

namespace spur {
namespace {

host::Bound<host::AuthAxis> open(bool isolated) {
    host::HostOptions options;
    options.program = "isolate_bench";
    options.check_owner = false;
    options.isolate = isolate::isolator(SPUR_PLUGIN_CHILD);
    static std::vector<std::unique_ptr<host::PluginHost>> hosts;
    hosts.push_back(std::make_unique<host::PluginHost>(std::move(options)));
    hosts.back()->set_dirs({SPUR_TEST_LIB});
    auto bound = hosts.back()->open<host::AuthAxis>("auth/actor", {{"isolate", isolated, 0}});
    if (!bound) std::fprintf(stderr, "%s\n", bound.error().text.c_str()), std::exit(1);
    return *bound;
}

// Checking a credential, as a daemon does for each request.
void verify(benchmark::State& state) {
    const auto plugin = open(state.range(0) != 0);
    const wire::CredentialRequest asked{"/spur.v1.Controller/Submit", {}, "cluster/spurctld/1"};
    const auto credential = *auth::PluginCredentials{plugin}.make(asked);
    auth::PluginAuthenticator authenticator{plugin};
    for (auto _ : state)
        if (!authenticator.verify(asked, credential, {})) state.SkipWithError("refused");
}
BENCHMARK(verify)->ArgName("isolated")->Arg(0)->Arg(1)->UseRealTime()->ThreadRange(1, 4);

}  // namespace
}  // namespace spur

BENCHMARK_MAIN();
