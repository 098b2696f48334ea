// The answer, written into the caller's memory. What does not fit is counted, so that one pass tells how much is
// wanted.
#include <algorithm>

#include "cycle.hpp"

namespace spur::select_gpu {

PlacementWriter::PlacementWriter(const Picture& picture, const Slots& slots, const Fitter& fitter, spur_placement& out)
    : picture_{picture}, slots_{slots}, fitter_{fitter}, out_{out} {}

spur_status PlacementWriter::write(const Question& question, std::vector<Chosen>& chosen) {
    std::ranges::sort(chosen, {}, &Chosen::node);
    deal_tasks(question, chosen);
    deal_pooled(question, chosen);
    out_.score = 0;
    for (const auto& one : chosen) write_share(question, one);
    out_.score += static_cast<std::int64_t>(chosen.size()) << 32;
    out_.share_wanted = shares_;
    out_.gres_wanted = gres_;
    out_.word_wanted = words_;
    if (shares_ > out_.share_capacity || gres_ > out_.gres_capacity || words_ > out_.word_capacity) return SPUR_NO_ROOM;
    out_.share_count = shares_;
    out_.gres_count = gres_;
    out_.word_count = words_;
    return SPUR_FITS;
}

// From room for tasks to tasks: evenly, in planes, or node by node where the job did not say how many nodes.
void PlacementWriter::deal_tasks(const Question& question, std::vector<Chosen>& chosen) {
    const auto& need = question.need;
    if (need.tasks == 0) {
        for (auto& one : chosen) one.room.tasks = need.tasks_each_node;
        return;
    }
    std::uint64_t behind = 0;  // room of the nodes that are still to come
    for (const auto& one : chosen) behind += one.room.tasks;
    std::uint64_t left = need.tasks;
    const auto& job = question.job;
    const bool packs = job.min_nodes <= 1 && !need.spread && job.spread_nodes != SPUR_SPREAD_CYCLIC;
    const auto plane = job.spread_nodes == SPUR_SPREAD_PLANE ? std::max(job.plane_size, 1U) : 1U;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        auto& room = chosen[i].room.tasks;
        const std::uint64_t nodes = chosen.size() - i;
        behind -= room;
        auto wanted = packs ? left : (left + nodes - 1) / nodes;
        if (!packs) wanted = (wanted + plane - 1) / plane * plane;
        wanted =
            std::min({wanted, std::uint64_t{room}, left - std::min(left, nodes - 1)});  // one for each that follows
        wanted = std::max(wanted, left - std::min(left, behind));
        room = static_cast<std::uint32_t>(wanted);
        left -= wanted;
    }
}

void PlacementWriter::deal_pooled(const Question& question, std::vector<Chosen>& chosen) {
    const auto& need = question.need;
    if (need.pooled < 0) return;
    const auto which = static_cast<std::size_t>(need.pooled);
    std::uint64_t left = need.gres[which].per_job, floor = 0, behind = 0;
    const std::uint64_t least = need.gres[which].per_job >= need.min_nodes ? 1 : 0;
    const auto least_of = [&](const Chosen& one) {
        return std::max(least, fitter_.amounts(need, one.node, one.room.tasks, 0).gres[which]);
    };
    for (const auto& one : chosen) floor += least_of(one), behind += one.room.pooled;
    const bool packs = question.job.min_nodes <= 1 && !need.spread;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        auto& one = chosen[i];
        const auto own = least_of(one);
        floor -= own;
        behind -= one.room.pooled;
        const std::uint64_t nodes = chosen.size() - i;
        auto wanted = packs ? left : (left + nodes - 1) / nodes;
        wanted = std::min({wanted, one.room.pooled, left - std::min(left, floor)});
        wanted = std::max({wanted, own, left - std::min(left, behind)});
        one.room.pooled = wanted;
        left -= std::min(left, wanted);
    }
}

std::uint64_t* PlacementWriter::claim_words(std::uint32_t count) {
    auto* const place = words_ + count <= out_.word_capacity ? out_.words + words_ : nullptr;
    words_ += count;
    return place;
}

void PlacementWriter::write_share(const Question& question, const Chosen& one) {
    const auto& need = question.need;
    const auto& node = picture_.node(one.node);
    const auto amounts = fitter_.amounts(need, one.node, one.room.tasks, one.room.pooled);
    const auto devices = fitter_.devices(need, question.slot, one.node, amounts);
    out_.score += static_cast<std::int64_t>(std::min<std::uint64_t>(devices.short_of_best, 1U << 20));
    spur_node_share share{};
    share.node = one.node;
    share.cpus = std::min(amounts.cpus, node.view->cpus);
    share.memory_mib = amounts.memory_mib;
    share.tasks = one.room.tasks;
    share.flags = need.whole ? SPUR_SHARE_WHOLE_NODE : 0;
    auto* const cores = claim_words(node.core_words);
    if (cores != nullptr) {
        fitter_.cores(need, question.slot, one.node, amounts, devices, cores);
        share.cores = {cores, node.cores, 0};
    }
    write_gres(question, one, amounts, devices, share);
    if (shares_ < out_.share_capacity) out_.shares[shares_] = share;
    ++shares_;
}

