#include "sched_world.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace spur::test {

using plugin::has_bit;
using plugin::Records;
using plugin::span_of;

namespace {

std::vector<std::uint64_t> words_of(const NodeSet& set, std::size_t count) {
    std::vector<std::uint64_t> words((count + 63) / 64);
    for (const auto i : set) words[i / 64] |= std::uint64_t{1} << (i % 64);
    return words;
}

spur_bits bits_of(const std::vector<std::uint64_t>& words, std::size_t count) {
    return {words.empty() ? nullptr : words.data(), words.empty() ? 0 : static_cast<std::uint32_t>(count), 0};
}

NodeSet set_of(const spur_bits& bits) {
    NodeSet set;
    for (std::uint32_t i = 0; i < bits.count; ++i)
        if (has_bit(bits, i)) set.insert(i);
    return set;
}

// The plugin's own default, written as TestHost reads durations.
TestOptions with_window(TestOptions options) {
    options.emplace("window", "720h");
    return options;
}

// Where the calls of one plan() go.
struct Recorder {
    WorldPlan plan;
    const spur_cluster_view* view;
    const std::vector<std::unique_ptr<Work>>* pending;
    const std::vector<std::unique_ptr<Work>>* running;
    std::function<bool(const std::string&)> may_start;
    std::uint64_t stop_after, asked = 0;

    static Recorder& of(const spur_plan_sink* sink) { return *static_cast<Recorder*>(sink->context); }
    const std::string& name(std::uint32_t slot) const { return (*pending)[slot]->name; }

    spur_plan_sink sink() {
        return {sizeof(spur_plan_sink),
                0,
                this,
                [](auto* s) -> std::uint32_t { return ++of(s).asked > of(s).stop_after; },
                [](auto* s, auto job, auto) {
                    auto& self = of(s);
                    return !self.may_start || self.may_start(self.name(job)) ? SPUR_MAY_START : SPUR_LIMITED;
                },
                [](auto* s, auto job, auto partition, auto* placement, auto limit) {
                    auto& self = of(s);
                    auto kept = std::make_shared<const KeptShares>(spur_shares(placement));
                    self.plan.text += fmt::format("start {} in {} on {} for {}\n", self.name(job), partition,
                                                  fmt::join(kept->nodes(), ","), limit);
                    self.plan.starts.push_back({self.name(job), job, partition, limit, std::move(kept)});
                    return SPUR_OK;
                },
                [](auto* s, auto job, auto at, auto, auto nodes) {
                    auto& self = of(s);
                    self.plan.text +=
                        fmt::format("expect {} at {} on {}\n", self.name(job), at, fmt::join(set_of(nodes), ","));
                    self.plan.expected[self.name(job)] = {at, set_of(nodes)};
                },
                [](auto* s, auto job, auto reason, auto text) {
                    auto& self = of(s);
                    self.plan.text += fmt::format("waits {} for {}\n", self.name(job), reason);
                    self.plan.reasons[self.name(job)] = reason;
                    self.plan.texts[self.name(job)] = plugin::view(text);
                },
                [](auto* s, auto job, auto, auto* victims, auto count, auto* placement) {
                    auto& self = of(s);
                    WorldPlan::Preemption push{
                        self.name(job), {victims, victims + count}, {}, KeptShares{spur_shares(placement)}.nodes()};
                    for (const auto victim : push.victims) push.names.insert((*self.running)[victim]->name);
                    self.plan.text += fmt::format("preempt {} for {}\n", fmt::join(push.names, ","), push.job);
                    self.plan.preemptions.push_back(std::move(push));
                    return SPUR_OK;
                }};
    }
};

}  // namespace

// ---- placements ----------------------------------------------------------------------------------------------------

KeptShares::KeptShares(spur_span shares) {
    const auto keep = [&](spur_bits& bits) {
        if (bits.words == nullptr) return;
        bits.words = words_.emplace_back(bits.words, bits.words + (bits.count + 63) / 64).data();
    };
    for (auto share : Records<spur_node_share>{shares}) {
        keep(share.cores);
        auto& gres = gres_.emplace_back();
        for (const auto& piece : Records<spur_gres_share>{share.gres}) keep(gres.emplace_back(piece).devices);
        share.gres = span_of(gres);
        shares_.push_back(share);
    }
    placement_ = spur_placed(shares_.data(), static_cast<std::uint32_t>(shares_.size()));
}

NodeSet KeptShares::nodes() const {
    NodeSet nodes;
    for (const auto& share : shares_) nodes.insert(share.node);
    return nodes;
}

