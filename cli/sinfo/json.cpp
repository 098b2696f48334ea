// sinfo --json.
#include "cli/sinfo/json.hpp"

#include "cli/common/json_meta.hpp"
#include "cli/common/node_text.hpp"
#include "core/text/lexical.hpp"

namespace spur::cli::sinfo {
namespace {

void write_list(JsonWriter& json, const char* name, const google::protobuf::RepeatedPtrField<std::string>& items) {
    json.key(name);
    json.begin_array();
    for (const auto& item : items) json.value(std::string_view(item));
    json.end_array();
}

void write_state(JsonWriter& json, const v1::Node& node) {
    const auto bits = node_state(node);
    json.member("state", lower(to_string(bits.state)));
    json.key("state_flags");
    json.begin_array();
    const auto parts = split(node.state(), '+');
    for (std::size_t i = 1; i < parts.size(); ++i) json.value(parts[i]);
    json.end_array();
    json.key("next_state_after_reboot_flags");
    json.begin_array();
    json.end_array();
}

void write_node(JsonWriter& json, const v1::Node& node) {
    json.begin_object();
    json.member("architecture", node.architecture());
    json.member("burstbuffer_network_address", "");
    json.member("boards", node.boards());
    json.member("boot_time", node.boot_time());
    json.member("comment", node.comment());
    json.member("cores", node.cores_per_socket());
    json.member("cpu_binding", 0);
    json.member("cpu_load", static_cast<std::int64_t>(node.load() * 100));
    json.member("extra", node.extra());
    json.member("free_memory", node.free_memory_mib());
    json.member("cpus", node.cpus());
    json.member("last_busy", node.last_busy());
    json.member("features", joined(node.features()));
    json.member("active_features", joined(node.active_features()));
    json.member("gres", gres_text(node));
    json.member("gres_drained", "N/A");
    json.member("gres_used", gres_used_text(node));
    json.member("mcs_label", "");
    json.member("name", node.name());
    json.member("next_state_after_reboot", "invalid");
    json.member("address", node.addr());
    json.member("hostname", node.hostname());
    write_state(json, node);
    json.member("operating_system", node.os());
    json.member_null("owner");
    write_list(json, "partitions", node.partitions());
    json.member("port", node.port());
    json.member("real_memory", node.memory_mib());
    json.member("reason", node.reason());
    json.member("reason_changed_at", node.reason_time());
    if (node.reason().empty())
        json.member_null("reason_set_by_user");
    else
        json.member("reason_set_by_user", node.reason_user());
    json.member("slurmd_start_time", node.start_time());
    json.member("sockets", node.sockets());
    json.member("threads", node.threads_per_core());
    json.member("temporary_disk", node.tmp_mib());
    json.member("weight", node.weight());
    json.member("tres", node.tres_configured());
    json.member("slurmd_version", node.version());
    json.member("alloc_memory", node.alloc_memory_mib());
    json.member("alloc_cpus", node.alloc_cpus());
    json.member("idle_cpus", node.cpus() - std::min(node.cpus(), node.alloc_cpus()));
    if (node.tres_allocated().empty())
        json.member_null("tres_used");
    else
        json.member("tres_used", node.tres_allocated());
    json.key("tres_weighted");
    json.value(static_cast<double>(node.alloc_cpus()));
    json.end_object();
}

}  // namespace

std::string nodes_json(const v1::ListNodesReply& reply) {
    JsonWriter json;
    json_head(json);
    json.key("nodes");
    json.begin_array();
    for (const auto& node : reply.nodes()) write_node(json, node);
    json.end_array();
    json.end_object();
    return json.take();
}

}  // namespace spur::cli::sinfo
