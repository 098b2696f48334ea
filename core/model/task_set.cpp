// Sets of array task ids, kept as progressions: what an operation costs depends on how many of those there are, not on
// how many tasks they hold.
#include "core/model/array_spec.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace spur {
namespace {

using Run = TaskSet::Run;
constexpr auto everything = std::numeric_limits<std::size_t>::max();

bool is_single(const Run& run) { return run.first == run.last; }
std::size_t size_of(const Run& run) { return (run.last - run.first) / run.step + 1; }
Run run_of(std::uint32_t first, std::uint32_t last, std::uint32_t step) {
    return {first, last, first == last ? 1 : step};
}

// Adds a run that lies after all others, joined to the last one where both make a single progression.
void push_run(std::vector<Run>& runs, Run run) {
    if (!runs.empty()) {
        auto& last = runs.back();
        const auto gap = run.first - last.last;
        const bool continues_last = is_single(last) || last.step == gap;
        const bool continues_run = is_single(run) || run.step == gap;
        if (continues_last && continues_run) {
            last = {last.first, run.last, gap};
            return;
        }
    }
    runs.push_back(run);
}

template <class Visit>
void for_each_id(const std::vector<Run>& runs, const Visit& visit) {
    for (const auto& run : runs)
        for (std::uint64_t id = run.first; id <= run.last; id += run.step) visit(static_cast<std::uint32_t>(id));
}

// The run that holds `id` or the first one after it.
auto run_at(const std::vector<Run>& runs, std::uint32_t id) {
    return std::ranges::lower_bound(runs, id, {}, &Run::last);
}

bool holds(const Run& run, std::uint32_t id) {
    return id >= run.first && id <= run.last && (id - run.first) % run.step == 0;
}

// The smallest member that is at least `from`, which is not above the last one.
std::uint32_t member_from(const Run& run, std::uint32_t from) {
    if (from <= run.first) return run.first;
    const auto past = (from - run.first) % run.step;
    return past == 0 ? from : from - past + run.step;
}

// x with a * x = 1 modulo m; a and m have no common divisor.
std::uint64_t inverse(std::uint64_t a, std::uint64_t m) {
    std::int64_t x = 0, next = 1;
    for (auto r = m, s = a % m; s != 0;) {
        const auto times = r / s;
        x = std::exchange(next, x - static_cast<std::int64_t>(times) * next);
        r = std::exchange(s, r - times * s);
    }
    return x < 0 ? static_cast<std::uint64_t>(x + static_cast<std::int64_t>(m)) : static_cast<std::uint64_t>(x);
}

// What two progressions have in common is a progression again.
std::optional<Run> common(const Run& a, const Run& b) {
    const auto low = std::max(a.first, b.first);
    const auto high = std::min(a.last, b.last);
    if (low > high) return std::nullopt;
    const std::uint64_t start = member_from(a, low);
    const std::uint64_t divisor = std::gcd(a.step, b.step);
    const std::uint64_t cycle = b.step / divisor;
    const std::uint64_t distance = (b.step + b.first % b.step - start % b.step) % b.step;
    if (distance % divisor != 0) return std::nullopt;
    const auto turns = distance / divisor * inverse(a.step / divisor, cycle) % cycle;
    const auto first = start + turns * a.step;
    if (first > high) return std::nullopt;
    const auto step = a.step * cycle;
    const auto last = first + (high - first) / step * step;
    return run_of(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last),
                  static_cast<std::uint32_t>(std::min<std::uint64_t>(step, UINT32_MAX)));
}

// Visits what each two runs have in common, in order, until `visit` says false.
template <class Visit>
void for_each_common(const std::vector<Run>& ours, const std::vector<Run>& theirs, const Visit& visit) {
    for (auto a = ours.begin(), b = theirs.begin(); a != ours.end() && b != theirs.end();) {
        if (const auto both = common(*a, *b); both && !visit(*both)) return;
        a->last < b->last ? ++a : ++b;
    }
}

// Joins runs of one step that overlap or follow each other.
std::vector<Run> joined(std::vector<Run> runs) {
    const auto kin = [](const Run& run) { return std::pair{run.step, run.first % run.step}; };
    std::ranges::sort(runs, {}, [&](const Run& run) { return std::pair{kin(run), run.first}; });
    std::vector<Run> result;
    for (const auto& run : runs) {
        if (!result.empty() && kin(result.back()) == kin(run) &&
            run.first <= std::uint64_t{result.back().last} + run.step)
            result.back().last = std::max(result.back().last, run.last);
        else
            result.push_back(run);
    }
    return result;
}