std::set<std::string> WorldPlan::names() const {
    std::set<std::string> names;
    for (const auto& start : starts) names.insert(start.job);
    return names;
}

const WorldPlan::Start* WorldPlan::find(const std::string& job) const {
    const auto found = std::ranges::find(starts, job, &Start::job);
    return found == starts.end() ? nullptr : &*found;
}

// ---- wishes --------------------------------------------------------------------------------------------------------

Change with(std::function<void(spur_job_view&)> change) {
    return [change = std::move(change)](Work& work) { change(work.view); };
}
Change width(std::uint32_t nodes) {
    return with([=](spur_job_view& job) { job.min_nodes = job.max_nodes = nodes; });
}
Change limit_s(std::uint32_t seconds) {
    return with([=](spur_job_view& job) { job.limit_s = seconds; });
}
Change until(std::int64_t seconds) {
    return with([=](spur_job_view& job) { job.ends = seconds; });
}
Change in(std::vector<std::uint32_t> partitions) {
    return [partitions = std::move(partitions)](Work& work) { work.partitions = partitions; };
}
Change on_nodes(NodeSet nodes) {
    return [nodes = std::move(nodes)](Work& work) { work.required = words_of(nodes, 256); };
}
Change among(NodeSet nodes) {
    return [nodes = std::move(nodes)](Work& work) { work.eligible = words_of(nodes, 256); };
}
Change licenses(std::uint32_t count, std::uint32_t license) {
    return [=](Work& work) { work.licenses.push_back({license, count}); };
}

// ---- the cluster ---------------------------------------------------------------------------------------------------

SchedWorld::SchedWorld(const TestOptions& options, const std::string& select)
    : options_{with_window(options)},
      sched_plugin_{TestPlugin::load(spur_plugin_path("sched_backfill"))},
      select_plugin_{TestPlugin::load(spur_plugin_path(select))},
      sched_{sched_plugin_.create(host_, options_)},
      select_{select_plugin_.create(host_)} {
    if (!sched_ || !select_) throw std::runtime_error(sched_.error().text + select_.error().text);
}

SchedWorld::~SchedWorld() = default;

SchedWorld& SchedWorld::nodes(std::uint32_t count, std::uint32_t cores, std::uint32_t gpus) {
    for (std::uint32_t i = 0; i < count; ++i) {
        auto& node = nodes_.emplace_back();
        node.name = fmt::format("n{}", nodes_.size());
        node.used.resize(1);
        node.offered.assign(1, (std::uint64_t{1} << cores) - 1);
        node.gpus = gpus;
        for (std::uint32_t g = 0; g < gpus; ++g) node.devices.push_back({g, 0, 0, SPUR_NONE, SPUR_NONE, 0, 1, 0, {}});
        if (gpus > 0) node.gres.push_back({0, 0, gpus, 0, span_of(node.devices), {}});
        auto& record = node.view;
        record.name = plugin::str(node.name);
        record.flags = SPUR_NODE_USABLE;
        record.weight = 1;
        record.sockets = record.threads_per_core = 1;
        record.cores_per_socket = record.cpus = cores;
        record.klass = gpus;
        record.memory_mib = 65'536;
        record.tmp_mib = 1000;
        record.cores_used = bits_of(node.used, cores);
        record.cores_offered = bits_of(node.offered, cores);
        record.gres = span_of(node.gres);
        record.owner_uid = SPUR_NONE;
    }
    return *this;
}

SchedWorld& SchedWorld::partition(const NodeSet& nodes, const std::function<void(spur_partition_view&)>& change) {
    spur_partition_view record{};
    record.name = plugin::str(texts_.emplace_back(fmt::format("p{}", partitions_.size())));
    record.nodes = bits_of(sets_.emplace_back(words_of(nodes, nodes_.size())), nodes_.size());
    record.state = SPUR_PARTITION_UP;
    record.tier = record.oversubscribe = 1;
    record.max_time_s = record.max_nodes = record.max_cpus_per_node = SPUR_UNLIMITED;
    if (change) change(record);
    partitions_.push_back(record);
    return *this;
}

SchedWorld& SchedWorld::license(std::uint32_t total) {
    licenses_.push_back({plugin::str(texts_.emplace_back(fmt::format("l{}", licenses_.size()))), total, 0});
    return *this;
}

SchedWorld& SchedWorld::reservation(std::int64_t start, std::int64_t end, const NodeSet& nodes, std::uint32_t flags) {
    spur_reservation_view record{};
    record.name = plugin::str(texts_.emplace_back(fmt::format("r{}", reservations_.size())));
    record.start = now + start;
    record.end = now + end;
    record.flags = flags;
    record.partition = SPUR_NONE;
    record.nodes = bits_of(sets_.emplace_back(words_of(nodes, nodes_.size())), nodes_.size());
    reservations_.push_back(record);
    return *this;
}

