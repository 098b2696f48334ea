// Age, fair-share, size, partition, QOS and TRES factors, and their sum.
#include "factors.hpp"

#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace spur::fairshare {

namespace {

using plugin::Records;

bool same_line(const Line& a, const Line& b) {
    return a.parent == b.parent && a.shares == b.shares && a.shares_parent == b.shares_parent &&
           a.is_user == b.is_user && a.usage == b.usage;
}

std::vector<Line> lines_of(const spur_cluster_view& view) {
    std::vector<Line> lines;
    lines.reserve(view.associations.count);
    for (const auto& entry : Records<spur_association_view>{view.associations})
        lines.push_back({.parent = entry.parent,
                         .shares = entry.shares,
                         .shares_parent = entry.shares == SPUR_SHARES_PARENT,
                         .is_user = entry.user.length > 0,
                         .usage = entry.usage});
    return lines;
}

// The cpus a job asks for, as far as they are known before nodes are chosen.
double cpus_of(const spur_job_view& job) {
    const double nodes = std::max(job.min_nodes, 1U);
    const double per_node = job.tasks_per_node > 0 ? job.tasks_per_node : 1;
    const double tasks = job.tasks > 0 ? job.tasks : nodes * per_node;
    const double least = nodes * std::max(job.min_cpus_per_node, 1U);
    if (job.flags & SPUR_JOB_OVERCOMMIT) return least;
    return std::max(tasks * std::max(job.cpus_per_task, 1U), least);
}

double gres_of(const spur_job_view& job, std::uint32_t name) {
    const double nodes = std::max(job.min_nodes, 1U);
    double sum = 0;
    for (const auto& wanted : Records<spur_gres_request>{job.gres}) {
        if (wanted.name != name) continue;
        double times = 1;
        if (wanted.scope == SPUR_GRES_PER_NODE) times = nodes;
        if (wanted.scope == SPUR_GRES_PER_TASK) times = job.tasks > 0 ? job.tasks : nodes;
        if (wanted.scope == SPUR_GRES_PER_SOCKET) times = nodes * std::max(job.min_sockets, 1U);
        sum += static_cast<double>(wanted.count) * times;
    }
    return sum;
}

double fraction(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0; }

// The number behind "gpu" in the view's table; SPUR_NONE where this cluster has none.
std::uint32_t gres_number(const spur_cluster_view& view, std::string_view name) {
    for (std::uint32_t i = 0; i < view.gres_names.count; ++i)
        if (plugin::view(*SPUR_AT(spur_str, view.gres_names, i)) == name) return i;
    return SPUR_NONE;
}

}  // namespace

TresWeight parse_tres_weight(std::string_view text) {
    const auto equals = text.find('=');
    TresWeight parsed;
    parsed.spelling = text.substr(0, equals);
    for (const auto letter : text.substr(0, equals))
        parsed.name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    const bool known = parsed.name == "cpu" || parsed.name == "mem" || parsed.name == "node" ||
                       parsed.name == "billing" || (parsed.name.starts_with("gres/") && parsed.name.size() > 5);
    const auto number = equals == std::string_view::npos ? std::string_view{} : text.substr(equals + 1);
    const auto read = std::from_chars(number.data(), number.data() + number.size(), parsed.weight);
    if (!known || read.ec != std::errc{} || read.ptr != number.data() + number.size() || parsed.weight < 0 ||
        !(parsed.weight <= 4e9))
        throw std::invalid_argument("weight_tres has \"" + std::string{text} +
                                    "\"; write cpu, mem, node, billing or gres/NAME, then = and a weight up to 4e9");
    return parsed;
}

Scorer::Scorer(Settings settings) : settings_{std::move(settings)} {
    factors_ = {{SPUR_FACTOR_AGE, settings_.age},           {SPUR_FACTOR_FAIRSHARE, settings_.fairshare},
                {SPUR_FACTOR_JOB_SIZE, settings_.job_size}, {SPUR_FACTOR_PARTITION, settings_.partition},
                {SPUR_FACTOR_QOS, settings_.qos},           {SPUR_FACTOR_ASSOCIATION, settings_.association}};
    for (const auto& entry : settings_.tres) factors_.push_back({SPUR_FACTOR_TRES + entry.spelling, entry.weight});
}

double Scorer::decay(std::int64_t from, std::int64_t to) const {
    if (settings_.half_life_s <= 0 || to <= from) return 1.0;
    return std::exp2((static_cast<double>(from) - static_cast<double>(to)) / settings_.half_life_s);
}

void Scorer::set_view(const spur_cluster_view& view) {
    view_ = &view;
    auto lines = lines_of(view);
    if (!std::ranges::equal(lines, lines_, same_line) || shares_.size() != lines.size()) {
        lines_ = std::move(lines);
        shares_ = settings_.fair_tree ? fair_tree(lines_) : classic(lines_, settings_.dampening);
    }
    cluster_ = {};
    for (const auto& node : Records<spur_node_view>{view.nodes}) {
        cluster_.nodes += 1;
        cluster_.cpus += node.cpus;
    }
    partitions_.assign(view.partitions.count, {});
    highest_qos_ = highest_job_factor_ = highest_association_ = 0;
    for (const auto& qos : Records<spur_qos_view>{view.qos})
        highest_qos_ = std::max<double>(highest_qos_, qos.priority);
    for (const auto& partition : Records<spur_partition_view>{view.partitions})
        highest_job_factor_ = std::max<double>(highest_job_factor_, partition.job_factor);
    for (const auto& entry : Records<spur_association_view>{view.associations})
        highest_association_ = std::max<double>(highest_association_, entry.priority);
}

