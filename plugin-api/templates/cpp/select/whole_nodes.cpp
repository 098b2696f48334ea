// Gather the nodes that could serve, order them, take as few as will do, write them down.
#include "whole_nodes.hpp"

#include <algorithm>
#include <cstring>

using spur::plugin::has_bit;
using spur::plugin::Records;

namespace {

constexpr std::uint32_t most_requests = 16;  // generic resources of one job

std::uint64_t amount_of(const spur_node_view& node, const spur_gres_request& wanted) {
    for (const auto& gres : Records<spur_gres_view>(node.gres)) {
        if (gres.name != wanted.name) continue;
        if (gres.devices.count == 0) return wanted.type == 0 ? gres.total : 0;
        std::uint64_t fitting = 0;
        for (const auto& device : Records<spur_device_view>(gres.devices))
            fitting += wanted.type == 0 || device.type == wanted.type;
        return fitting;
    }
    return 0;
}

// Hands out pieces of the caller's buffers; past their end it only counts.
class Writer {
public:
    explicit Writer(spur_placement& out) : out_(out) {
        out.share_count = out.gres_count = out.word_count = 0;
        out.share_wanted = out.gres_wanted = out.word_wanted = 0;
    }
    spur_node_share* share() { return next(out_.shares, out_.share_count, out_.share_capacity, out_.share_wanted, 1); }
    spur_gres_share* gres() { return next(out_.gres, out_.gres_count, out_.gres_capacity, out_.gres_wanted, 1); }
    std::uint64_t* words(std::uint32_t bits) {
        const auto count = (bits + 63) / 64;
        auto* place = next(out_.words, out_.word_count, out_.word_capacity, out_.word_wanted, count);
        if (place != nullptr) std::memset(place, 0, count * sizeof *place);
        return place;
    }
    bool has_room() const {
        return out_.share_wanted == out_.share_count && out_.gres_wanted == out_.gres_count &&
               out_.word_wanted == out_.word_count;
    }

private:
    template <class T>
    static T* next(T* base, std::uint32_t& count, std::uint32_t capacity, std::uint32_t& wanted, std::uint32_t more) {
        wanted += more;
        if (wanted > capacity) return nullptr;
        count = wanted;
        return base + wanted - more;
    }
    spur_placement& out_;
};

// The first `count` devices of the right type that this share does not have yet.
void choose_devices(const spur_gres_view& gres, const spur_gres_request& wanted, std::uint64_t count,
                    const spur_node_share& so_far, std::uint64_t* words) {
    const Records<spur_device_view> devices(gres.devices);
    for (std::uint32_t i = 0; i < devices.size() && count > 0; ++i) {
        bool taken = wanted.type != 0 && devices[i].type != wanted.type;
        for (const auto& other : Records<spur_gres_share>(so_far.gres))
            taken = taken || (other.name == wanted.name && has_bit(other.devices, i));
        if (taken) continue;
        words[i / 64] |= std::uint64_t{1} << (i % 64);
        --count;
    }
}

void write_gres(const spur_node_view& node, const spur_gres_request& wanted, std::uint64_t count,
                spur_node_share& share, Writer& writer) {
    for (const auto& gres : Records<spur_gres_view>(node.gres)) {
        if (gres.name != wanted.name || count == 0) continue;
        auto* entry = writer.gres();
        auto* words = writer.words(gres.devices.count);
        if (entry == nullptr || words == nullptr) return;
        *entry = {wanted.name, wanted.type, count, {words, gres.devices.count, 0}};
        choose_devices(gres, wanted, count, share, words);
        if (share.gres.count == 0) share.gres = {entry, 0, sizeof(spur_gres_share)};
        ++share.gres.count;
    }
}

}  // namespace

WholeNodes::WholeNodes(const spur_cluster_view& view) : view_(view), jobs_(std::size_t{slot_count} * view.nodes.count) {
    candidates_.reserve(view.nodes.count);
    const Records<spur_node_view> nodes(view.nodes);
    for (std::uint32_t n = 0; n < nodes.size(); ++n) jobs_[n] = static_cast<std::int32_t>(nodes[n].running_jobs);
}