SchedWorld& SchedWorld::qos(std::set<std::uint32_t> preempts) {
    spur_qos_view record{};
    record.name = plugin::str(texts_.emplace_back(fmt::format("q{}", qos_.size())));
    record.usage_factor = 1;
    record.preempts = bits_of(sets_.emplace_back(words_of(preempts, 64)), 64);
    qos_.push_back(record);
    return *this;
}

SchedWorld& SchedWorld::leaf_switches(std::uint32_t nodes_each) {
    NodeSet all;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) all.insert(i);
    groups_.push_back({plugin::str("b"), SPUR_GROUP_BLOCK, 0, SPUR_NONE, 0,
                       bits_of(sets_.emplace_back(words_of(all, nodes_.size())), nodes_.size()), {}});  // passed over
    for (std::uint32_t first = 0; first < nodes_.size(); first += nodes_each) {
        NodeSet below;
        for (auto i = first; i < std::min<std::uint32_t>(first + nodes_each, nodes_.size()); ++i) {
            below.insert(i);
            nodes_[i].groups = {0, static_cast<std::uint32_t>(groups_.size())};
            nodes_[i].view.groups = span_of(nodes_[i].groups);
        }
        groups_.push_back({plugin::str(texts_.emplace_back(fmt::format("s{}", groups_.size()))), SPUR_GROUP_SWITCH, 0,
                           SPUR_NONE, 0, bits_of(sets_.emplace_back(words_of(below, nodes_.size())), nodes_.size()),
                           {}});
    }
    return *this;
}

// ---- jobs ----------------------------------------------------------------------------------------------------------

std::uint32_t SchedWorld::put(std::vector<std::unique_ptr<Work>>& table, std::unique_ptr<Work> work) {
    const auto free = std::find_if(table.begin(), table.end(), [](const auto& held) { return !held; });
    const auto slot = static_cast<std::uint32_t>(free - table.begin());
    if (free == table.end())
        table.push_back(std::move(work));
    else
        *free = std::move(work);
    return slot;
}

SchedWorld& SchedWorld::add_pending(const std::string& name, const std::vector<Change>& changes) {
    auto work = std::make_unique<Work>();
    work->name = name;
    auto& job = work->view;
    job.id = next_id_++;
    job.klass = job.id;  // jobs are unlike unless somebody says otherwise
    job.priority = 1;
    job.uid = 1000;
    job.association = job.qos = job.reservation = SPUR_NONE;
    job.array_tasks = job.min_nodes = job.max_nodes = 1;
    job.submitted = job.eligible = now;
    job.limit_s = 3600;
    for (const auto& change : changes) change(*work);
    const auto slot = put(pending_, std::move(work));
    pending_slots_.push_back(slot);
    new_pending_.push_back(slot);
    return *this;
}

SchedWorld& SchedWorld::add_running(const std::string& name, const NodeSet& nodes, const std::vector<Change>& changes) {
    auto work = std::make_unique<Work>();
    work->name = name;
    auto& job = work->view;
    job.id = next_id_++;
    job.klass = job.id;
    job.uid = 1000;
    job.association = job.qos = job.reservation = SPUR_NONE;
    job.array_tasks = 1;
    job.min_nodes = job.max_nodes = static_cast<std::uint32_t>(nodes.size());
    job.started = now - 1000 + job.id;
    job.ends = 3600;
    for (const auto& change : changes) change(*work);
    if (job.ends != SPUR_TIME_UNLIMITED) job.ends += now;
    std::vector<spur_node_share> shares;
    for (const auto i : nodes) {
        const auto& node = nodes_[i].view;
        shares.push_back({i, node.cpus, node.memory_mib, node.cores_offered, {}, 1, SPUR_SHARE_WHOLE_NODE});
    }
    work->held = std::make_shared<const KeptShares>(span_of(shares));
    for (const auto& license : work->licenses) licenses_[license.license].used += license.count;
    new_running_.push_back(put(running_, std::move(work)));
    return *this;
}

void SchedWorld::bind(Work& work) {
    auto& job = work.view;
    job.partitions = span_of(work.partitions);
    job.licenses = span_of(work.licenses);
    job.gres = span_of(work.gres);
    job.eligible_nodes = bits_of(work.eligible, nodes_.size());
    job.required_nodes = bits_of(work.required, nodes_.size());
    job.preempt_tier = partitions_[work.partitions.front()].tier;
    if (work.held) job.held = &work.held->placement();
}

