// The laws of spur.priority/1.
#include "case.hpp"
#include "cluster.hpp"
#include "counters.hpp"
#include "instance.hpp"

#include <spur/plugin/priority.h>

#include <cmath>
#include <cstring>

namespace spur::check {
namespace {

using plugin::Records;

const spur_priority_ops& ops_of(Instance& instance) { return instance.ops<spur_priority_ops>(SPUR_PRIORITY_IFACE); }

// One query per pending job, nice and site at random.
std::vector<spur_priority_query> queries_for(const spur_cluster_view& view, Dice& dice) {
    std::vector<spur_priority_query> queries;
    for (const auto slot : Records<std::uint32_t>(view.pending_order))
        queries.push_back({slot, *SPUR_AT(std::uint32_t, SPUR_AT(spur_job_view, view.pending, slot)->partitions, 0),
                           dice.one_in(4) ? static_cast<std::int32_t>(dice.below(2000)) - 1000 : 0, 0,
                           dice.one_in(4) ? dice.fraction() : 0.0});
    return queries;
}

std::vector<spur_priority> score(Instance& instance, const spur_cluster_view& view,
                                 const std::vector<spur_priority_query>& queries, Shape shape = {}) {
    Memory memory(shape);
    const auto stride = length_in<spur_priority>(shape);
    const Fence out(stride * queries.size());
    ErrorBox err(shape);
    doing("in score()");
    const auto status =
        ops_of(instance).score(instance.self(), &view, memory.span(queries), static_cast<spur_priority*>(out.data()),
                               static_cast<std::uint32_t>(stride), err.get());
    expect_ok("score()", status, err);
    out.check("score()");
    std::vector<spur_priority> answers(queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
        std::memcpy(&answers[i], static_cast<const char*>(out.data()) + i * stride,
                    std::min(stride, sizeof answers[i]));
        std::uint64_t untouched = 0;
        std::memset(&untouched, Fence::guard, sizeof untouched);
        require(answers[i].total != untouched, "score() left record {} of {} as it was: step by out_stride", i,
                queries.size());
    }
    return answers;
}

void check_factors(const spur_priority& answer, std::uint32_t id) {
    require(answer.total >= 1, "job {} has a total of 0: that stands for held jobs", id);
    for (std::uint32_t f = 0; f < SPUR_FACTOR_COUNT; ++f) {
        require(std::isfinite(answer.raw[f]) && std::isfinite(answer.weighted[f]),
                "factor {} of job {} is NaN or infinite", f, id);
        require(answer.raw[f] >= 0 && answer.raw[f] <= 1, "factor {} of job {} is {}, outside [0, 1]", f, id,
                answer.raw[f]);
    }
}

void exercise(const Subject& subject, Instance& instance, const Shape& shape) {
    Dice dice(subject.seed);
    const Cluster cluster(dice, {}, shape);
    const auto queries = queries_for(cluster.view(), dice);
    const auto answers = score(instance, cluster.view(), queries, shape);
    for (std::size_t i = 0; i < queries.size(); ++i)
        check_factors(answers[i], SPUR_AT(spur_job_view, cluster.view().pending, queries[i].job)->id);
}

template <class Body>
std::string over_clusters(const Subject& subject, Body body) {
    Bench bench(subject);
    for (unsigned i = 0; i < subject.clusters; ++i) {
        Dice dice(subject.seed + i);
        Cluster cluster(dice, {});
        try {
            body(bench.instance(), cluster, dice);
        } catch (const Failed& failed) {
            fail("{} (seed {})", failed.text, subject.seed + i);
        }
    }
    bench.finish();
    return fmt::format("{} clusters", subject.clusters);
}

std::string factors(const Subject& subject) {
    return over_clusters(subject, [](Instance& instance, Cluster& cluster, Dice& dice) {
        const auto queries = queries_for(cluster.view(), dice);
        const auto answers = score(instance, cluster.view(), queries);
        for (std::size_t i = 0; i < queries.size(); ++i)
            check_factors(answers[i], cluster.edit_pending(queries[i].job).id);
    });
}

std::string deterministic(const Subject& subject) {
    Bench other(subject);
    return over_clusters(subject, [&](Instance& instance, Cluster& cluster, Dice& dice) {
        const auto queries = queries_for(cluster.view(), dice);
        const auto once = score(instance, cluster.view(), queries), again = score(instance, cluster.view(), queries),
                   elsewhere = score(other.instance(), cluster.view(), queries);
        for (std::size_t i = 0; i < queries.size(); ++i) {
            require(once[i].total == again[i].total, "the same view gave job {} two totals",
                    cluster.edit_pending(queries[i].job).id);
            require(once[i].total == elsewhere[i].total, "two instances gave job {} two totals",
                    cluster.edit_pending(queries[i].job).id);
        }
    });
}

std::string age(const Subject& subject) {
    return over_clusters(subject, [](Instance& instance, Cluster& cluster, Dice& dice) {
        if (cluster.view().pending_order.count == 0) return;
        const auto queries = queries_for(cluster.view(), dice);
        const auto which = dice.below(static_cast<std::uint32_t>(queries.size()));
        auto& job = cluster.edit_pending(queries[which].job);
        auto before = score(instance, cluster.view(), queries)[which].total;
        for (const std::int64_t older : {1, 60, 3600, 86400, 30 * 86400, 3650 * 86400}) {
            const auto submitted = job.submitted, eligible = job.eligible;
            job.submitted -= older;
            job.eligible -= older;
            const auto after = score(instance, cluster.view(), queries)[which].total;
            require(after >= before, "job {} is {}s older and worth less: {} instead of {}", job.id, older, after,
                    before);
            job.submitted = submitted;
            job.eligible = eligible;
            before = after;
        }
    });
}

std::string odd_views(const Subject& subject) {
    return over_clusters(subject, [](Instance& instance, Cluster& cluster, Dice& dice) {
        auto queries = queries_for(cluster.view(), dice);
        score(instance, cluster.view(), {});
        cluster.edit().associations.count = 0;  // no accounting at all
        cluster.edit().qos.count = 0;
        for (auto& query : queries) {
            auto& job = cluster.edit_pending(query.job);
            job.association = job.qos = SPUR_NONE;
            job.submitted = job.eligible = cluster.view().now + 1000;  // a clock that was set back
            query.nice = dice.one_in(2) ? INT32_MAX : INT32_MIN;
        }
        const auto answers = score(instance, cluster.view(), queries);
        for (std::size_t i = 0; i < queries.size(); ++i)
            check_factors(answers[i], cluster.edit_pending(queries[i].job).id);
    });
}

std::string decay(const Subject& subject) {
    Bench bench(subject);
    const auto& ops = ops_of(bench.instance());
    doing("in decay()");
    require(ops.decay(bench.self(), 0) == 1, "decay(0) is {}, not 1", ops.decay(bench.self(), 0));
    double before = 1;
    for (double seconds = 1; seconds < 1e12; seconds *= 1.7) {
        const double now = ops.decay(bench.self(), seconds);
        require(std::isfinite(now) && now >= 0 && now <= 1, "decay({}) is {}, outside [0, 1]", seconds, now);
        require(now <= before, "decay({}) is {}, more than a moment before ({})", seconds, now, before);
        before = now;
    }
    bench.finish();
    return "";
}

std::string shares(const Subject& subject) {
    return over_clusters(subject, [](Instance& instance, Cluster& cluster, Dice&) {
        const auto& ops = ops_of(instance);
        if (!SPUR_CAN(spur_priority_ops, &ops, shares)) skip("shares is optional and absent");
        const auto count = cluster.view().associations.count;
        for (const Shape shape : {Shape{}, Shape{.extra = 72}}) {
            const auto stride = length_in<spur_share>(shape);
            const Fence out(stride * count);
            ErrorBox err(shape);
            doing("in shares()");
            expect_ok("shares()",
                      ops.shares(instance.self(), &cluster.view(), static_cast<spur_share*>(out.data()),
                                 static_cast<std::uint32_t>(stride), err.get()),
                      err);
            out.check("shares()");
            for (std::uint32_t i = 0; i < count; ++i) {
                spur_share line{};
                std::memcpy(&line, static_cast<const char*>(out.data()) + i * stride, std::min(stride, sizeof line));
                const bool finite = std::isfinite(line.normalised_shares) && std::isfinite(line.normalised_usage) &&
                                    std::isfinite(line.effective_usage) && !std::isnan(line.level);
                require(finite, "shares() answered NaN or infinity");
                require(line.factor >= 0 && line.factor <= 1, "a fair-share factor is {}, outside [0, 1]", line.factor);
            }
        }
    });
}

std::string weights(const Subject& subject) {
    Bench bench(subject);
    const auto& ops = ops_of(bench.instance());
    if (!SPUR_CAN(spur_priority_ops, &ops, weights)) skip("weights is optional and absent");
    for (std::uint32_t count = 0; count <= SPUR_FACTOR_COUNT + 2; ++count) {
        std::vector<double> out(count + 1, 0.125);
        doing("in weights()");
        ops.weights(bench.self(), out.data(), count);
        require(out[count] == 0.125, "weights() wrote past the {} places it was given", count);
        for (std::uint32_t i = 0; i < count; ++i) require(std::isfinite(out[i]), "weight {} is NaN or infinite", i);
    }
    bench.finish();
    return "";
}

std::string reads_no_clock(const Subject& subject) {
    Bench bench(subject);
    Dice dice(subject.seed);
    const Cluster cluster(dice, {});
    const auto queries = queries_for(cluster.view(), dice);
    const auto before = counts().clock_reads;
    score(bench.instance(), cluster.view(), queries);
    require(counts().clock_reads == before, "score() read a clock: view->now is the only clock");
    require(bench.host().clock_calls() == 0, "uses spur.clock/1: view->now is the only clock");
    bench.finish();
    return "";
}

constexpr RequiredOp required[] = {{"score", offsetof(spur_priority_ops, score)},
                                   {"decay", offsetof(spur_priority_ops, decay)}};
constexpr Case laws[] = {
    {"factors", "totals are at least 1, factors lie in [0, 1], nothing is NaN", &factors},
    {"score-deterministic", "the same view gives the same totals", &deterministic},
    {"score-age", "a job does not lose by waiting", &age},
    {"score-odd-views", "an empty queue, no accounts, extreme nice values and clocks set back are no trouble",
     &odd_views},
    {"score-no-clock", "score() reads no clock", &reads_no_clock},
    {"decay", "decay is 1 at first, never grows and stays in [0, 1]", &decay},
    {"shares", "the fair-share picture has no NaN and factors in [0, 1]", &shares},
    {"weights", "weights() writes no more than it was asked for", &weights},
};

}  // namespace

extern const Axis priority_axis;
const Axis priority_axis{"priority", "spurctld", SPUR_PRIORITY_IFACE, first_size<spur_priority_ops>, required,
                         laws,       &exercise};

}  // namespace spur::check
