// What can be asked of a cluster's records, whoever holds them: the state machine, or the read model that queries and
// plans use. Logic that both need is written once, against this.
#pragma once

#include <string_view>

#include "core/model/config.hpp"
#include "core/model/node.hpp"
#include "core/model/partition.hpp"

namespace spur {

class Picture {
public:
    virtual const Node* find_node(NodeId id) const = 0;
    virtual const Partition* find_partition(std::string_view name) const = 0;
    virtual const Policies& policies() const = 0;

protected:
    Picture() = default;
    Picture(const Picture&) = default;
    Picture(Picture&&) = default;
    Picture& operator=(const Picture&) = default;
    Picture& operator=(Picture&&) = default;
    ~Picture() = default;
};

}  // namespace spur