void SchedWorld::use_nodes() {
    for (auto& node : nodes_) {
        std::ranges::fill(node.used, 0);
        node.view.cpus_used = node.view.running_jobs = 0;
        node.view.memory_used_mib = 0;
        node.view.flags &= ~SPUR_NODE_EXCLUSIVE;
        for (auto& device : node.devices) device.units_used = 0;
        for (auto& gres : node.gres) gres.used = 0;
    }
    for (const auto& work : running_) {
        if (!work) continue;
        for (const auto& share : Records<spur_node_share>{work->held->shares()}) {
            auto& node = nodes_[share.node];
            if (share.cores.words != nullptr) node.used[0] |= share.cores.words[0];
            node.view.cpus_used += share.cpus;
            node.view.memory_used_mib += share.memory_mib;
            ++node.view.running_jobs;
            if ((share.flags & SPUR_SHARE_WHOLE_NODE) != 0) node.view.flags |= SPUR_NODE_EXCLUSIVE;
            for (const auto& piece : Records<spur_gres_share>{share.gres}) {
                node.gres[0].used += piece.count;
                for (std::uint32_t d = 0; d < node.devices.size(); ++d)
                    if (has_bit(piece.devices, d)) node.devices[d].units_used = 1;
            }
        }
    }
}

const spur_cluster_view& SchedWorld::view() {
    if (partitions_.empty()) {
        NodeSet all;
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) all.insert(i);
        partition(all);
    }
    use_nodes();
    node_views_.clear();
    for (const auto& node : nodes_) node_views_.push_back(node.view);
    const auto lay_out = [&](auto& table, auto& views) {
        views.assign(table.size(), {});
        for (std::size_t i = 0; i < table.size(); ++i) {
            if (!table[i]) continue;
            bind(*table[i]);
            views[i] = table[i]->view;
        }
    };
    lay_out(pending_, pending_views_);
    lay_out(running_, running_views_);
    running_order_.clear();
    for (std::uint32_t i = 0; i < running_.size(); ++i)
        if (running_[i]) running_order_.push_back(i);
    std::ranges::stable_sort(running_order_, {}, [&](auto slot) { return running_views_[slot].ends; });
    gres_names_ = {plugin::str("gpu")};
    gres_types_ = {plugin::str("")};
    const auto number = view_.number + 1;
    changes_ = {
        sizeof changes_,       1, seen_, {}, span_of(new_pending_), span_of(new_running_), span_of(gone_pending_),
        span_of(gone_running_)};
    all_nodes_.clear();
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) all_nodes_.push_back(i);
    changes_.nodes = span_of(all_nodes_);
    view_ = {sizeof view_,
             0,
             number,
             now,
             span_of(node_views_),
             span_of(pending_views_),
             span_of(pending_slots_),
             span_of(running_views_),
             span_of(running_order_),
             span_of(partitions_),
             span_of(reservations_),
             span_of(licenses_),
             span_of(qos_),
             {},
             span_of(groups_),
             {},
             span_of(gres_names_),
             span_of(gres_types_),
             knows_changes_ ? &changes_ : nullptr};
    return view_;
}

// ---- planning ------------------------------------------------------------------------------------------------------

WorldPlan SchedWorld::plan_with(spur_plugin* sched, const spur_sched_ops& ops) {
    Recorder recorder{{}, &view_, &pending_, &running_, may_start, stop_after};
    const auto sink = recorder.sink();
    const spur_selector selector{sizeof(spur_selector), 0, select_.query<spur_select_ops>(SPUR_SELECT_IFACE),
                                 select_.get()};
    spur_error error{sizeof(spur_error), SPUR_OK, ""};
    if (ops.plan(sched, &view_, &selector, &sink, &error) != SPUR_OK) throw std::runtime_error(error.text);
    return std::move(recorder.plan);
}

WorldPlan SchedWorld::plan() {
    view();
    auto plan = plan_with(sched_.get(), *sched_.query<spur_sched_ops>(SPUR_SCHED_IFACE));
    for (auto* list : {&new_pending_, &gone_pending_, &new_running_, &gone_running_}) list->clear();
    knows_changes_ = true;
    seen_ = view_.number;
    return plan;
}

WorldPlan SchedWorld::fresh_plan() {
    view();
    view_.changes = nullptr;
    auto other = sched_plugin_.create(host_, options_);
    return plan_with(other.get(), *other.query<spur_sched_ops>(SPUR_SCHED_IFACE));
}