void PlacementWriter::push_gres(std::uint32_t name, std::uint32_t type, std::uint64_t amount, std::uint64_t set,
                                std::uint32_t devices) {
    spur_gres_share piece{name, type, amount, {nullptr, 0, 0}};
    if (devices > 0)
        if (auto* const words = claim_words(1); words != nullptr) {
            *words = set;
            piece.devices = {words, devices, 0};
        }
    if (gres_ < out_.gres_capacity) out_.gres[gres_] = piece;
    ++gres_;
}

// One piece for each type of device: the types are what the node's books are kept by.
void PlacementWriter::write_devices(std::uint32_t name, const Gres& gres, std::uint64_t set) {
    while (set != 0) {
        const auto type = picture_.device(gres, lowest(set)).type;
        std::uint64_t same = 0;
        for_each_bit(set, 0, [&](std::uint32_t d) {
            if (picture_.device(gres, d).type == type) same |= bit(d);
        });
        push_gres(name, type, count(same), same, gres.devices);
        set &= ~same;
    }
}

void PlacementWriter::write_gres(const Question& question, const Chosen& one, const Amounts& amounts,
                                 const Devices& devices, spur_node_share& share) {
    const auto& need = question.need;
    const auto& node = picture_.node(one.node);
    const auto state = slots_.state(question.slot, one.node);
    const auto first = gres_;
    for (std::uint32_t k = 0; k < need.gres_count; ++k) {
        if (amounts.gres[k] == 0) continue;
        const auto& kind = need.gres[k];
        const auto& gres = picture_.gres(node, static_cast<std::uint32_t>(picture_.find_gres(node, kind.name)));
        if (gres.devices == 0) {
            push_gres(kind.name, kind.type, amounts.gres[k], 0, 0);
        } else if (gres.by_units) {  // shards: a piece for each device, so that it is known how many lie on it
            auto left = amounts.gres[k];
            for_each_bit(devices.sets[k], 0, [&](std::uint32_t d) {
                const auto here = std::min<std::uint64_t>(left, picture_.device(gres, d).units - state.units(gres)[d]);
                if (here > 0) push_gres(kind.name, picture_.device(gres, d).type, here, bit(d), gres.devices);
                left -= here;
            });
        } else {
            write_devices(kind.name, gres, devices.sets[k]);
        }
    }
    if (need.whole) write_rest(question, one, devices);
    if (gres_ <= out_.gres_capacity && gres_ > first)
        share.gres = {out_.gres + first, gres_ - first, static_cast<std::uint32_t>(sizeof(spur_gres_share))};
}

// Who holds a whole node holds its devices too; shards of them are not given besides.
void PlacementWriter::write_rest(const Question& question, const Chosen& one, const Devices& devices) {
    const auto& need = question.need;
    const auto& node = picture_.node(one.node);
    const auto state = slots_.state(question.slot, one.node);
    for (std::uint32_t g = 0; g < node.gres_count; ++g) {
        const auto& gres = picture_.gres(node, g);
        if (gres.parent >= 0) continue;
        std::uint64_t asked = 0;
        bool shards = false;
        for (std::uint32_t k = 0; k < need.gres_count; ++k) {
            if (need.gres[k].name == gres.name) asked |= gres.devices == 0 ? 1 : devices.sets[k];
            shards = shards || (gres.parts >= 0 &&
                                need.gres[k].name == picture_.gres(node, static_cast<std::uint32_t>(gres.parts)).name);
        }
        if (shards) continue;
        if (gres.by_units)
            for_each_bit(slots_.free_devices(state, node, g) & ~asked, 0, [&](std::uint32_t d) {
                const auto& device = picture_.device(gres, d);
                push_gres(gres.name, device.type, device.units - state.units(gres)[d], bit(d), gres.devices);
            });
        else if (gres.devices > 0)
            write_devices(gres.name, gres, slots_.free_devices(state, node, g) & ~asked);
        else if (asked == 0 && state.gres(gres).used < static_cast<std::int64_t>(gres.total))
            push_gres(gres.name, 0,
                      gres.total - static_cast<std::uint64_t>(std::max<std::int64_t>(state.gres(gres).used, 0)), 0, 0);
    }
}

}  // namespace spur::select_gpu