// Appends what is left of `run` without the ranges of step 1 in `dense`, which are in order.
void append_outside(Run run, std::span<const Run> dense, std::vector<Run>& out) {
    for (;;) {
        const auto cut = std::ranges::lower_bound(dense, run.first, {}, &Run::last);
        if (cut == dense.end() || cut->first > run.last) break;
        if (cut->first > run.first) {
            const auto last = run.first + (cut->first - 1 - run.first) / run.step * run.step;
            out.push_back(run_of(run.first, last, run.step));
        }
        if (cut->last >= run.last) return;
        run = run_of(member_from(run, cut->last + 1), run.last, run.step);
    }
    out.push_back(run);
}

}  // namespace

TaskSet TaskSet::range(std::uint32_t first, std::uint32_t last, std::uint32_t step) {
    TaskSet set;
    if (first <= last && step > 0) set.runs_.push_back(run_of(first, last - (last - first) % step, step));
    return set;
}

TaskSet TaskSet::of(std::vector<std::uint32_t> ids) {
    std::ranges::sort(ids);
    const auto repeats = std::ranges::unique(ids);
    ids.erase(repeats.begin(), repeats.end());
    TaskSet set;
    for (const auto id : ids) push_run(set.runs_, run_of(id, id, 1));
    return set;
}

std::optional<TaskSet> TaskSet::from_runs(std::vector<Run> runs) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto& run = runs[i];
        if (run.step == 0 || run.first > run.last || (run.last - run.first) % run.step != 0) return std::nullopt;
        if (is_single(run) && run.step != 1) return std::nullopt;
        if (i > 0 && run.first <= runs[i - 1].last) return std::nullopt;
    }
    TaskSet set;
    set.runs_ = std::move(runs);
    return set;
}

std::size_t TaskSet::size() const {
    std::size_t total = 0;
    for (const auto& run : runs_) total += size_of(run);
    return total;
}

bool TaskSet::contains(std::uint32_t id) const {
    const auto run = run_at(runs_, id);
    return run != runs_.end() && holds(*run, id);
}

std::optional<std::uint32_t> TaskSet::last() const {
    if (runs_.empty()) return std::nullopt;
    return runs_.back().last;
}

std::optional<std::uint32_t> TaskSet::next(std::uint32_t from) const {
    const auto run = run_at(runs_, from);
    if (run == runs_.end()) return std::nullopt;
    return member_from(*run, from);
}

bool TaskSet::insert(std::uint32_t id) {
    if (contains(id)) return false;
    std::vector<Run> runs;
    runs.reserve(runs_.size() + 2);
    bool is_placed = false;
    for (const auto& run : runs_) {
        if (is_placed || run.last < id) {
            push_run(runs, run);
            continue;
        }
        is_placed = true;
        if (run.first < id) {  // between two members of a run with a step
            const auto below = id - (id - run.first) % run.step;
            push_run(runs, run_of(run.first, below, run.step));
            push_run(runs, run_of(id, id, 1));
            push_run(runs, run_of(below + run.step, run.last, run.step));
        } else {
            push_run(runs, run_of(id, id, 1));
            push_run(runs, run);
        }
    }
    if (!is_placed) push_run(runs, run_of(id, id, 1));
    runs_ = std::move(runs);
    return true;
}

bool TaskSet::remove(std::uint32_t id) {
    const auto found = run_at(runs_, id);
    if (found == runs_.end() || !holds(*found, id)) return false;
    const auto at = runs_.begin() + (found - runs_.begin());
    const auto run = *at;
    if (is_single(run)) {
        runs_.erase(at);
    } else if (id == run.first) {
        *at = run_of(run.first + run.step, run.last, run.step);
    } else if (id == run.last) {
        *at = run_of(run.first, run.last - run.step, run.step);
    } else {
        *at = run_of(run.first, id - run.step, run.step);
        runs_.insert(at + 1, run_of(id + run.step, run.last, run.step));
    }
    return true;
}

bool TaskSet::intersects(const TaskSet& other) const {
    bool found = false;
    for_each_common(runs_, other.runs_, [&](const Run&) {
        found = true;
        return false;
    });
    return found;
}