bool SchedWorld::fits_without(const std::string& name, const std::vector<std::uint32_t>& gone) {
    view();
    const auto& ops = *select_.query<spur_select_ops>(SPUR_SELECT_IFACE);
    spur_select_cycle* cycle = nullptr;
    spur_error error{sizeof(spur_error), SPUR_OK, ""};
    if (ops.begin(select_.get(), &view_, &cycle, &error) != SPUR_OK) throw std::runtime_error(error.text);
    for (const auto slot : gone) ops.give(cycle, 0, running_views_[slot].held, running_views_[slot].flags);
    bool fits = false;
    for (const auto slot : pending_slots_)
        if (pending_[slot]->name == name) {
            const spur_pick pick{sizeof(spur_pick),   slot, pending_[slot]->partitions.front(), 0, {},
                                 SPUR_PICK_TEST_ONLY, 0};
            fits = ops.pick(cycle, &pick, nullptr) == SPUR_FITS;
        }
    ops.end(select_.get(), cycle);
    return fits;
}

// ---- what follows --------------------------------------------------------------------------------------------------

void SchedWorld::carry_out(const WorldPlan& plan) {
    for (const auto& start : plan.starts) {
        auto& waiting = *pending_[start.slot];
        auto work = std::make_unique<Work>(waiting);
        work->held = start.shares;
        work->view.started = now;
        work->view.ends = start.limit_s == SPUR_UNLIMITED ? SPUR_TIME_UNLIMITED : now + start.limit_s;
        for (const auto& license : work->licenses) licenses_[license.license].used += license.count;
        if (waiting.view.array_tasks > 1) {
            work->view.id = next_id_++;
            --waiting.view.array_tasks;
            new_pending_.push_back(start.slot);
        } else {
            std::erase(pending_slots_, start.slot);
            gone_pending_.push_back(start.slot);
            pending_[start.slot] = nullptr;
        }
        new_running_.push_back(put(running_, std::move(work)));
    }
}

void SchedWorld::end(const std::string& name) {
    for (std::uint32_t slot = 0; slot < running_.size(); ++slot) {
        if (!running_[slot] || running_[slot]->name != name) continue;
        for (const auto& license : running_[slot]->licenses) licenses_[license.license].used -= license.count;
        running_[slot] = nullptr;
        gone_running_.push_back(slot);
    }
}

void SchedWorld::advance(std::int64_t seconds) {
    now += seconds;
    for (const auto& name : running_names())
        for (const auto& work : running_)
            if (work && work->name == name && work->view.ends <= now) {
                end(name);
                break;
            }
}

std::vector<std::string> SchedWorld::running_names() const {
    std::vector<std::string> names;
    for (const auto& work : running_)
        if (work) names.push_back(work->name);
    return names;
}

bool SchedWorld::is_running(const std::string& job) const {
    return std::ranges::any_of(running_, [&](const auto& work) { return work && work->name == job; });
}

bool SchedWorld::is_waiting(const std::string& job) const {
    return std::ranges::any_of(pending_, [&](const auto& work) { return work && work->name == job; });
}

std::string SchedWorld::oversubscribed() {
    for (const auto& license : licenses_)
        if (license.used > license.total) return fmt::format("{} of {} licenses are used", license.used, license.total);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        std::uint64_t cores = 0, memory = 0, devices = 0;
        std::uint32_t jobs = 0, whole = 0;
        for (const auto& work : running_) {
            if (!work) continue;
            for (const auto& share : Records<spur_node_share>{work->held->shares()}) {
                if (share.node != i) continue;
                ++jobs;
                whole += (share.flags & SPUR_SHARE_WHOLE_NODE) != 0;
                const auto held = share.cores.words != nullptr ? share.cores.words[0] : 0;
                if ((cores & held) != 0) return fmt::format("{}: a core is held twice", nodes_[i].name);
                cores |= held;
                memory += share.memory_mib;
                for (const auto& piece : Records<spur_gres_share>{share.gres}) {
                    const auto mine = piece.devices.words != nullptr ? piece.devices.words[0] : 0;
                    if ((devices & mine) != 0) return fmt::format("{}: a GPU is held twice", nodes_[i].name);
                    devices |= mine;
                }
            }
        }
        if (whole > 0 && jobs > 1) return fmt::format("{}: somebody has it whole and is not alone", nodes_[i].name);
        if (memory > nodes_[i].view.memory_mib) return fmt::format("{}: {} MiB are held", nodes_[i].name, memory);
    }
    return "";
}

}  // namespace spur::test