void WholeNodes::copy(std::uint32_t from, std::uint32_t to) {
    const std::size_t length = view_.nodes.count;
    std::copy_n(jobs_.begin() + static_cast<std::ptrdiff_t>(from * length), length,
                jobs_.begin() + static_cast<std::ptrdiff_t>(to * length));
}

void WholeNodes::book(std::uint32_t slot, spur_span shares, int sign) {
    for (const auto& share : Records<spur_node_share>(shares))
        jobs_[std::size_t{slot} * view_.nodes.count + share.node] += sign;
}

// How many tasks of `job` the whole of `node` can hold; 0: it cannot serve.
std::uint32_t WholeNodes::room_on(const spur_job_view& job, const spur_node_view& node) const {
    const std::uint64_t per_task = std::max(1u, job.cpus_per_task);
    const bool by_core = (job.flags & SPUR_JOB_ONE_THREAD_PER_CORE) != 0;
    const std::uint64_t places = by_core ? node.cpus / std::max(1u, node.threads_per_core) : node.cpus;
    if (node.cpus < job.min_cpus_per_node || node.memory_mib < job.mem_per_node_mib || node.tmp_mib < job.tmp_mib)
        return 0;
    if (node.sockets < job.min_sockets || node.cores_per_socket < job.min_cores_per_socket) return 0;
    if (node.threads_per_core < job.min_threads_per_core) return 0;

    std::uint64_t room = (job.flags & SPUR_JOB_OVERCOMMIT) != 0 ? std::max(1u, job.tasks) : places / per_task;
    if (job.tasks_per_node != 0) room = std::min<std::uint64_t>(room, job.tasks_per_node);
    if (job.mem_per_cpu_mib != 0) room = std::min(room, node.memory_mib / (job.mem_per_cpu_mib * per_task));
    for (const auto& wanted : Records<spur_gres_request>(job.gres)) {
        const auto have = amount_of(node, wanted);
        if (wanted.scope == SPUR_GRES_PER_NODE && have < wanted.count) return 0;
        if (wanted.scope == SPUR_GRES_PER_TASK && wanted.count != 0) room = std::min(room, have / wanted.count);
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(room, UINT32_MAX));
}

// Fills candidates_; false if a node the job insists on is not among them.
bool WholeNodes::gather(const spur_pick& pick, const spur_job_view& job, bool empty) {
    const auto& partition = *SPUR_AT(spur_partition_view, view_.partitions, pick.partition);
    const auto* jobs = jobs_.data() + std::size_t{pick.slot} * view_.nodes.count;
    const Records<spur_node_view> nodes(view_.nodes);
    candidates_.clear();
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        const bool required = has_bit(job.required_nodes, n);
        const bool allowed = has_bit(partition.nodes, n) &&
                             (job.eligible_nodes.words == nullptr || has_bit(job.eligible_nodes, n)) &&
                             (pick.candidates.words == nullptr || has_bit(pick.candidates, n));
        const bool free = empty || ((nodes[n].flags & SPUR_NODE_USABLE) != 0 && jobs[n] == 0);
        const auto room = allowed && free ? room_on(job, nodes[n]) : 0;
        if (room == 0 && required) return false;
        if (room == 0) continue;
        std::uint64_t pooled = 0;
        for (const auto& wanted : Records<spur_gres_request>(job.gres))
            if (wanted.scope == SPUR_GRES_PER_JOB) pooled += amount_of(nodes[n], wanted);
        candidates_.push_back({n, room, required, pooled});
    }
    return true;
}

// How many of the candidates, from the front, are enough; 0: not even all of them.
std::uint32_t WholeNodes::smallest_prefix(const spur_job_view& job) const {
    std::uint64_t room = 0;
    std::uint32_t required_left = 0;
    for (const auto& candidate : candidates_) required_left += candidate.required;
    for (std::uint32_t count = 1; count <= candidates_.size() && count <= job.max_nodes; ++count) {
        room += candidates_[count - 1].room;
        required_left -= candidates_[count - 1].required;
        if (count < job.min_nodes || room < job.tasks || required_left > 0) continue;
        bool gres = true;
        for (const auto& wanted : Records<spur_gres_request>(job.gres)) {
            if (wanted.scope != SPUR_GRES_PER_JOB) continue;
            std::uint64_t total = 0;
            for (std::uint32_t i = 0; i < count; ++i)
                total += amount_of(*SPUR_AT(spur_node_view, view_.nodes, candidates_[i].node), wanted);
            gres = gres && total >= wanted.count;
        }
        if (gres) return count;
    }
    return 0;
}

