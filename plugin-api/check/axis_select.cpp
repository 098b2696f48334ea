// The laws of spur.select/1.
#include "case.hpp"
#include "cluster.hpp"
#include "counters.hpp"
#include "instance.hpp"
#include "ledger.hpp"
#include "placement.hpp"

#include <algorithm>

namespace spur::check {
namespace {

using plugin::has_bit;
using plugin::Records;

// One cycle of the plugin over one view.
class Cycle {
public:
    Cycle(Instance& instance, const spur_cluster_view& view)
        : ops_(instance.ops<spur_select_ops>(SPUR_SELECT_IFACE)), self_(instance.self()), view_(view) {
        ErrorBox err;
        doing("in begin()");
        expect_ok("begin()", ops_.begin(self_, &view, &cycle_, err.get()), err);
        doing("in slots()");
        slots_ = ops_.slots(cycle_);
        require(slots_ >= 4, "slots() answers {}: a cycle holds at least 4", slots_);
    }
    ~Cycle() {
        doing("in end()");
        ops_.end(self_, cycle_);
    }
    Cycle(const Cycle&) = delete;
    Cycle& operator=(const Cycle&) = delete;

    std::uint32_t slots() const { return slots_; }
    const spur_select_ops& ops() const { return ops_; }
    spur_select_cycle* get() const { return cycle_; }
    const spur_cluster_view& view() const { return view_; }

    void copy(std::uint32_t from, std::uint32_t to) {
        doing("in copy()");
        require(ops_.copy(cycle_, from, to) == SPUR_OK, "copy({}, {}) failed with {} slots", from, to, slots_);
    }
    void take(std::uint32_t slot, const spur_placement* placement, std::uint32_t flags) {
        silently("take()", [&] { ops_.take(cycle_, slot, placement, flags); });
    }
    void give(std::uint32_t slot, const spur_placement* placement, std::uint32_t flags) {
        silently("give()", [&] { ops_.give(cycle_, slot, placement, flags); });
    }
    spur_status pick(spur_pick question, spur_placement* out) {
        spur_status verdict = SPUR_E_INTERNAL;
        question.size = sizeof question;
        silently("pick()", [&] { verdict = ops_.pick(cycle_, &question, out); });
        require(verdict >= SPUR_FITS && verdict <= SPUR_NO_ROOM, "pick() answered {}, which is no verdict", verdict);
        return verdict;
    }
    // pick() into a buffer that grows until it is large enough.
    spur_status pick(const spur_pick& question, PlacementBuffer& buffer) {
        auto verdict = pick(question, buffer.get());
        if (verdict != SPUR_NO_ROOM) return verdict;
        const auto& answer = buffer.answer();
        const bool more = answer.share_wanted > answer.share_capacity || answer.gres_wanted > answer.gres_capacity ||
                          answer.word_wanted > answer.word_capacity;
        require(more, "pick() answered SPUR_NO_ROOM and wants no more than it was given");
        buffer.grow_to_wanted();
        verdict = pick(question, buffer.get());
        require(verdict != SPUR_NO_ROOM, "pick() answered SPUR_NO_ROOM again, with all it wanted");
        return verdict;
    }

private:
    // Runs `call` and fails if it allocated.
    template <class Call>
    void silently(const char* name, Call call) {
        doing(fmt::format("in {}", name));
        const auto before = counts().allocations;
        call();
        const auto made = counts().allocations - before;
        require(made == 0, "{} allocated memory {} time(s): it must not", name, made);
    }