TaskSet TaskSet::operator&(const TaskSet& other) const {
    TaskSet set;
    for_each_common(runs_, other.runs_, [&](const Run& both) {
        push_run(set.runs_, both);
        return true;
    });
    return set;
}

TaskSet TaskSet::operator-(const TaskSet& other) const {
    TaskSet set;
    for_each_id(runs_, [&](auto id) {
        if (!other.contains(id)) push_run(set.runs_, run_of(id, id, 1));
    });
    return set;
}

TaskSet TaskSet::operator|(const TaskSet& other) const {
    if (other.empty()) return *this;
    if (empty()) return other;
    TaskSet set;
    for (auto a = first(), b = other.first(); a || b;) {
        const auto id = !b || (a && *a <= *b) ? *a : *b;
        push_run(set.runs_, run_of(id, id, 1));
        if (a && *a == id) a = id == std::numeric_limits<std::uint32_t>::max() ? std::nullopt : next(id + 1);
        if (b && *b == id) b = id == std::numeric_limits<std::uint32_t>::max() ? std::nullopt : other.next(id + 1);
    }
    return set;
}

bool TaskSet::operator==(const TaskSet& other) const {
    if (runs_ == other.runs_) return true;
    return size() == other.size() && ids() == other.ids();  // the same ids may be cut into runs in more than one way
}

std::vector<std::uint32_t> TaskSet::ids() const {
    std::vector<std::uint32_t> result;
    result.reserve(size());
    for_each_id(runs_, [&](auto id) { result.push_back(id); });
    return result;
}

std::optional<TaskSet> TaskSet::united(std::vector<Run> runs, std::size_t most_mixed) {
    runs = joined(std::move(runs));
    const auto first_stepped = std::ranges::find_if(runs, [](const Run& run) { return run.step != 1; });
    const std::vector<Run> dense(runs.begin(), first_stepped);
    auto pieces = dense;
    for (auto run = first_stepped; run != runs.end(); ++run) {
        append_outside(*run, dense, pieces);
        if (pieces.size() - dense.size() > std::max(runs.size(), most_mixed)) return std::nullopt;
    }
    std::ranges::sort(pieces, {}, &Run::first);
    std::vector<Run> result;
    std::vector<std::uint32_t> mixed;  // members of pieces that overlap
    for (auto begin = pieces.begin(); begin != pieces.end();) {
        auto end = std::next(begin);
        for (auto last = begin->last; end != pieces.end() && end->first <= last; ++end)
            last = std::max(last, end->last);
        if (std::distance(begin, end) == 1) {
            push_run(result, *begin);
        } else {
            for (auto piece = begin; piece != end; ++piece) {
                if (size_of(*piece) > most_mixed) return std::nullopt;
                most_mixed -= size_of(*piece);
                for (std::uint64_t id = piece->first; id <= piece->last; id += piece->step)
                    mixed.push_back(static_cast<std::uint32_t>(id));
            }
            const auto listed = of(std::exchange(mixed, {}));
            for (const auto& run : listed.runs()) push_run(result, run);
        }
        begin = end;
    }
    return from_runs(std::move(result));
}

std::string TaskSet::ranges(std::size_t enough) const {
    std::string text;
    std::optional<std::pair<std::uint32_t, std::uint32_t>> open;
    const auto close = [&] {
        if (!open) return;
        if (!text.empty()) text += ',';
        text += open->first == open->second ? fmt::format("{}", open->first)
                                            : fmt::format("{}-{}", open->first, open->second);
    };
    const auto extend = [&](std::uint32_t first, std::uint32_t last) {
        if (open && open->second + 1 == first) {
            open->second = last;
        } else {
            close();
            open = {first, last};
        }
    };
    for (const auto& run : runs_) {
        if (run.step == 1) {
            extend(run.first, run.last);
            continue;
        }
        for (std::uint64_t id = run.first; id <= run.last && text.size() <= enough; id += run.step)
            extend(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id));
    }
    close();
    return text;
}

// Slurm writes one long progression as first-last:step, and shorter ones in full.
std::optional<std::string> TaskSet::progression() const {
    constexpr std::size_t listed_in_full = 5;
    if (runs_.size() != 1) return std::nullopt;
    const auto& run = runs_.front();
    if (run.step == 1 || size_of(run) <= listed_in_full) return std::nullopt;
    return fmt::format("{}-{}:{}", run.first, run.last, run.step);
}

std::string TaskSet::str() const { return progression().value_or(ranges(everything)); }

}  // namespace spur
