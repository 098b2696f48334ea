// What a waiting job is worth, factor by factor, as sprio's users know it; and who may use how much, as sshare's do.
#pragma once

#include <span>

#include "daemons/common/records/record.hpp"
#include "spur/v1/accounts.pb.h"

namespace spur::records {

namespace factor {  // the order of spur/plugin/priority.h
inline constexpr int age = 0, fairshare = 1, job_size = 2, partition = 3, qos = 4, tres = 5, association = 6, site = 7;
}

struct PriorityView {
    const v1::JobPriority* job = nullptr;  // null: the line of weights
    const v1::ListPrioritiesReply& reply;
    const Context& in;
};
using PriorityField = Field<PriorityView, NoId>;
std::span<const PriorityField> priority_fields();
double weight_of(const v1::ListPrioritiesReply& reply, int factor);

struct ShareView {
    const v1::Share& share;
    const v1::ListSharesReply& reply;
    const Context& in;
    std::size_t depth = 0;  // in the tree

    const v1::Association& association() const { return share.association(); }
    bool is_root() const { return association().parent() == 0; }
};
using ShareField = Field<ShareView, NoId>;
std::span<const ShareField> share_fields();

}  // namespace spur::records
