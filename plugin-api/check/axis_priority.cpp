// The laws of spur.priority/1.
#include "case.hpp"
#include "cluster.hpp"
#include "counters.hpp"
#include "instance.hpp"

#include <spur/plugin/priority.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

namespace spur::check {
namespace {

using plugin::Records;

const spur_priority_ops& ops_of(Instance& instance) { return instance.ops<spur_priority_ops>(SPUR_PRIORITY_IFACE); }

// One query per pending job, nice and site factor at random.
std::vector<spur_priority_query> queries_for(const spur_cluster_view& view, Dice& dice) {
    const auto points = [&] { return dice.one_in(4) ? static_cast<std::int64_t>(dice.below(2000)) - 1000 : 0; };
    std::vector<spur_priority_query> queries;
    for (const auto slot : Records<std::uint32_t>(view.pending_order))
        queries.push_back({slot, *SPUR_AT(std::uint32_t, SPUR_AT(spur_job_view, view.pending, slot)->partitions, 0),
                           points(), points()});
    return queries;
}

struct Named {
    std::string name;
    double weight;
    bool operator==(const Named&) const = default;
};

// What factors() pushes; after `most` of them the sink says stop.
std::vector<Named> factors_of(Instance& instance, Shape shape = {}, std::size_t most = 4096) {
    const auto& ops = ops_of(instance);
    if (!SPUR_CAN(spur_priority_ops, &ops, factors)) return {};
    struct Taken {
        std::vector<Named> list;
        std::size_t most;
        bool stopped = false;
    } taken{{}, most};
    Memory memory(shape);
    const auto* sink = memory.one(spur_factor_sink{
        0, 0, &taken, [](const spur_factor_sink* self, const spur_factor* factor) -> spur_status {
            auto& to = *static_cast<Taken*>(self->context);
            require(!to.stopped, "factors() went on after its sink said stop");
            require(SPUR_HAS(spur_factor, factor, weight), "a factor has size {}, too small for the first release",
                    factor->size);
            to.stopped = to.list.size() == to.most;
            if (to.stopped) return SPUR_E_BUSY;
            to.list.push_back({std::string(plugin::view(factor->name)), factor->weight});
            return SPUR_OK;
        }});
    ErrorBox err(shape);
    doing("in factors()");
    const auto status = ops.factors(instance.self(), sink, err.get());
    if (!taken.stopped)
        expect_ok("factors()", status, err);
    else
        require(status == SPUR_E_BUSY, "factors() was told to stop and answered {}", status);
    return std::move(taken.list);
}

struct Scored {
    spur_priority total{};
    std::vector<double> raw, weighted;
};

// With `columns` places for factors, or as many as there are.
std::vector<Scored> score(Instance& instance, const spur_cluster_view& view,
                          const std::vector<spur_priority_query>& queries, Shape shape = {},
                          std::optional<std::uint32_t> columns = {}) {
    Memory memory(shape);
    const auto count = columns.value_or(static_cast<std::uint32_t>(factors_of(instance, shape).size()));
    const auto stride = length_in<spur_priority>(shape);
    const Fence totals(stride * queries.size());
    const Fence raw(sizeof(double) * count * queries.size()), weighted(sizeof(double) * count * queries.size());
    const auto* out = memory.one(spur_scores{.size = 0,
                                             .factor_count = count,
                                             .totals = static_cast<spur_priority*>(totals.data()),
                                             .total_stride = static_cast<std::uint32_t>(stride),
                                             .reserved = 0,
                                             .raw = static_cast<double*>(raw.data()),
                                             .weighted = static_cast<double*>(weighted.data())});
    ErrorBox err(shape);
    doing("in score()");
    expect_ok("score()", ops_of(instance).score(instance.self(), &view, memory.span(queries), out, err.get()), err);
    for (const auto* fence : {&totals, &raw, &weighted}) fence->check("score()");
    std::vector<Scored> answers(queries.size());
    for (std::size_t i = 0; i < queries.size(); ++i) {
        std::memcpy(&answers[i].total, static_cast<const char*>(totals.data()) + i * stride,
                    std::min(stride, sizeof answers[i].total));
        std::uint64_t untouched = 0;
        std::memset(&untouched, Fence::guard, sizeof untouched);
        require(answers[i].total.total != untouched, "score() left record {} of {} as it was: step by total_stride", i,
                queries.size());
        const auto* const from = static_cast<const double*>(raw.data()) + i * count;
        const auto* const added = static_cast<const double*>(weighted.data()) + i * count;
        answers[i].raw.assign(from, from + count);
        answers[i].weighted.assign(added, added + count);
    }
    return answers;
}

void check_answer(const Scored& answer, const std::vector<Named>& factors, std::uint32_t id) {
    require(answer.total.total >= 1, "job {} has a total of 0: that stands for held jobs", id);
    require(std::isfinite(answer.total.exact), "the exact total of job {} is NaN or infinite", id);
    for (std::size_t f = 0; f < factors.size(); ++f) {
        require(std::isfinite(answer.raw[f]) && std::isfinite(answer.weighted[f]),
                "factor {} of job {} is NaN or infinite", factors[f].name, id);
        require(answer.raw[f] >= 0 && answer.raw[f] <= 1, "factor {} of job {} is {}, outside [0, 1]", factors[f].name,
                id, answer.raw[f]);
    }
}

void exercise(const Subject& subject, Instance& instance, const Shape& shape) {
    Dice dice(subject.seed);
    const Cluster cluster(dice, {}, shape);
    const auto queries = queries_for(cluster.view(), dice);
    const auto named = factors_of(instance, shape);
    const auto answers = score(instance, cluster.view(), queries, shape);
    for (std::size_t i = 0; i < queries.size(); ++i)
        check_answer(answers[i], named, SPUR_AT(spur_job_view, cluster.view().pending, queries[i].job)->id);
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
        const auto named = factors_of(instance);
        for (std::size_t i = 0; i < queries.size(); ++i)
            check_answer(answers[i], named, cluster.edit_pending(queries[i].job).id);
    });
}