const Scorer::Totals& Scorer::totals_of(std::uint32_t partition) {
    auto& totals = partitions_[partition];
    if (totals.known) return totals;
    totals.known = true;
    totals.gres.resize(view_->gres_names.count);
    const auto& members = SPUR_AT(spur_partition_view, view_->partitions, partition)->nodes;
    for (std::uint32_t i = 0; i < view_->nodes.count; ++i) {
        if (!plugin::has_bit(members, i)) continue;
        const auto& node = *SPUR_AT(spur_node_view, view_->nodes, i);
        totals.nodes += 1;
        totals.cpus += node.cpus;
        totals.memory_mib += static_cast<double>(node.memory_mib);
        for (const auto& gres : Records<spur_gres_view>{node.gres})
            if (gres.name < totals.gres.size()) totals.gres[gres.name] += static_cast<double>(gres.total);
    }
    return totals;
}

double Scorer::size_factor(const spur_job_view& job) const {
    const double nodes = std::max(job.min_nodes, 1U);
    if (settings_.small_relative_to_time) {
        const bool endless = job.limit_s == SPUR_UNLIMITED;
        const double minutes = endless ? 365 * 24 * 60.0 : std::max(job.limit_s / 60.0, 1.0);
        const double size = fraction(nodes, cluster_.nodes) / minutes;
        return settings_.favor_small ? 1 - size : size;
    }
    const double size = (fraction(nodes, cluster_.nodes) + fraction(cpus_of(job), cluster_.cpus)) / 2;
    return settings_.favor_small ? 1 - size : size;
}

double Scorer::association_factor(const spur_job_view& job) const {
    if (job.association >= shares_.size()) return 0;
    return fraction(SPUR_AT(spur_association_view, view_->associations, job.association)->priority,
                    highest_association_);
}

void Scorer::add_tres_factors(const spur_job_view& job, std::uint32_t partition) {
    if (settings_.tres.empty()) return;
    if (partition >= view_->partitions.count) return answer_.raw.resize(factors_.size());
    const auto& totals = totals_of(partition);
    const double nodes = std::max(job.min_nodes, 1U);
    const double cpus = cpus_of(job);
    double memory = static_cast<double>(job.mem_per_node_mib) * nodes;
    if (job.mem_per_cpu_mib > 0) memory = static_cast<double>(job.mem_per_cpu_mib) * cpus;
    if (job.flags & SPUR_JOB_MEM_ALL && totals.nodes > 0) memory = totals.memory_mib * nodes / totals.nodes;
    for (const auto& [name, spelling, weight] : settings_.tres) {
        double part = 0;
        if (name == "cpu" || name == "billing") part = fraction(cpus, totals.cpus);
        if (name == "mem") part = fraction(memory, totals.memory_mib);
        if (name == "node") part = fraction(nodes, totals.nodes);
        if (name.starts_with("gres/"))
            if (const auto number = gres_number(*view_, std::string_view{name}.substr(5)); number != SPUR_NONE)
                part = fraction(gres_of(job, number), totals.gres[number]);
        answer_.raw.push_back(part);
    }
}

const Answer& Scorer::score(const spur_priority_query& query) {
    const auto& job = *SPUR_AT(spur_job_view, view_->pending, query.job);
    const auto waited = static_cast<double>(view_->now) - static_cast<double>(job.eligible);
    const auto partition = [&](std::uint32_t i) { return SPUR_AT(spur_partition_view, view_->partitions, i); };
    const auto qos = [&](std::uint32_t i) { return SPUR_AT(spur_qos_view, view_->qos, i); };
    answer_.raw = {
        fraction(waited, settings_.max_age_s),
        job.association < shares_.size() ? shares_[job.association].factor : 0,
        size_factor(job),
        query.partition < view_->partitions.count
            ? fraction(partition(query.partition)->job_factor, highest_job_factor_)
            : 0,
        job.qos < view_->qos.count ? fraction(qos(job.qos)->priority, highest_qos_) : 0,
        association_factor(job),
    };
    add_tres_factors(job, query.partition);

    answer_.weighted.clear();
    auto sum = static_cast<double>(query.site_factor) - static_cast<double>(query.nice);
    for (std::size_t i = 0; i < factors_.size(); ++i)
        sum += answer_.weighted.emplace_back(answer_.raw[i] * factors_[i].weight);
    answer_.priority.exact = std::clamp(sum, 1.0, static_cast<double>(UINT32_MAX));
    answer_.priority.total = static_cast<std::uint64_t>(std::floor(answer_.priority.exact));
    return answer_;
}

}  // namespace spur::fairshare
