// What several commands say about a node.
#include "cli/common/node_text.hpp"

#include "core/model/array_spec.hpp"
#include "core/text/hostlist.hpp"
#include "core/text/lexical.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace spur::cli {
namespace {

struct Named {
    std::string_view name;
    std::uint32_t bit;
};
constexpr Named flag_names[] = {
    {"CLOUD", node_flag::cloud},
    {"COMPLETING", node_flag::completing},
    {"DRAIN", node_flag::drain},
    {"INVALID_REG", node_flag::invalid_reg},
    {"FAIL", node_flag::fail},
    {"MAINTENANCE", node_flag::maint},
    {"POWER_DOWN", node_flag::power_down},
    {"POWER_UP", node_flag::power_up},
    {"POWERED_DOWN", node_flag::powered_down},
    {"REBOOT_REQUESTED", node_flag::reboot_requested},
    {"REBOOT_ISSUED", node_flag::reboot_issued},
    {"RESERVED", node_flag::reserved},
    {"NOT_RESPONDING", node_flag::no_respond},
    {"PLANNED", node_flag::planned},
    {"POWERING_UP", node_flag::powering_up},
    {"POWERING_DOWN", node_flag::powering_down},
};

std::uint32_t flag_named(std::string_view name) {
    for (const auto& entry : flag_names)
        if (entry.name == name) return entry.bit;
    return 0;
}

NodeState state_named(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(NodeState::future); ++i)
        if (to_string(static_cast<NodeState>(i)) == name) return static_cast<NodeState>(i);
    return NodeState::unknown;
}

}  // namespace

NodeStateBits node_state(const v1::Node& node) {
    NodeStateBits bits;
    bool first = true;
    for (auto part : split(node.state(), '+')) {
        if (part.ends_with('*')) {
            bits.flags |= node_flag::no_respond;
            part.remove_suffix(1);
        }
        if (first)
            bits.state = state_named(part);
        else
            bits.flags |= flag_named(part);
        first = false;
    }
    return bits;
}

std::string long_state(const v1::Node& node) {
    const auto bits = node_state(node);
    return lower(display_state(bits.state, bits.flags));
}
std::string compact_state(const v1::Node& node) {
    const auto bits = node_state(node);
    return lower(display_compact_state(bits.state, bits.flags));
}
std::string full_state(const v1::Node& node) { return lower(node.state()); }

std::string gres_text(const v1::Node& node) {
    std::string text;
    for (const auto& gres : node.gres())
        text += fmt::format("{}{}:{}{}{}", text.empty() ? "" : ",", gres.name(), gres.type(),
                            gres.type().empty() ? "" : ":", gres.count());
    return text;
}

std::string gres_used_text(const v1::Node& node) {
    std::string text;
    for (const auto& gres : node.gres()) {
        const auto index = TaskSet::of({gres.used_index().begin(), gres.used_index().end()}).str();
        text += fmt::format("{}{}:{}{}{}(IDX:{})", text.empty() ? "" : ",", gres.name(), gres.type(),
                            gres.type().empty() ? "" : ":", gres.used(), index.empty() ? "N/A" : index);
    }
    return text;
}

std::string unenforced_text(const v1::Node& node) { return display_unenforced(node.enforced()); }

std::string unenforced_note(const google::protobuf::RepeatedPtrField<v1::Node>& nodes) {
    std::map<std::string, std::vector<std::string>> lacking;
    for (const auto& node : nodes)
        if (auto text = unenforced_text(node); !text.empty()) lacking[std::move(text)].push_back(node.name());
    std::string note;
    for (const auto& [limits, names] : lacking)
        note += fmt::format("Not enforced on {}: {}. What jobs ask for is counted there, they are not held to it.\n",
                            compress_hosts(names), limits);
    return note;
}

std::string load_text(double load) { return fmt::format("{:.2f}", load); }

std::string joined(const google::protobuf::RepeatedPtrField<std::string>& items) {
    std::string text;
    for (const auto& item : items) text += (text.empty() ? "" : ",") + item;
    return text;
}

}  // namespace spur::cli
