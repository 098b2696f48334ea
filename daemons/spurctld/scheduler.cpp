#include "daemons/spurctld/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <future>

#include "core/validate.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::ctld {

namespace {

using Clock = std::chrono::steady_clock;

bool wants_scheduling(const Event& event) {
    return std::visit(
        []<class T>(const T&) {
            return std::is_same_v<T, ConfigChanged> || std::is_same_v<T, JobQueued> || std::is_same_v<T, JobEnded> ||
                   std::is_same_v<T, JobRequeued> || std::is_same_v<T, JobSuspended> || std::is_same_v<T, NodeFreed> ||
                   std::is_same_v<T, NodeChanged> || std::is_same_v<T, PartitionChanged> ||
                   std::is_same_v<T, ReservationChanged> || std::is_same_v<T, AssociationsChanged> ||
                   std::is_same_v<T, JobShrunk> || std::is_same_v<T, JobChanged>;
        },
        event);
}

void merge(Changes& into, const Changes& from) {
    into.everything = into.everything || from.everything;
    into.directory = into.directory || from.directory;
    if (into.everything) return;
    into.jobs.insert(into.jobs.end(), from.jobs.begin(), from.jobs.end());
    into.forgotten.insert(into.forgotten.end(), from.forgotten.begin(), from.forgotten.end());
    into.nodes.insert(into.nodes.end(), from.nodes.begin(), from.nodes.end());
}

}  // namespace

Scheduler::Scheduler(Engine& engine, PolicyPlugins plugins, SchedulerOptions options,
                     std::function<void(std::string)> log)
    : engine_{engine},
      plugins_{std::move(plugins)},
      planner_{plugins_.sched, plugins_.select},
      log_{std::move(log)},
      options_{options} {
    changes_.everything = true;
    model_ = engine_.model();
    thread_ = std::jthread{[this](const std::stop_token& stop) { loop(stop); }};
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
}

void Scheduler::wake() {
    {
        const std::lock_guard lock{mutex_};
        dirty_ = true;
        rescored_ = {};
    }
    wake_.notify_one();
}

void Scheduler::reconfigure(SchedulerOptions options) {
    {
        const std::lock_guard lock{mutex_};
        options_ = options;
    }
    wake();
}

Scheduler::Stats Scheduler::stats() const {
    const std::lock_guard lock{mutex_};
    return stats_;
}

void Scheduler::on_applied(const Cluster&, const Events& events, const Changes& changes,
                           const std::shared_ptr<const ReadModel>& model, bool leads) {
    const bool wanted = changes.everything || std::ranges::any_of(events, wants_scheduling);
    {
        const std::lock_guard lock{mutex_};
        merge(changes_, changes);
        model_ = model;
        dirty_ = dirty_ || wanted;
        leads_ = leads;
    }
    if (wanted && leads) wake_.notify_one();
}

void Scheduler::on_leadership(const Cluster&, const Leadership& now) {
    {
        const std::lock_guard lock{mutex_};
        leads_ = now.is_leader;
        dirty_ = true;
    }
    wake_.notify_one();
}

void Scheduler::loop(const std::stop_token& stop) {
    while (wait_for_work(stop)) cycle(stop);
}

bool Scheduler::wait_for_work(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    wake_.wait_for(lock, stop, options_.interval, [&] { return dirty_ && leads_; });
    return !stop.stop_requested();
}

void Scheduler::cycle(const std::stop_token& stop) {
    const auto begun = Clock::now();
    Changes changes;
    std::shared_ptr<const ReadModel> model;
    SchedulerOptions options;
    {
        const std::lock_guard lock{mutex_};
        if (!leads_) return;
        changes = std::exchange(changes_, {});
        model = model_;
        options = options_;
        dirty_ = false;
        if (begun - rescored_ > options.rescore_interval) {
            rescored_ = begun;
            changes.directory = true;
        }
    }
    const bool rescore = changes.directory || changes.everything;
    mirror_.update(model, changes);
    if (rescore) mirror_.rescore_all();
    const auto now = static_cast<UnixSeconds>(::time(nullptr));
    score(now);
    const auto& view = mirror_.view(now);
    if (view.pending_order.count == 0) {
        mirror_.end_cycle();
        return;
    }

    std::atomic<bool> stopping{false};
    const std::stop_callback on_stop{stop, [&] { stopping = true; }};
    const auto enforces = model->directory->policies.enforce & enforce_flag::limits;
    PlanCollector collector{
        mirror_, view, begun + options.budget, stopping, [&](const Job& job) {
            if (enforces == 0) return true;
            // Limits live with the cluster; the engine alone may look at it.
            std::promise<bool> answer;
            engine_.post([&] {
                const auto* live = engine_.cluster().find_job(job.id);
                answer.set_value(live == nullptr ||
                                 engine_.cluster().limit_reason(
                                     *live, requested_tres(engine_.cluster(), *live->spec)) == Reason::none);
            });
            return answer.get_future().get();
        }};
    // The planner keeps to the budget, says so when it does not, and lets no other thread into the collector.
    const auto planned = planner_.run(view, *collector.sink(), {options.budget, &stopping});
    if (!planned) log_(fmt::format("scheduling cycle failed: {}", planned.error().text));
    mirror_.end_cycle();

    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
    auto plan = collector.take();
    {
        const std::lock_guard lock{mutex_};
        ++stats_.cycles;
        stats_.started += plan.starts.size();
        stats_.last_us = static_cast<std::uint64_t>(took.count());
        stats_.total_us += stats_.last_us;
        stats_.max_us = std::max(stats_.max_us, stats_.last_us);
        stats_.last_pending = view.pending_order.count;
        if (took > options.budget) ++stats_.overruns;
    }
    carry_out(std::move(plan), stop);
}