std::string deterministic(const Subject& subject) {
    Bench other(subject);
    return over_clusters(subject, [&](Instance& instance, Cluster& cluster, Dice& dice) {
        const auto queries = queries_for(cluster.view(), dice);
        const auto once = score(instance, cluster.view(), queries), again = score(instance, cluster.view(), queries),
                   elsewhere = score(other.instance(), cluster.view(), queries);
        for (std::size_t i = 0; i < queries.size(); ++i) {
            require(once[i].total.total == again[i].total.total, "the same view gave job {} two totals",
                    cluster.edit_pending(queries[i].job).id);
            require(once[i].total.total == elsewhere[i].total.total, "two instances gave job {} two totals",
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
        auto before = score(instance, cluster.view(), queries)[which].total.total;
        for (const std::int64_t older : {1, 60, 3600, 86400, 30 * 86400, 3650 * 86400}) {
            const auto submitted = job.submitted, eligible = job.eligible;
            job.submitted -= older;
            job.eligible -= older;
            const auto after = score(instance, cluster.view(), queries)[which].total.total;
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
            query.site_factor = dice.one_in(2) ? INT32_MAX : INT32_MIN;
        }
        const auto answers = score(instance, cluster.view(), queries);
        const auto named = factors_of(instance);
        for (std::size_t i = 0; i < queries.size(); ++i)
            check_answer(answers[i], named, cluster.edit_pending(queries[i].job).id);
    });
}

std::string decay(const Subject& subject) {
    Bench bench(subject);
    const auto& ops = ops_of(bench.instance());
    constexpr std::int64_t from = 1'800'000'000;
    doing("in decay()");
    require(ops.decay(bench.self(), from, from) == 1, "decay over no time is {}, not 1",
            ops.decay(bench.self(), from, from));
    double before = 1;
    for (std::int64_t seconds = 1; seconds < 1'000'000'000'000; seconds = seconds * 17 / 10 + 1) {
        const double now = ops.decay(bench.self(), from, from + seconds);
        require(std::isfinite(now) && now >= 0 && now <= 1, "decay over {} s is {}, outside [0, 1]", seconds, now);
        require(now <= before, "decay over {} s is {}, more than over less time ({})", seconds, now, before);
        const double halves = ops.decay(bench.self(), from, from + seconds / 2) *
                              ops.decay(bench.self(), from + seconds / 2, from + seconds);
        require(std::abs(halves - now) < 1e-6, "decay over {} s is {}, but {} in two steps", seconds, now, halves);
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

bool is_name(std::string_view name) {
    return !name.empty() && name.size() < 64 && std::ranges::all_of(name, [](unsigned char letter) {
        return letter < 128 && (std::isalnum(letter) != 0 || std::strchr("_.-/", letter) != nullptr);
    });
}

std::string names(const Subject& subject) {
    Bench bench(subject);
    if (!SPUR_CAN(spur_priority_ops, &ops_of(bench.instance()), factors)) skip("factors is optional and absent");
    const auto listed = factors_of(bench.instance());
    std::set<std::string> seen;
    for (const auto& [name, weight] : listed) {
        require(is_name(name), "a factor is called \"{}\": 1 to 63 letters, digits and _.-/", name);
        require(seen.insert(name).second, "two factors are called {}", name);
        require(std::isfinite(weight), "the weight of {} is NaN or infinite", name);
    }
    require(factors_of(bench.instance()) == listed, "factors() answers differently when asked again");
    for (std::size_t most = 0; most < listed.size(); ++most) factors_of(bench.instance(), {}, most);
    bench.finish();
    return fmt::format("{} factors", listed.size());
}

std::string columns(const Subject& subject) {
    Bench bench(subject);
    Dice dice(subject.seed);
    const Cluster cluster(dice, {});
    const auto queries = queries_for(cluster.view(), dice);
    const auto all = static_cast<std::uint32_t>(factors_of(bench.instance()).size());
    const auto whole = score(bench.instance(), cluster.view(), queries);
    for (std::uint32_t count = 0; count <= all + 2; ++count) {
        const auto some = score(bench.instance(), cluster.view(), queries, {}, count);
        for (std::size_t i = 0; i < queries.size(); ++i) {
            require(some[i].total.total == whole[i].total.total, "with {} columns a total is another", count);
            for (std::uint32_t f = 0; f < std::min(count, all); ++f)
                require(some[i].weighted[f] == whole[i].weighted[f], "with {} columns factor {} stands elsewhere",
                        count, f);
        }
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
    {"names", "factors have names that can be shown, each once, and finite weights", &names},
    {"columns", "score() writes no more factors than it was given room for", &columns},
};

}  // namespace

extern const Axis priority_axis;
const Axis priority_axis{"priority", "spurctld", SPUR_PRIORITY_IFACE, first_size<spur_priority_ops>, required,
                         laws,       &exercise};

}  // namespace spur::check
