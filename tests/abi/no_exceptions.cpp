// All of plugin.hpp that is promised under -fno-exceptions, used once. Compiled into plugins that are then checked.
#include <spur/plugin/plugin.hpp>

using namespace spur::plugin;

std::size_t use_everything(const spur_host* host, const spur_config* config, const spur_stop* stop, spur_error* err);
std::size_t use_everything(const spur_host* host, const spur_config* config, const spur_stop* stop, spur_error* err) {
    const Log log(host);
    const Notify notify(host);
    const Metrics metrics(host);
    const Executor executor(host);
    executor.post([log] { log.info("done"); });
    executor.post_blocking([log](const Stop& each) { log.info(each.stopped() ? "stopped" : "done"); });
    metrics.add(metrics.counter("uses_total", "uses"));
    StringSink sink;
    guard(err, [&] { return push(sink.get(), host_fact(host, "state_dir")); });
    const bool heard = notify.changed(SPUR_CHANGED_PLAN, option(config, "key").text, sink.text);
    return heard || Stop(stop).stopped() ? 1 : sink.text.size();
}
