// Handing over, sending, spilling.
#include "daemons/spurctld/accounting/outbox_sender.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/model/config.hpp"
#include "daemons/spurctld/accounting/mirror.hpp"
#include "daemons/spurctld/service/convert.hpp"

namespace spur::ctld {
namespace {

constexpr std::uint32_t message_version = 1;

// The run that an entry is about: the one to come where the job waits for it.
std::uint32_t run_of(const Job& job) { return job.allocation ? std::max(job.attempt, 1U) : job.attempt + 1; }

// As Slurm's accounting has a step's end: whoever was ended, by a signal or with its job, was cancelled.
void end_to_wire(const Step& step, v1::Step& wire) {
    const bool was_signaled = (step.exit_status & 0x7f) != 0 && step.state == JobState::failed;
    const bool went_with_job =
        step.state == JobState::timeout || step.state == JobState::preempted || step.state == JobState::deadline;
    if (was_signaled || went_with_job) wire.set_state(std::string{to_string(JobState::cancelled)});
}

// `with_request`: script and environment too, where history is to keep them.
void to_wire(const planning::ReadModel& model, const OutboxSender::Options& options, const OutboxEntry& entry,
             bool with_request, v1::HistoryEntry& wire) {
    wire.set_sequence(entry.sequence);
    wire.set_at(entry.at);
    if (entry.event) return event_to_row(*entry.event, *wire.mutable_row());
    if (entry.change) return change_to_row(*entry.change, entry.at, *wire.mutable_row());
    if (entry.reservation) return reservation_to_row(model, *entry.reservation, *wire.mutable_row());
    if (entry.kind == OutboxKind::mirror)
        return mirror_to_rows(model, options.control_host, options.control_port, *wire.mutable_mirror());
    if (entry.step) {
        auto& out = *wire.mutable_step();
        step_to_wire(model, *entry.step, *out.mutable_step());
        end_to_wire(*entry.step, *out.mutable_step());
        out.set_run(run_of(*entry.job));
        out.set_job_submit_time(entry.job->submit_time);
        return;
    }
    auto& out = *wire.mutable_job();
    const JobDetail detail{.environment = with_request && (options.store_flags & store_flag::job_env) != 0,
                           .script = with_request && (options.store_flags & store_flag::job_script) != 0};
    job_to_wire(model, *entry.job, detail, *out.mutable_job());
    if ((options.store_flags & store_flag::job_comment) == 0) out.mutable_job()->mutable_spec()->clear_comment();
    out.mutable_job()->clear_shares();  // history has the nodes' names
    out.set_run(run_of(*entry.job));
    if (entry.job->cancelled_by != nobody) out.set_cancelled_by(entry.job->cancelled_by);
}

}  // namespace

OutboxSender::OutboxSender(Engine& engine, Send send, std::filesystem::path spool, Options options, Log log)
    : engine_{engine}, send_{std::move(send)}, options_{options}, log_{std::move(log)}, spool_{std::move(spool)} {}

Result<void> OutboxSender::open() {
    SPUR_CHECK(spool_.open());
    spooled_ = spool_.size();
    if (!spool_.empty()) log_(fmt::format("{} batches of history wait on disk for spurdbd", spool_.size()));
    thread_ = std::jthread{[this](const std::stop_token& stop) { loop(stop); }};
    return {};
}

void OutboxSender::stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    wake_.notify_all();
    thread_.join();
}

// ---- the engine's thread
// -----------------------------------------------------------------------------------------------

void OutboxSender::on_leadership(const Cluster& cluster, const Leadership& now) {
    {
        const std::lock_guard lock{mutex_};
        leads_ = now.is_leader;
        waiting_.clear();
        seen_ = 0;
    }
    if (!now.is_leader) return;
    take_new(cluster);
    // From here on there is a reader, and entries are kept for it.
    engine_.propose(OutboxDelivered{0}, [](const Answer&) {});
}

void OutboxSender::on_applied(const Cluster& cluster, const Events&, const planning::Changes&,
                              const std::shared_ptr<const planning::ReadModel>&, bool leads) {
    if (leads && !cluster.outbox().empty() && cluster.outbox().back().sequence > seen_) take_new(cluster);
}

void OutboxSender::take_new(const Cluster& cluster) {
    const auto& outbox = cluster.outbox();
    auto from = outbox.end();
    while (from != outbox.begin() && std::prev(from)->sequence > seen_) --from;
    if (from == outbox.end()) return;
    {
        const std::lock_guard lock{mutex_};
        waiting_.insert(waiting_.end(), from, outbox.end());
    }
    seen_ = outbox.back().sequence;
    wake_.notify_all();
}

// ---- its own thread
// ----------------------------------------------------------------------------------------------------

void OutboxSender::loop(const std::stop_token& stop) {
    auto pause = options_.first_pause;
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock{mutex_};
            const auto has_work = [&] { return !waiting_.empty() || !spool_.empty(); };
            if (!wake_.wait(lock, stop, has_work)) return;
            // A little later there is more to say in one batch.
            if (waiting_.size() < options_.batch) wake_.wait_for(lock, stop, options_.gather, [&] { return false; });
        }
        if (stop.stop_requested()) return;
        const bool is_good = send_spooled() && send_waiting();
        if (is_good) {
            pause = options_.first_pause;
            continue;
        }
        while (spill()) {
        }
        std::unique_lock lock{mutex_};
        wake_.wait_for(lock, stop, pause, [&] { return waiting_.size() > options_.limit; });
        pause = std::min(pause * 2, options_.longest_pause);
    }
}

