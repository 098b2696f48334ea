// spur plugin stats and metrics: what calls into the controller's plugins cost, and what they count themselves.
#include "cli/common/json.hpp"
#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/plugin/commands.hpp"
#include "spur/v1/metrics.pb.h"

namespace spur::cli::plugin {
namespace {

// 1234 -> "1.23us": three figures, the unit that fits.
std::string duration_text(double ns) {
    const std::pair<double, const char*> units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (const auto& [size, name] : units)
        if (ns >= size) return fmt::format("{:.3g}{}", ns / size, name);
    return fmt::format("{:.3g}ns", ns);
}

double mean_ns(const v1::OpStats& op) {
    return op.calls() == 0 ? 0.0 : static_cast<double>(op.total_ns()) / static_cast<double>(op.calls());
}

// Calls that have not returned: "1 for 12.3s".
std::string running_text(const v1::OpStats& op) {
    if (op.running() == 0) return "-";
    return fmt::format("{} for {}", op.running(), duration_text(static_cast<double>(op.running_ns())));
}

std::string stats_text(const v1::PluginStatsReply& reply) {
    std::vector<std::vector<std::string>> rows{
        {"PLUGIN", "STATE", "OP", "CALLS", "TOTAL", "MEAN", "MAX", "FAILED", "OVERRUNS", "RUNNING"}};
    std::string details;
    for (const auto& plugin : reply.plugins()) {
        const auto name = fmt::format("{} {}", plugin.type(), plugin.version());
        if (!plugin.detail().empty()) details += fmt::format("{}: {}\n", name, plugin.detail());
        if (plugin.ops().empty()) rows.push_back({name, plugin.state(), "-", "0", "-", "-", "-", "0", "0", "-"});
        for (const auto& op : plugin.ops())
            rows.push_back({name, plugin.state(), op.op(), std::to_string(op.calls()),
                            duration_text(static_cast<double>(op.total_ns())), duration_text(mean_ns(op)),
                            duration_text(static_cast<double>(op.max_ns())), std::to_string(op.failures()),
                            std::to_string(op.overruns()), running_text(op)});
    }
    return fmt::format("{}\n", reply.daemon()) + in_columns(rows) + details;
}

std::string stats_json(const v1::PluginStatsReply& reply) {
    JsonWriter out;
    out.begin_object();
    out.member("daemon", reply.daemon());
    out.key("plugins");
    out.begin_array();
    for (const auto& plugin : reply.plugins()) {
        out.begin_object();
        out.member("type", plugin.type());
        out.member("version", plugin.version());
        out.member("vendor", plugin.vendor());
        out.member("file", plugin.path());
        out.member("state", plugin.state());
        out.member("detail", plugin.detail());
        out.key("ops");
        out.begin_array();
        for (const auto& op : plugin.ops()) {
            out.begin_object();
            out.member("op", op.op());
            out.member("calls", op.calls());
            out.member("total_ns", op.total_ns());
            out.member("max_ns", op.max_ns());
            out.member("failures", op.failures());
            out.member("overruns", op.overruns());
            out.member("running", op.running());
            out.member("running_ns", op.running_ns());
            out.end_object();
        }
        out.end_array();
        out.end_object();
    }
    out.end_array();
    out.end_object();
    return out.take();
}

std::unexpected<Error> failed(const Invocation& self, const Failure& failure) {
    failure.print_details(self.console);
    return fail(failure.code, "{}", failure.text);
}

Result<Session> connect(Invocation& self) {
    auto session = Session::open(self.controller, &self.console);
    if (!session) return failed(self, session.error());
    return *std::move(session);
}

Result<Endpoint> address_of(const Invocation& self, Session& session, const std::string& name) {
    const auto reply = session.call<v1::ListNodesReply>("ListNodes", v1::ListNodesRequest{});
    if (!reply) return failed(self, reply.error());
    for (const auto& node : reply->nodes())
        if (node.name() == name) return Endpoint::parse(fmt::format("{}:{}", node.addr(), node.port()));
    return fail(ErrorCode::not_found, "there is no node {}", name);
}

}  // namespace

Result<int> stats(const Options& options, Invocation& self) {
    SPUR_TRY(auto session, connect(self));
    const auto reply = session.call<v1::PluginStatsReply>("PluginStats", v1::PluginStatsRequest{});
    if (!reply) return failed(self, reply.error());
    print_out(options.json ? stats_json(*reply) : stats_text(*reply));
    return 0;
}

Result<int> metrics(const Options& options, Invocation& self) {
    SPUR_TRY(auto session, connect(self));
    const auto read = [&](wire::Channel& channel) -> Result<int> {
        const auto reply = wire::call<v1::MetricsReply>(channel, "/spur.v1.Metrics/Read", v1::MetricsRequest{},
                                                        Session::read_options());
        if (!reply) return failed(self, to_failure(reply.error(), session.cluster()));
        print_out(reply->text());
        return 0;
    };
    if (options.words.empty()) return read(session.channel());
    SPUR_TRY(const auto address, address_of(self, session, options.words.front()));
    auto channel = session.channel_to(address, options.words.front());
    return read(channel);
}

}  // namespace spur::cli::plugin
