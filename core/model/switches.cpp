// Building the tree from configured switches; loops and unknown names are errors.
#include "core/model/switches.hpp"

#include <algorithm>
#include <map>

namespace spur {

namespace {

using Places = std::map<std::string_view, std::uint32_t>;

Result<Places> places_of(const std::vector<SwitchConfig>& written) {
    Places places;
    for (std::uint32_t i = 0; i < written.size(); ++i) {
        const auto& one = written[i];
        if (!places.emplace(one.name.view(), i).second)
            return fail(ErrorCode::invalid, "switch \"{}\" is described twice; remove one", one.name);
        if (one.nodes.empty() == one.switches.empty())
            return fail(ErrorCode::invalid, "switch \"{}\" needs nodes = \"n[1-4]\" or switches = \"s[1-2]\", {}",
                        one.name, one.nodes.empty() ? "and has none" : "and has both");
    }
    return places;
}

Result<void> link(const std::vector<SwitchConfig>& written, const Places& places, std::vector<Switch>& tree) {
    std::map<std::string_view, std::string_view> leaf_of_node;
    for (std::uint32_t i = 0; i < written.size(); ++i) {
        const auto& one = written[i];
        for (const auto& node : one.nodes)
            if (const auto [known, is_new] = leaf_of_node.emplace(node.view(), one.name.view()); !is_new)
                return fail(ErrorCode::invalid, "switch \"{}\": node \"{}\" hangs off switch \"{}\" already", one.name,
                            node, known->second);
        for (const auto& name : one.switches) {
            const auto below = places.find(name.view());
            if (below == places.end())
                return fail(ErrorCode::invalid, "switch \"{}\": switch \"{}\" is not described; add a [[switches]]",
                            one.name, name);
            auto& parent = tree[below->second].parent;
            if (parent != Switch::none)
                return fail(ErrorCode::invalid, "switch \"{}\": switch \"{}\" is below switch \"{}\" already", one.name,
                            name, written[parent].name);
            parent = i;
        }
    }
    return {};
}

}  // namespace

Result<SwitchTree> SwitchTree::resolve(const std::vector<SwitchConfig>& written) {
    SPUR_TRY(const auto places, places_of(written));
    SwitchTree tree;
    auto& all = tree.all_;
    for (const auto& one : written) all.push_back({.name = one.name, .nodes = {}, .switches = one.switches});
    SPUR_CHECK(link(written, places, all));
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        for (const auto& node : written[i].nodes) tree.leaves_.emplace(node.str(), i);
        std::uint32_t height = 0;
        for (auto up = i; up != Switch::none; up = all[up].parent, ++height) {
            if (height > all.size()) return fail(ErrorCode::invalid, "switch \"{}\" is below itself", all[i].name);
            if (written[i].nodes.empty()) continue;
            all[up].level = std::max(all[up].level, height);
            std::ranges::copy(written[i].nodes, std::back_inserter(all[up].nodes));
        }
    }
    return tree;
}

std::uint32_t SwitchTree::leaf_of(const std::string& node) const {
    const auto found = leaves_.find(node);
    return found == leaves_.end() ? Switch::none : found->second;
}

TopologyAddress SwitchTree::address_of(const std::string& node) const {
    TopologyAddress made{node, "node"};
    for (auto at = leaf_of(node); at != Switch::none; at = all_[at].parent) {
        made.address = all_[at].name.str() + "." + made.address;
        made.pattern = "switch." + made.pattern;
    }
    return made;
}

}  // namespace spur
