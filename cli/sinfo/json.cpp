// sinfo --json.
#include "cli/sinfo/json.hpp"

#include "cli/common/json_meta.hpp"
#include "cli/common/json_record.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/records/node.hpp"

namespace spur::cli::sinfo {
namespace {

using records::NodeField;
using records::NodeFieldId;
using records::NodeView;

void state_flags(JsonWriter& json, const NodeView& node) {
    const auto words = split(node->state(), '+');
    json_texts(json, "state_flags", {words.begin() + 1, words.end()});
}
void next_state_flags(JsonWriter& json, const NodeView&) { json_texts(json, "next_state_after_reboot_flags", {}); }
void partitions(JsonWriter& json, const NodeView& node) {
    json_texts(json, "partitions", {node->partitions().begin(), node->partitions().end()});
}
void tres_weighted(JsonWriter& json, const NodeView& node) {
    json.member("tres_weighted", static_cast<double>(node->alloc_cpus()));
}

constexpr Nested<NodeField> nested[] = {
    {NodeFieldId::state_flags, state_flags},
    {NodeFieldId::next_state_flags, next_state_flags},
    {NodeFieldId::partitions, partitions},
    {NodeFieldId::tres_weighted, tres_weighted},
};

}  // namespace

std::string nodes_json(const v1::ListNodesReply& reply) {
    const records::Context context;
    JsonWriter json;
    json_head(json);
    json.key("nodes");
    json.begin_array();
    for (const auto& node : reply.nodes()) json_record(json, records::node_fields(), {node, context}, nested);
    json.end_array();
    json.end_object();
    return json.take();
}

}  // namespace spur::cli::sinfo