void Scheduler::score(UnixSeconds now) {
    auto& slots = mirror_.unscored();
    if (slots.empty()) return;
    std::vector<spur_priority_query> queries;
    std::vector<std::uint32_t> asked;
    for (const auto slot : slots) {
        const auto& view = mirror_.pending().view(slot);
        if (view.id == 0) continue;
        const auto& job = *mirror_.pending().backing(slot).job;
        if (job.priority_set) {
            mirror_.place(slot, job.priority);
            continue;
        }
        const auto partition = view.partitions.count > 0 ? *SPUR_AT(std::uint32_t, view.partitions, 0) : SPUR_NONE;
        queries.push_back(
            {.job = slot, .partition = partition, .nice = job.spec->nice.value_or(0), .reserved = 0, .site = 0});
        asked.push_back(slot);
    }
    slots.clear();
    if (queries.empty()) return;
    std::vector<spur_priority> answers(queries.size());
    const spur_span span{queries.data(), static_cast<std::uint32_t>(queries.size()), sizeof(spur_priority_query)};
    const auto scored = plugins_.priority.call(&spur_priority_ops::score, &mirror_.view(now), span, answers.data(),
                                               static_cast<std::uint32_t>(sizeof(spur_priority)));
    if (!scored) log_(fmt::format("priorities could not be worked out: {}", scored.error().text));
    SetPending notes;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto total = scored ? std::min<std::uint64_t>(answers[i].total, UINT32_MAX) : 1;
        mirror_.place(asked[i], total);
        const auto& job = *mirror_.pending().backing(asked[i]).job;
        if (job.priority != total)
            notes.notes.push_back({.job = job.id, .priority = static_cast<std::uint32_t>(total)});
    }
    if (!notes.notes.empty()) engine_.propose(std::move(notes), {});
}

// Waits until every start has been decided: the next cycle then sees it as running, or as still waiting.
void Scheduler::carry_out(Plan plan, const std::stop_token& stop) {
    for (auto& complaint : plan.complaints) log_(fmt::format("plugin {}: {}", plugins_.sched.type(), complaint));
    for (const auto& preemption : plan.preemptions)
        engine_.propose(PreemptJob{preemption.victim, preemption.attempt, preemption.mode, preemption.preemptor}, {});
    // Components of one heterogeneous job start together.
    std::vector<StartJob> starts;
    std::unordered_map<std::uint32_t, std::size_t> groups;
    for (auto& placement : plan.starts) {
        const auto& job = mirror_.model().jobs.get(placement.job.value);
        const auto group = job ? job->het_job.value : 0;
        if (group != 0) {
            const auto [found, is_new] = groups.try_emplace(group, starts.size());
            if (is_new) starts.emplace_back();
            starts[found->second].parts.push_back(std::move(placement));
        } else {
            starts.push_back({{std::move(placement)}});
        }
    }
    if (!plan.notes.empty()) engine_.propose(SetPending{std::move(plan.notes)}, {});
    if (starts.empty()) return;

    struct Progress {
        std::mutex mutex;
        std::condition_variable_any done;
        std::size_t left;
    };
    auto progress = std::make_shared<Progress>();
    progress->left = starts.size();
    for (auto& start : starts)
        engine_.propose(std::move(start), [this, progress](const Result<Events>& result) {
            // A conflict is ordinary: the cluster moved on while the plan was made.
            if (!result && result.error().code == ErrorCode::conflict)
                log::debug("a planned start was refused: {}", result.error().text);
            else if (!result)
                log_(fmt::format("a planned start was refused: {}", result.error().text));
            const std::lock_guard lock{progress->mutex};
            if (--progress->left == 0) progress->done.notify_all();
        });
    std::unique_lock lock{progress->mutex};
    progress->done.wait(lock, stop, [&] { return progress->left == 0; });
}

}  // namespace spur::ctld
