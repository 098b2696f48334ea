// Cores, memory and devices of one node against one job's need.
#include "fit.hpp"

#include <algorithm>

namespace spur::select_gpu {

namespace {

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

}  // namespace

// What is free on a node for one job.
struct Fitter::Supply {
    std::uint64_t cpus{SPUR_UNLIMITED};  // that the partition lets it have
    std::uint64_t cores{};               // that the job may use, at most so many a socket as its tasks may
    std::uint64_t memory_mib{};
    std::array<std::uint64_t, most_kinds> by_kind{};  // of the wanted type
    std::array<std::uint64_t, most_kinds> by_name{};  // of any type
};

bool Fitter::is_welcome(const Need& need, std::uint32_t slot, std::uint32_t index) const {
    const auto& node = picture_.node(index);
    const auto head = slots_.state(slot, index).head();
    if (head.whole > 0) return false;
    if (head.jobs <= 0) return true;
    if (need.whole) return false;
    const bool own = head.strangers <= 0 && node.only_uid == need.uid;
    if (head.locked > 0 && !own) return false;
    return !need.own_user || own;
}

// Cores of one word the job may have. `unshared`: only those nobody is on.
std::uint64_t Fitter::available(const Need& need, const StateView& state, const Node& node, std::uint32_t w,
                                bool unshared) const {
    auto free = state.free_cores()[w];
    if (need.jobs_per_core <= 1 || unshared) return free;
    for_each_bit(word(node.view->cores_offered, w) & ~free, w * 64, [&](std::uint32_t core) {
        if (state.owners(w).holders(core) == 0 && state.sharers(w).holders(core) < need.jobs_per_core)
            free |= bit(core);
    });
    return free;
}

Fitter::Supply Fitter::supply(const Need& need, std::uint32_t slot, std::uint32_t index) const {
    const auto& node = picture_.node(index);
    const auto state = slots_.state(slot, index);
    Supply supply;
    if (need.most_cpus != SPUR_UNLIMITED) {
        const auto others = slot == Slots::empty ? 0 : picture_.partition_cpus(need.partition, index);
        supply.cpus = need.most_cpus - std::min(need.most_cpus, others);
    }
    if (need.tasks_per_socket == 0 && need.jobs_per_core <= 1) {
        supply.cores = static_cast<std::uint64_t>(std::max(state.head().free_cores, 0));
    } else {
        const auto usable = std::max(1U, std::min(need.threads, node.threads));
        const auto most = need.tasks_per_socket == 0
                              ? UINT64_MAX
                              : divide_up(std::uint64_t{need.tasks_per_socket} * need.cpus_per_task, usable);
        for (std::uint32_t s = 0; s < node.sockets; ++s) {
            std::uint64_t here = 0;
            for (auto core = s * node.cores_per_socket; core < std::min((s + 1) * node.cores_per_socket, node.cores);
                 ++core)
                here += available(need, state, node, core / 64, false) >> (core % 64) & 1;
            supply.cores += std::min(here, most);
        }
    }
    const auto used = static_cast<std::uint64_t>(std::max<std::int64_t>(state.head().memory_used_mib, 0));
    supply.memory_mib = node.memory_mib - std::min(node.memory_mib, used);
    for (std::uint32_t k = 0; k < need.gres_count; ++k) {
        const auto found = picture_.find_gres(node, need.gres[k].name);
        if (found < 0) continue;
        const auto& gres = picture_.gres(node, static_cast<std::uint32_t>(found));
        const auto taken = static_cast<std::uint64_t>(std::max<std::int64_t>(state.gres(gres).used, 0));
        const auto left = gres.total - std::min(gres.total, taken);
        supply.by_kind[k] = supply.by_name[k] = left;
        if (gres.devices == 0) continue;
        const auto free = slots_.free_devices(state, node, static_cast<std::uint32_t>(found));
        const auto units_in = [&](std::uint64_t set) {
            std::uint64_t units = 0;
            for_each_bit(set, 0, [&](std::uint32_t d) {
                units +=
                    picture_.device(gres, d).units - std::min(picture_.device(gres, d).units, state.units(gres)[d]);
            });
            return units;
        };
        supply.by_kind[k] = std::min(left, units_in(free & picture_.devices_of(gres, need.gres[k].type)));
        supply.by_name[k] = std::min(left, units_in(free));
    }
    return supply;
}

Amounts Fitter::amounts(const Need& need, std::uint32_t index, std::uint32_t tasks, std::uint64_t pooled) const {
    const auto& node = picture_.node(index);
    Amounts out;
    out.tasks = tasks;
    std::uint64_t gpus = 0;
    for (std::uint32_t k = 0; k < need.gres_count; ++k) {
        const auto& kind = need.gres[k];
        auto& amount = out.gres[k];
        amount = std::max({kind.per_node, kind.per_task * tasks, kind.per_socket * need.sockets});
        if (kind.tasks_each != 0) amount = std::max(amount, divide_up(tasks, kind.tasks_each));
        if (static_cast<std::int32_t>(k) == need.pooled) amount = std::max(amount, pooled);
        if (kind.name == picture_.gpu_name()) gpus += amount;
    }
    const auto usable = std::max(1U, std::min(need.threads, node.threads));
    const auto by_tasks = need.overcommit ? 1 : std::uint64_t{tasks} * need.cpus_per_task;
    const auto cpus = std::max({by_tasks, std::uint64_t{need.min_cpus}, need.cpus_per_gpu * gpus, std::uint64_t{1}});
    auto cores = divide_up(cpus, usable);
    if (need.tasks_per_core != 0) cores = std::max(cores, divide_up(tasks, need.tasks_per_core));
    if (need.whole) cores = std::max<std::uint64_t>(cores, node.offered);
    out.cores = static_cast<std::uint32_t>(std::min<std::uint64_t>(cores, UINT32_MAX));
    out.cpus = static_cast<std::uint32_t>(std::min<std::uint64_t>(cores * node.threads, UINT32_MAX));
    if (need.all_memory)
        out.memory_mib = node.memory_mib;
    else if (need.mem_per_node != 0)
        out.memory_mib = need.mem_per_node;
    else if (need.mem_per_gpu != 0)
        out.memory_mib = need.mem_per_gpu * gpus;
    else if (need.mem_per_cpu != 0)
        out.memory_mib =
            need.whole ? std::max(need.mem_per_cpu * cpus, std::min(node.memory_mib, need.mem_per_cpu * cores * usable))
                       : need.mem_per_cpu * cores * usable;
    return out;
}

bool Fitter::works(const Need& need, const Node& node, const Supply& supply, const Amounts& amounts) const {
    if (amounts.cores > supply.cores || amounts.memory_mib > supply.memory_mib) return false;
    if (!need.whole && amounts.cpus > supply.cpus) return false;
    if (need.tasks_per_socket != 0 && amounts.tasks > std::uint64_t{need.tasks_per_socket} * node.sockets) return false;
    for (std::uint32_t k = 0; k < need.gres_count; ++k) {
        if (amounts.gres[k] > supply.by_kind[k]) return false;
        std::uint64_t together = 0;
        for (std::uint32_t other = 0; other < need.gres_count; ++other)
            if (need.gres[other].name == need.gres[k].name) together += amounts.gres[other];
        if (together > supply.by_name[k]) return false;
    }
    return true;
}

bool Fitter::holds(const Need& need, std::uint32_t slot, std::uint32_t index, std::uint32_t tasks,
                   std::uint64_t pooled) const {
    if (tasks > need.most_tasks || !is_welcome(need, slot, index)) return false;
    return works(need, picture_.node(index), supply(need, slot, index), amounts(need, index, tasks, pooled));
}

Room Fitter::room(const Need& need, std::uint32_t slot, std::uint32_t index) const {
    const auto& node = picture_.node(index);
    if (!is_welcome(need, slot, index)) return {};
    const auto supply = this->supply(need, slot, index);
    std::uint64_t least_pooled = 0;
    if (need.pooled >= 0) {
        const auto& kind = need.gres[static_cast<std::size_t>(need.pooled)];
        least_pooled = kind.per_job >= need.min_nodes ? 1 : 0;
    }
    const auto holds = [&](std::uint32_t tasks, std::uint64_t pooled) {
        return works(need, node, supply, amounts(need, index, tasks, pooled));
    };
    const auto least = need.least_tasks();
    if (least > need.most_tasks || !holds(least, least_pooled)) return {};
    Room room{.tasks = least, .pooled = least_pooled};
    // More only ever needs more: look for the most by halving.
    if (need.tasks != 0) {
        auto bad = std::min(need.tasks, need.most_tasks) + std::uint64_t{1};
        if (!need.overcommit) {
            const auto usable = std::max(1U, std::min(need.threads, node.threads));
            bad = std::min(bad, supply.cores * usable / need.cpus_per_task + 1);
        }
        while (room.tasks + std::uint64_t{1} < bad) {
            const auto middle = static_cast<std::uint32_t>((room.tasks + bad) / 2);
            if (holds(middle, least_pooled))
                room.tasks = middle;
            else
                bad = middle;
        }
    }
    if (need.pooled >= 0) {
        const auto& kind = need.gres[static_cast<std::size_t>(need.pooled)];
        auto bad = std::min(kind.per_node != 0 ? kind.per_node : kind.per_job,
                            supply.by_kind[static_cast<std::size_t>(need.pooled)]) +
                   1;
        while (room.pooled + 1 < bad) {
            const auto middle = (room.pooled + bad) / 2;
            if (holds(least, middle))
                room.pooled = middle;
            else
                bad = middle;
        }
    }
    return room;
}

// ---- which of them
// ---------------------------------------------------------------------------------------------------

std::uint64_t Fitter::pick_devices(const Node&, const Gres& gres, const GresNeed& kind, std::uint32_t sockets,
                                   std::uint64_t free, std::uint32_t count, Devices& out) const {
    if (first_fit_) return DeviceChooser::first(*gres.wiring, free, count).set;
    if (kind.per_socket == 0) {
        const auto chosen = chooser_.best(*gres.wiring, free, count);
        const auto all = picture_.devices_of(gres, kind.type);
        const auto ideal = chooser_.best(*gres.wiring, all, std::min(count, select_gpu::count(all)));
        out.short_of_best += ideal.worth - std::min(ideal.worth, chosen.worth);
        out.torn += chosen.cost;
        return chosen.set;
    }
    // So many on each of `sockets` sockets, the ones with the fewest to spare first; the rest wherever they are.
    std::uint64_t set = 0;
    for (std::uint32_t round = 0; round < sockets && select_gpu::count(set) < count; ++round) {
        std::uint64_t tightest = 0;
        for_each_bit(free & ~set, 0, [&](std::uint32_t d) {
            const auto socket = picture_.device(gres, d).socket;
            std::uint64_t there = 0;
            bool used = false;
            for (std::uint32_t other = 0; other < gres.devices; ++other)
                if (picture_.device(gres, other).socket == socket) {
                    there |= free & bit(other);
                    used = used || (set & bit(other)) != 0;
                }
            if (used || socket == SPUR_NONE || select_gpu::count(there) < kind.per_socket) return;
            if (tightest == 0 || select_gpu::count(there) < select_gpu::count(tightest)) tightest = there;
        });
        if (tightest == 0) break;
        set |= chooser_.best(*gres.wiring, tightest, static_cast<std::uint32_t>(kind.per_socket)).set;
    }
    const auto missing = count - std::min(count, select_gpu::count(set));
    return set | chooser_.best(*gres.wiring, free & ~set, missing).set;
}

Devices Fitter::devices(const Need& need, std::uint32_t slot, std::uint32_t index, const Amounts& amounts) const {
    Devices out;
    const auto& node = picture_.node(index);
    const auto state = slots_.state(slot, index);
    for (std::uint32_t k = 0; k < need.gres_count; ++k) {
        const auto& kind = need.gres[k];
        const auto found = picture_.find_gres(node, kind.name);
        if (found < 0 || amounts.gres[k] == 0) continue;
        const auto& gres = picture_.gres(node, static_cast<std::uint32_t>(found));
        if (gres.devices == 0) continue;
        auto free =
            slots_.free_devices(state, node, static_cast<std::uint32_t>(found)) & picture_.devices_of(gres, kind.type);
        for (std::uint32_t other = 0; other < k; ++other)
            if (need.gres[other].name == kind.name) free &= ~out.sets[other];
        if (gres.by_units) {  // shards: fill up the device that has least left, then the next
            auto left = amounts.gres[k];
            while (left > 0 && free != 0) {
                std::uint32_t tightest = most_devices;
                std::uint64_t best = UINT64_MAX;
                for_each_bit(free, 0, [&](std::uint32_t d) {
                    const std::uint64_t spare = picture_.device(gres, d).units - state.units(gres)[d];
                    // one that holds all of it, as full as possible; else the emptiest
                    const auto rank = spare >= left ? spare : UINT64_MAX / 2 - spare;
                    if (rank < best) best = rank, tightest = d;
                });
                out.sets[k] |= bit(tightest);
                free &= ~bit(tightest);
                left -=
                    std::min<std::uint64_t>(left, picture_.device(gres, tightest).units - state.units(gres)[tightest]);
            }
            continue;
        }
        const auto wanted =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(amounts.gres[k], select_gpu::count(free)));
        out.sets[k] = pick_devices(node, gres, kind, need.sockets, free, wanted, out);
    }
    return out;
}

