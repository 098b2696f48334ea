// spur plugin stats: what calls into the controller's plugins cost, as it counted them.
#include "cli/common/json.hpp"
#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/plugin/commands.hpp"

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

}  // namespace

Result<int> stats(const Options& options, Invocation& self) {
    auto session = Session::open(self.controller, &self.console);
    if (!session) {
        session.error().print_details(self.console);
        return fail(session.error().code, "{}", session.error().text);
    }
    const auto reply = session->call<v1::PluginStatsReply>("PluginStats", v1::PluginStatsRequest{});
    if (!reply) {
        reply.error().print_details(self.console);
        return fail(reply.error().code, "{}", reply.error().text);
    }
    print_out(options.json ? stats_json(*reply) : stats_text(*reply));
    return 0;
}

}  // namespace spur::cli::plugin
