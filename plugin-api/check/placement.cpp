// Copying and comparing placements.
#include "placement.hpp"

#include <fmt/format.h>

namespace spur::check {

using plugin::has_bit;
using plugin::Records;

namespace {

void append(std::string& text, const spur_bits& bits) {
    for (std::uint32_t i = 0; i < bits.count; ++i)
        if (has_bit(bits, i)) text += fmt::format("{},", i);
}

}  // namespace

std::string digest_of(spur_span shares) {
    std::string text;
    for (const auto& share : Records<spur_node_share>(shares)) {
        text += fmt::format("[{} cpus={} mem={} tasks={} flags={} cores=", share.node, share.cpus, share.memory_mib,
                            share.tasks, share.flags);
        append(text, share.cores);
        for (const auto& gres : Records<spur_gres_share>(share.gres)) {
            text += fmt::format(" gres={}:{}:{}=", gres.name, gres.type, gres.count);
            append(text, gres.devices);
        }
        text += ']';
    }
    return text;
}

Shares::Shares(spur_span source) {
    const auto keep = [&](const spur_bits& bits) -> spur_bits {
        if (bits.words == nullptr) return {};
        words_.emplace_back(bits.words, bits.words + (bits.count + 63) / 64);
        return {words_.back().data(), bits.count, 0};
    };
    for (auto share : Records<spur_node_share>(source)) {
        share.cores = keep(share.cores);
        std::vector<spur_gres_share> gres;
        for (auto one : Records<spur_gres_share>(share.gres)) {
            one.devices = keep(one.devices);
            gres.push_back(one);
        }
        gres_.push_back(std::move(gres));
        share.gres = plugin::span_of(gres_.back());
        shares_.push_back(share);
    }
}

}  // namespace spur::check