// Light nodes first; where those are too small for the number of nodes allowed, roomy ones first.
std::uint32_t WholeNodes::choose(const spur_job_view& job) {
    const Records<spur_node_view> nodes(view_.nodes);
    std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
        if (a.required != b.required) return a.required;
        const bool a_liked = has_bit(job.preferred_nodes, a.node), b_liked = has_bit(job.preferred_nodes, b.node);
        if (a_liked != b_liked) return a_liked;
        if (nodes[a.node].weight != nodes[b.node].weight) return nodes[a.node].weight < nodes[b.node].weight;
        return a.node < b.node;
    });
    if (const auto count = smallest_prefix(job); count != 0) return count;
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
        if (a.required != b.required) return a.required;
        if (a.pooled != b.pooled) return a.pooled > b.pooled;
        return a.room != b.room ? a.room > b.room : a.node < b.node;
    });
    return smallest_prefix(job);
}

spur_status WholeNodes::write(const spur_job_view& job, std::uint32_t count, spur_placement& out) {
    Writer writer(out);
    auto tasks_left = std::max(job.tasks, job.tasks == 0 ? count : 0);
    std::uint64_t pooled_left[most_requests] = {};
    const Records<spur_gres_request> requests(job.gres);
    for (std::uint32_t r = 0; r < requests.size(); ++r) pooled_left[r] = requests[r].count;
    out.score = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto& node = *SPUR_AT(spur_node_view, view_.nodes, candidates_[i].node);
        const auto later = count - i - 1;  // each of those wants a task too
        const auto tasks = std::min(candidates_[i].room, tasks_left > later ? tasks_left - later : tasks_left > 0);
        tasks_left -= tasks;
        spur_node_share share{candidates_[i].node, node.cpus, node.memory_mib, {}, {}, tasks, SPUR_SHARE_WHOLE_NODE};
        if (auto* words = writer.words(node.cores_offered.count); words != nullptr) {
            std::memcpy(words, node.cores_offered.words, (node.cores_offered.count + 63) / 64 * sizeof *words);
            share.cores = {words, node.cores_offered.count, 0};
        }
        for (std::uint32_t r = 0; r < requests.size(); ++r) {
            auto amount = requests[r].count;
            if (requests[r].scope == SPUR_GRES_PER_TASK) amount *= tasks;
            if (requests[r].scope == SPUR_GRES_PER_JOB)
                pooled_left[r] -= amount = std::min(pooled_left[r], amount_of(node, requests[r]));
            write_gres(node, requests[r], amount, share, writer);
        }
        if (auto* place = writer.share(); place != nullptr) *place = share;
        out.score += node.weight;
    }
    return writer.has_room() ? SPUR_FITS : SPUR_NO_ROOM;
}

spur_status WholeNodes::pick(const spur_pick& pick, spur_placement* out) {
    const auto& job = *SPUR_AT(spur_job_view, view_.pending, pick.job);
    if (job.gres.count > most_requests) return SPUR_NEVER;
    const bool only_test = (pick.flags & SPUR_PICK_TEST_ONLY) != 0 || out == nullptr;
    if ((pick.flags & SPUR_PICK_EMPTY) == 0 && gather(pick, job, false)) {
        if (const auto count = choose(job); count != 0) return only_test ? SPUR_FITS : write(job, count, *out);
    }
    const auto count = gather(pick, job, true) ? choose(job) : 0;
    if ((pick.flags & SPUR_PICK_EMPTY) == 0) return count != 0 ? SPUR_NOT_NOW : SPUR_NEVER;
    if (count == 0) return SPUR_NEVER;
    return only_test ? SPUR_FITS : write(job, count, *out);
}
