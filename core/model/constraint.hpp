// Feature constraints, -C: a&b, a|b, a*4, (a|b)&c, [rack1|rack2], [rack1*2&rack2*4].
//
// Three questions can be asked of one. `matches`: may this node be used at all? `alternatives`: if the nodes must all
// agree ([rack1|rack2]), on which of these? `counts`: how many nodes must have what (graphics*4, [rack1*2&rack2*4])?
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace spur {

class Constraint {
public:
    enum class Kind : std::uint8_t {
        feature,  // a, a*4
        all,      // x&y
        any,      // x|y
        same,     // [x|y]: every node satisfies the same alternative
        mixed,    // [x*2&y*4]: so many nodes of each
    };

    struct Node {
        Kind kind{Kind::feature};
        std::string feature;      // kind feature
        std::uint32_t count{};    // x*4; 0: no count
        std::vector<Node> parts;  // the other kinds
        bool operator==(const Node&) const = default;
    };

    struct Count {
        Node what;
        std::uint32_t nodes{};
        bool operator==(const Count&) const = default;
    };

    Constraint() = default;  // empty: every node will do

    // '&' binds tighter than '|'; ',' is '&'. Whether the features exist is for the caller to check, see features().
    static Result<Constraint> parse(std::string_view text);

    bool empty() const { return !root_; }
    const Node* root() const { return root_.get(); }

    // `has(name)` says whether the node has the feature. A count (graphics*4) asks something of a few nodes and nothing
    // of the others; a bracket wants every node to serve one of its parts.
    using HasFeature = std::function<bool(std::string_view)>;
    bool matches(const HasFeature& has) const { return !root_ || matches(*root_, has); }
    static bool matches(const Node& node, const HasFeature& has);

    std::vector<Node> alternatives() const;     // of [x|y]; empty: no such demand
    std::vector<Count> counts() const;          // at least so many nodes of each; empty: no such demand
    std::vector<std::string> features() const;  // every feature named, once, sorted

    std::string str() const;
    bool operator==(const Constraint& other) const;

private:
    std::shared_ptr<const Node> root_;  // shared by copies, never changed
};

}  // namespace spur