// What waits on disk came before everything else.
bool OutboxSender::send_spooled() {
    while (!spool_.empty()) {
        const auto file = spool_.front();
        if (!file) return tell_problem(file.error()), false;
        v1::StoreHistoryRequest batch;
        if (!batch.ParseFromString((*file)->content)) {
            log_(fmt::format("{} is not a batch of history and is left alone; look into it, then move it away",
                             (*file)->path.native()));
            return false;
        }
        if (const auto sent = send_(batch); !sent) return tell_problem(sent.error()), false;
        if (const auto removed = spool_.remove(**file); !removed) log_(removed.error().text);
        spooled_ = spool_.size();
        delivered_ += static_cast<std::uint64_t>(batch.entries_size());
    }
    return true;
}

std::deque<OutboxEntry> OutboxSender::first_waiting(std::size_t most) const {
    const std::lock_guard lock{mutex_};
    if (!leads_) return {};
    const auto count = static_cast<std::ptrdiff_t>(std::min(most, waiting_.size()));
    return {waiting_.begin(), waiting_.begin() + count};
}

bool OutboxSender::send_waiting() {
    const auto entries = first_waiting(options_.batch);
    if (entries.empty()) return true;
    const auto sent = send_(batch_of(entries));
    if (!sent) {
        tell_problem(sent.error());
        warn_early(stats().waiting);
        return false;
    }
    if (!problem_.empty()) log_("spurdbd takes history again");
    problem_.clear();
    warned_at_ = 0;
    if (sent->set_aside() != 0)
        log_(fmt::format("spurdbd could not store {} of {} entries and has set them aside; its log says why",
                         sent->set_aside(), entries.size()));
    done_with(entries);
    return true;
}

// Of a job or a step that is in the batch several times, what came last says all; so does the last mirror, which is of
// now.
v1::StoreHistoryRequest OutboxSender::batch_of(const std::deque<OutboxEntry>& entries) const {
    const auto model = engine_.model();
    v1::StoreHistoryRequest batch;
    batch.set_version(message_version);
    batch.set_cluster(model->directory->cluster_name.str());
    batch.set_stream(model->directory->history.id.str());
    batch.set_first(entries.front().sequence);
    batch.set_last(entries.back().sequence);
    struct Kept {
        const OutboxEntry* entry{};
        UnixSeconds since{};
        bool is_new{false};  // its request has not been told yet
    };
    std::map<std::tuple<JobId, UnixSeconds, std::uint32_t, std::optional<StepId>>, Kept> last;
    std::vector<Kept> kept;
    Kept mirror;
    for (const auto& entry : entries) {
        if (entry.kind == OutboxKind::mirror) {
            mirror = {&entry, entry.at};
        } else if (!entry.job) {
            kept.push_back({&entry, entry.at});
        } else {
            const auto step = entry.step ? std::optional{entry.step->key.step} : std::nullopt;
            auto& place = last[{entry.job->id, entry.job->submit_time, run_of(*entry.job), step}];
            place = {&entry, place.entry == nullptr ? entry.at : place.since,
                     place.is_new || entry.kind == OutboxKind::job_queued};
        }
    }
    for (const auto& [key, one] : last) kept.push_back(one);
    if (mirror.entry != nullptr) kept.push_back(mirror);
    std::ranges::sort(kept, {}, [](const Kept& one) { return one.entry->sequence; });
    for (const auto& one : kept) {
        auto& wire = *batch.add_entries();
        to_wire(*model, options_, *one.entry, one.is_new, wire);
        if (one.since != one.entry->at) wire.set_since(one.since);
    }
    return batch;
}

void OutboxSender::done_with(const std::deque<OutboxEntry>& entries) {
    {
        const std::lock_guard lock{mutex_};
        while (!waiting_.empty() && waiting_.front().sequence <= entries.back().sequence) waiting_.pop_front();
    }
    delivered_ += entries.size();
    engine_.propose(OutboxDelivered{entries.back().sequence}, [](const Answer&) {});  // if it fails, it is sent again
}

// The oldest entries to disk, while there are more than may be held.
bool OutboxSender::spill() {
    {
        const std::lock_guard lock{mutex_};
        if (!leads_ || waiting_.size() <= options_.limit) return false;
    }
    const auto entries = first_waiting(options_.batch);
    if (entries.empty()) return false;
    if (spool_.empty())
        log_(fmt::format("more than {} entries of history wait for spurdbd: they go to disk from here on",
                         options_.limit));
    if (const auto kept = spool_.add(batch_of(entries).SerializeAsString()); !kept) {
        tell_problem(kept.error());
        return false;
    }
    spooled_ = spool_.size();
    done_with(entries);
    return true;
}

void OutboxSender::tell_problem(const Error& error) {
    ++failures_;
    if (std::exchange(problem_, error.text) != error.text)
        log_(fmt::format("history cannot be sent to spurdbd, and is kept until it can: {}", error.text));
}

// At half of what may be held, and each time it has doubled since.
void OutboxSender::warn_early(std::size_t waiting) {
    const auto next = warned_at_ == 0 ? options_.limit / 2 : warned_at_ * 2;
    if (waiting < next) return;
    warned_at_ = waiting;
    log_(fmt::format("{} entries of history wait for spurdbd; from {} on they go to disk", waiting, options_.limit));
}

OutboxSender::Stats OutboxSender::stats() const {
    const std::lock_guard lock{mutex_};
    return {waiting_.size(), spooled_, delivered_, failures_};
}

}  // namespace spur::ctld