    const spur_select_ops& ops_;
    spur_plugin* self_;
    const spur_cluster_view& view_;
    spur_select_cycle* cycle_ = nullptr;
    std::uint32_t slots_ = 0;
};

const spur_job_view& job_at(const spur_cluster_view& view, std::uint32_t slot) {
    return *SPUR_AT(spur_job_view, view.pending, slot);
}
std::uint32_t first_partition(const spur_cluster_view& view, std::uint32_t slot) {
    return *SPUR_AT(std::uint32_t, job_at(view, slot).partitions, 0);
}
spur_pick question_for(const spur_cluster_view& view, std::uint32_t job, std::uint32_t slot, std::uint32_t flags = 0) {
    return {0, job, first_partition(view, job), slot, {}, flags, 0};
}

// Holds a FITS answer against the ledger of its slot.
void check_answer(const Cycle& cycle, const Ledger& ledger, const spur_pick& question, const PlacementBuffer& buffer) {
    const auto& view = cycle.view();
    const auto& job = job_at(view, question.job);
    const auto why = objection(view, ledger, job, question.partition, buffer.shares());
    require(!why, "pick() for job {}: {}", job.id, why.value_or(""));
    if (question.candidates.words == nullptr) return;
    for (const auto& share : Records<spur_node_share>(buffer.shares()))
        require(has_bit(question.candidates, share.node),
                "pick() for job {} answers with node number {}, which is no candidate", job.id, share.node);
}

// What every job of the queue would get in `slot`: equal texts, equal slots as far as anyone can see.
std::string portrait(Cycle& cycle, std::uint32_t slot) {
    std::string text;
    PlacementBuffer buffer;
    for (const auto job : Records<std::uint32_t>(cycle.view().pending_order)) {
        const auto verdict = cycle.pick(question_for(cycle.view(), job, slot), buffer);
        text += fmt::format("{}:{}{}\n", job, verdict, verdict == SPUR_FITS ? digest_of(buffer.shares()) : "");
    }
    return text;
}

// The queue a host would show it.
ClusterWishes ordinary(Instance& instance, std::uint32_t pending = ClusterWishes{}.pending) {
    constexpr auto of_sched = ~std::uint64_t{0} << 32;
    return {.pending = pending, .understood = instance.ops<spur_select_ops>(SPUR_SELECT_IFACE).understands | of_sched};
}

void exercise(const Subject& subject, Instance& instance, const Shape& shape) {
    Dice dice(subject.seed);
    const Cluster cluster(dice, ordinary(instance, 20), shape);
    Cycle cycle(instance, cluster.view());
    const Ledger ledger(cluster.view());
    PlacementBuffer buffer;
    for (const auto job : Records<std::uint32_t>(cluster.view().pending_order)) {
        const auto question = question_for(cluster.view(), job, 0);
        if (cycle.pick(question, buffer) != SPUR_FITS) continue;
        check_answer(cycle, ledger, question, buffer);
        const Output<spur_placement> fenced(shape);
        SPUR_PUT(fenced.get(), buffer.get());
        require(cycle.pick(question, fenced.get()) == SPUR_FITS, "pick() into the same buffers did not fit again");
        const auto answer = fenced.read("pick()");
        require(digest_of(spur_shares(&answer)) == digest_of(buffer.shares()), "the same pick gave another answer");
        cycle.take(0, fenced.get(), 0);
        cycle.give(0, fenced.get(), 0);
    }
}

template <class Body>
std::string over_clusters(const Subject& subject, Body body) {
    Bench bench(subject);
    for (unsigned i = 0; i < subject.clusters; ++i) {
        Dice dice(subject.seed + i);
        const Cluster cluster(dice, ordinary(bench.instance()));
        try {
            Cycle cycle(bench.instance(), cluster.view());
            body(cycle, dice);
        } catch (const Failed& failed) {
            fail("{} (seed {})", failed.text, subject.seed + i);
        }
    }
    bench.finish();
    return fmt::format("{} clusters", subject.clusters);
}

// A random walk: ask, take, give and copy, with a ledger of our own for each slot.
struct Held {
    std::uint32_t slot, flags;
    Shares shares;
};

void walk(Cycle& cycle, Dice& dice) {
    const auto& view = cycle.view();
    std::vector<Ledger> ledgers(cycle.slots() < 4 ? cycle.slots() : 4, Ledger(view));
    const auto slots = static_cast<std::uint32_t>(ledgers.size());
    for (std::uint32_t slot = 1; slot < slots; ++slot) cycle.copy(0, slot);
    std::vector<Held> held;
    const Records<std::uint32_t> queue(view.pending_order), running(view.running_order);
    PlacementBuffer buffer;
    for (int step = 0; step < 200 && queue.size() > 0; ++step) {
        const auto slot = dice.below(slots);
        if (dice.one_in(12) && !held.empty()) {  // give back what was taken
            const auto which = dice.below(static_cast<std::uint32_t>(held.size()));
            auto& one = held[which];
            const auto placement = one.shares.placement();
            cycle.give(one.slot, &placement, one.flags);
            for (const auto& share : Records<spur_node_share>(one.shares.get())) ledgers[one.slot].give(share);
            held.erase(held.begin() + which);
            continue;
        }
        const auto job = queue[dice.below(queue.size())];
        auto question = question_for(view, job, slot);
        std::vector<std::uint64_t> mask((view.nodes.count + 63) / 64);
        if (dice.one_in(4)) {
            for (std::uint32_t n = 0; n < view.nodes.count; ++n)
                if (dice.one_in(2)) mask[n / 64] |= std::uint64_t{1} << (n % 64);
            question.candidates = {mask.data(), view.nodes.count, 0};
        }
        if (cycle.pick(question, buffer) != SPUR_FITS) continue;
        check_answer(cycle, ledgers[slot], question, buffer);
        if (dice.one_in(3)) continue;
        const auto flags = job_at(view, job).flags;
        cycle.take(slot, buffer.get(), flags);
        for (const auto& share : Records<spur_node_share>(buffer.shares())) ledgers[slot].take(share);
        held.push_back({slot, flags, Shares(buffer.shares())});
    }
}
std::string sound(const Subject& subject) { return over_clusters(subject, &walk); }

std::string restores(const Subject& subject) {
    return over_clusters(subject, [](Cycle& cycle, Dice&) {
        const auto& view = cycle.view();
        const auto before = portrait(cycle, 0);
        require(portrait(cycle, 0) == before,
                "the same picks gave other answers the second time: a pick changes nothing");
        cycle.copy(0, 1);
        require(portrait(cycle, 1) == before, "a copy of slot 0 answers other than slot 0");
        // Everything that runs ends in slot 1, and begins again.
        const Records<std::uint32_t> running(view.running_order);
        for (const auto slot : running) {
            const auto& job = *SPUR_AT(spur_job_view, view.running, slot);
            cycle.give(1, job.held, job.flags);
        }
        require(portrait(cycle, 0) == before, "give() in slot 1 changed slot 0");
        for (const auto slot : running) {
            const auto& job = *SPUR_AT(spur_job_view, view.running, slot);
            cycle.take(1, job.held, job.flags);
        }
        require(portrait(cycle, 1) == before, "giving and taking the same shares does not restore a slot");
        // And the other way round, with what was picked.
        PlacementBuffer buffer;
        for (const auto job : Records<std::uint32_t>(view.pending_order)) {
            if (cycle.pick(question_for(view, job, 1), buffer) != SPUR_FITS) continue;
            cycle.take(1, buffer.get(), job_at(view, job).flags);
            cycle.give(1, buffer.get(), job_at(view, job).flags);
        }
        require(portrait(cycle, 1) == before, "taking and giving the same shares does not restore a slot");
    });
}

std::string verdicts(const Subject& subject) {
    return over_clusters(subject, [](Cycle& cycle, Dice&) {
        const auto& view = cycle.view();
        PlacementBuffer buffer;
        for (const auto job : Records<std::uint32_t>(view.pending_order)) {
            const auto id = job_at(view, job).id;
            const auto full = cycle.pick(question_for(view, job, 0), buffer);
            const auto test = cycle.pick(question_for(view, job, 0, SPUR_PICK_TEST_ONLY), nullptr);
            require(test == full, "job {}: SPUR_PICK_TEST_ONLY answers {}, the full pick {}", id, test, full);
            const auto empty = cycle.pick(question_for(view, job, 0, SPUR_PICK_EMPTY | SPUR_PICK_TEST_ONLY), nullptr);
            require(empty == SPUR_FITS || empty == SPUR_NEVER,
                    "job {}: SPUR_PICK_EMPTY answers {}, neither FITS nor NEVER", id, empty);
            require(full != SPUR_FITS || empty == SPUR_FITS, "job {} fits now but not on an empty cluster", id);
            require((full == SPUR_NEVER) == (empty == SPUR_NEVER),
                    "job {}: the verdict now is {} and on an empty cluster {}: NEVER means never", id, full, empty);
        }
    });
}

std::string small_buffers(const Subject& subject) {
    return over_clusters(subject, [](Cycle& cycle, Dice&) {
        const auto& view = cycle.view();
        for (const auto job : Records<std::uint32_t>(view.pending_order)) {
            PlacementBuffer roomy, tight(0, 0, 0);
            const auto question = question_for(view, job, 0);
            if (cycle.pick(question, roomy) != SPUR_FITS) continue;
            require(cycle.pick(question, tight.get()) == SPUR_NO_ROOM,
                    "pick() into empty buffers did not answer SPUR_NO_ROOM");
            require(cycle.pick(question, tight) == SPUR_FITS, "pick() into buffers of the size it wanted did not fit");
            require(digest_of(tight.shares()) == digest_of(roomy.shares()),
                    "the size of the buffers changed the answer");
        }
    });
}

std::string screens(const Subject& subject) {
    return over_clusters(subject, [](Cycle& cycle, Dice&) {
        if (!SPUR_CAN(spur_select_ops, &cycle.ops(), screen)) skip("screen is optional and absent");
        const auto& view = cycle.view();
        std::vector<std::uint32_t> jobs;
        for (const auto job : Records<std::uint32_t>(view.pending_order)) jobs.push_back(job);
        std::vector<spur_status> answers(jobs.size(), SPUR_E_INTERNAL);
        doing("in screen()");
        const auto before = counts().allocations;
        cycle.ops().screen(cycle.get(), 0, jobs.data(), static_cast<std::uint32_t>(jobs.size()), answers.data());
        require(counts().allocations == before, "screen() allocated memory: it must not");
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            const auto full = cycle.pick(question_for(view, jobs[i], 0, SPUR_PICK_TEST_ONLY), nullptr);
            require(answers[i] >= SPUR_FITS && answers[i] <= SPUR_NEVER, "screen() answered {}", answers[i]);
            require(full != SPUR_FITS || answers[i] == SPUR_FITS, "screen() says {} of job {}, which fits", answers[i],
                    job_at(view, jobs[i]).id);
        }
    });
}

std::string idle_nodes(const Subject& subject) {
    return over_clusters(subject, [](Cycle& cycle, Dice&) {
        if (!SPUR_CAN(spur_select_ops, &cycle.ops(), idle_nodes)) skip("idle_nodes is optional and absent");
        const auto count = cycle.view().nodes.count;
        std::vector<std::uint64_t> words((count + 63) / 64 + 1, 0xA5A5A5A5A5A5A5A5u);
        doing("in idle_nodes()");
        cycle.ops().idle_nodes(cycle.get(), 0, words.data());
        require(words.back() == 0xA5A5A5A5A5A5A5A5u, "idle_nodes() wrote past the words for {} nodes", count);
        const Ledger ledger(cycle.view());
        for (std::uint32_t n = 0; n < count; ++n)
            require(!has_bit({words.data(), count, 0}, n) || ledger.is_idle(n),
                    "idle_nodes() names node number {}, where a job runs", n);
        for (std::uint32_t n = count; n < words.size() * 64 - 64; ++n)
            require(!has_bit({words.data(), n + 1, 0}, n), "idle_nodes() set bit {} with {} nodes", n, count);
    });
}

std::string works(const Subject& subject) {
    unsigned fits = 0;
    over_clusters(subject, [&](Cycle& cycle, Dice&) {
        PlacementBuffer buffer;
        for (const auto job : Records<std::uint32_t>(cycle.view().pending_order))
            fits += cycle.pick(question_for(cycle.view(), job, 0), buffer) == SPUR_FITS;
    });
    require(fits > 0, "not one job of {} random clusters fits", subject.clusters);
    return fmt::format("{} jobs fit", fits);
}

std::string explains(const Subject& subject) {
    return over_clusters(subject, [](Cycle& cycle, Dice&) {
        if (!SPUR_CAN(spur_select_ops, &cycle.ops(), explain)) skip("explain is optional and absent");
        for (const auto job : Records<std::uint32_t>(cycle.view().pending_order)) {
            auto question = question_for(cycle.view(), job, 0, SPUR_PICK_TEST_ONLY);
            question.size = sizeof question;
            if (cycle.pick(question, nullptr) == SPUR_FITS) continue;
            doing("in explain()");
            plugin::StringSink text;
            if (cycle.ops().explain(cycle.get(), &question, text.get()) != SPUR_OK) continue;
            require(!text.text.empty(), "explain() answered SPUR_OK and wrote nothing");
        }
    });
}

constexpr RequiredOp required[] = {
    {"begin", offsetof(spur_select_ops, begin)}, {"end", offsetof(spur_select_ops, end)},
    {"slots", offsetof(spur_select_ops, slots)}, {"copy", offsetof(spur_select_ops, copy)},
    {"take", offsetof(spur_select_ops, take)},   {"give", offsetof(spur_select_ops, give)},
    {"pick", offsetof(spur_select_ops, pick)},
};
constexpr Case laws[] = {
    {"pick-sound", "a placement is free in its slot, usable, and what the job asked for; nothing allocates", &sound,
     120},
    {"pick-works", "jobs that fit are found a place", &works, 120},
    {"slots-restore", "copy, take and give restore a slot exactly; picks change nothing", &restores, 120},
    {"verdicts-agree", "test-only and empty-cluster picks agree with full ones", &verdicts, 120},
    {"small-buffers", "an answer that does not fit its buffers says how much it wants", &small_buffers, 120},
    {"screen", "screen() never turns away a job that fits", &screens, 120},
    {"idle-nodes", "idle_nodes() names only nodes where nothing runs", &idle_nodes, 120},
    {"explain", "explain() says something", &explains, 120},
};

}  // namespace

extern const Axis select_axis;
const Axis select_axis{"select", "spurctld", SPUR_SELECT_IFACE, first_size<spur_select_ops>, required, laws, &exercise};

}  // namespace spur::check