namespace {

// Takes cores one after the other until there are enough, never more of a socket than may be.
struct CoreTaker {
    std::uint64_t* words;
    const Node& node;
    std::uint32_t wanted;
    std::uint64_t most_of_socket;
    std::uint32_t taken{};
    std::array<std::uint32_t, 64> of_socket{};

    std::uint32_t socket_of(std::uint32_t core) const { return std::min(core / node.cores_per_socket, 63U); }
    bool take(std::uint32_t core) {
        if (taken == wanted || (words[core / 64] & bit(core)) != 0) return false;
        auto& here = of_socket[socket_of(core)];
        if (here >= most_of_socket) return false;
        words[core / 64] |= bit(core);
        ++here;
        ++taken;
        return true;
    }
};

}  // namespace

void Fitter::cores(const Need& need, std::uint32_t slot, std::uint32_t index, const Amounts& amounts,
                   const Devices& devices, std::uint64_t* words) const {
    const auto& node = picture_.node(index);
    const auto state = slots_.state(slot, index);
    std::fill_n(words, node.core_words, 0);
    const auto usable = std::max(1U, std::min(need.threads, node.threads));
    CoreTaker taker{
        .words = words,
        .node = node,
        .wanted = amounts.cores,
        .most_of_socket = need.tasks_per_socket == 0
                              ? UINT64_MAX
                              : divide_up(std::uint64_t{need.tasks_per_socket} * need.cpus_per_task, usable)};
    // Near a chosen device: its own list of cores, or those of its socket.
    const auto is_near = [&](std::uint32_t core) {
        for (std::uint32_t k = 0; k < need.gres_count; ++k) {
            if (devices.sets[k] == 0) continue;
            const auto& gres =
                picture_.gres(node, static_cast<std::uint32_t>(picture_.find_gres(node, need.gres[k].name)));
            for (auto set = devices.sets[k]; set != 0; set &= set - 1) {
                const auto& device = picture_.device(gres, lowest(set));
                if (device.cores.words != nullptr
                        ? has(device.cores, core)
                        : device.socket != SPUR_NONE && device.socket == taker.socket_of(core))
                    return true;
            }
        }
        return false;
    };
    const bool any_device = std::ranges::any_of(devices.sets, [](auto set) { return set != 0; });
    const auto pass = [&](bool near_only, bool unshared) {
        const auto may = [&](std::uint32_t core) {
            return (available(need, state, node, core / 64, unshared) & bit(core)) != 0 &&
                   (!near_only || is_near(core));
        };
        if (need.cyclic_cores) {
            for (std::uint32_t place = 0; place < node.cores_per_socket; ++place)
                for (std::uint32_t s = 0; s < node.sockets; ++s)
                    if (const auto core = s * node.cores_per_socket + place; core < node.cores && may(core))
                        taker.take(core);
            return;
        }
        // Block: the socket that holds the rest with least to spare, else the one with most.
        std::uint64_t done = 0;
        for (std::uint32_t round = 0; round < std::min(node.sockets, 64U) && taker.taken < taker.wanted; ++round) {
            std::uint32_t best = 64;
            std::uint64_t best_rank = UINT64_MAX;
            for (std::uint32_t s = 0; s < std::min(node.sockets, 64U); ++s) {
                if ((done & bit(s)) != 0) continue;
                std::uint64_t here = 0;
                for (auto core = s * node.cores_per_socket;
                     core < std::min((s + 1) * node.cores_per_socket, node.cores); ++core)
                    here += may(core) ? 1 : 0;
                const std::uint64_t left = taker.wanted - taker.taken;
                const auto rank = here >= left ? here : UINT64_MAX / 2 - here;
                if (rank < best_rank) best_rank = rank, best = s;
            }
            if (best == 64) break;
            done |= bit(best);
            for (auto core = best * node.cores_per_socket;
                 core < std::min((best + 1) * node.cores_per_socket, node.cores); ++core)
                if (may(core)) taker.take(core);
        }
    };
    for (const bool unshared : {true, false}) {
        if (any_device && !first_fit_) pass(true, unshared);
        pass(false, unshared);
        if (need.jobs_per_core <= 1) break;
    }
}

}  // namespace spur::select_gpu
