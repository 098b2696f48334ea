// Publishing: which jobs, nodes and tables a batch of events changed, and copying just those.
#include "daemons/common/planning/read_model.hpp"

#include <algorithm>
#include <type_traits>

namespace spur::planning {

namespace {

// In a list in name order.
template <class Record>
const Record* find_named(const std::vector<Record>& list, std::string_view name) {
    const auto found =
        std::ranges::lower_bound(list, name, {}, [](const Record& record) { return record.name.view(); });
    return found == list.end() || found->name != name ? nullptr : &*found;
}

}  // namespace

const Partition* ReadModel::find_partition(std::string_view name) const {
    return find_named(directory->partitions, name);
}

const Reservation* ReadModel::find_reservation(std::string_view name) const {
    return find_named(directory->reservations, name);
}

const Partition* ReadModel::default_partition() const {
    const auto found = std::ranges::find_if(directory->partitions, &Partition::is_default);
    return found == directory->partitions.end() ? nullptr : &*found;
}

const Job* ReadModel::find_member(JobId family, std::uint32_t number) const {
    return find_job(families.get(family.value).get(number));
}

void ReadModel::for_each_member(JobId family, const std::function<void(const Job&)>& visit) const {
    families.get(family.value).for_each([&](std::uint32_t, JobId id) { visit(*find_job(id)); });
}

const Step* ReadModel::find_step(StepKey key) const {
    const auto& list = steps.get(key.job.value);
    const auto found = list ? std::ranges::find(*list, key, &Step::key) : StepList::const_iterator{};
    return list && found != list->end() ? &*found : nullptr;
}

void ReadModel::for_each_step(JobId job, const std::function<void(const Step&)>& visit) const {
    if (const auto& list = steps.get(job.value)) std::ranges::for_each(*list, visit);
}

const Node* ReadModel::find_node(std::string_view name) const {
    const auto found = node_ids->find(name);
    return found == node_ids->end() ? nullptr : nodes.get(found->second.value).get();
}

namespace {

template <class T>
concept NamesJob = requires(const T& event) {
    { event.job } -> std::convertible_to<JobId>;
};
template <class T>
concept NamesNode = requires(const T& event) {
    { event.node } -> std::convertible_to<NodeId>;
};
template <class T>
concept NamesStep = requires(const T& event) {
    { event.step } -> std::convertible_to<StepKey>;
};

template <class T>
inline constexpr bool changes_directory =
    std::is_same_v<T, PartitionChanged> || std::is_same_v<T, ReservationChanged> ||
    std::is_same_v<T, AssociationsChanged> || std::is_same_v<T, HistoryChanged>;

template <class T>
void sort_unique(std::vector<T>& items) {
    std::ranges::sort(items);
    const auto rest = std::ranges::unique(items);
    items.erase(rest.begin(), rest.end());
}

}  // namespace

void merge(Changes& into, const Changes& from) {
    into.everything = into.everything || from.everything;
    into.directory = into.directory || from.directory;
    if (into.everything) return;
    into.jobs.insert(into.jobs.end(), from.jobs.begin(), from.jobs.end());
    into.forgotten.insert(into.forgotten.end(), from.forgotten.begin(), from.forgotten.end());
    into.nodes.insert(into.nodes.end(), from.nodes.begin(), from.nodes.end());
}

void note_changes(const Events& events, Changes& changes) {
    for (const auto& event : events)
        std::visit(
            [&]<class T>(const T& what) {
                if constexpr (std::is_same_v<T, ConfigChanged>) changes.everything = true;
                if constexpr (std::is_same_v<T, JobForgotten>)
                    changes.forgotten.push_back(what.job);
                else if constexpr (NamesJob<T>)
                    changes.jobs.push_back(what.job);
                if constexpr (std::is_same_v<T, ArraySplit>) changes.jobs.push_back(what.array);
                if constexpr (NamesStep<T>) changes.jobs.push_back(what.step.job);
                if constexpr (NamesNode<T>) changes.nodes.push_back(what.node);
                if constexpr (changes_directory<T>) changes.directory = true;
            },
            event);
}

std::shared_ptr<const ReadModel> ReadModelBuilder::publish(const Cluster& cluster, Changes& changes) {
    if (changes.everything) {
        next_ = {};
        for (const auto& [id, job] : cluster.jobs()) copy_job(cluster, id);
        for (const auto& node : cluster.nodes()) copy_node(node);
        auto ids = std::make_shared<std::map<std::string, NodeId, std::less<>>>();
        for (const auto& node : cluster.nodes())
            if (node.configured) ids->emplace(node.name.str(), node.id);
        next_.node_ids = std::move(ids);
        // The state machine has refused what does not resolve.
        next_.switches =
            std::make_shared<const SwitchTree>(SwitchTree::resolve(cluster.config().switches).value_or(SwitchTree{}));
    } else {
        sort_unique(changes.jobs);
        sort_unique(changes.nodes);
        for (const auto id : changes.forgotten) forget_job(cluster, id);  // its number may be another's by now
        for (const auto id : changes.jobs) copy_job(cluster, id);
        for (const auto id : changes.nodes)
            if (const auto* node = cluster.find_node(id)) copy_node(*node);
    }
    const auto holds_licenses = [&](JobId id) {
        const auto* job = cluster.find_job(id);
        return job != nullptr && !job->spec->licenses.empty();
    };
    if (changes.everything || changes.directory || !next_.directory ||
        std::ranges::any_of(changes.jobs, holds_licenses))
        copy_directory(cluster);
    next_.version = cluster.version();
    next_.now = cluster.now();
    next_.next_job = cluster.next_job_id();
    next_.classes = cluster.shared_node_classes();
    next_.names = cluster.shared_association_names();
    next_.jobs.freeze();
    next_.steps.freeze();
    next_.arrays.freeze();
    next_.families.freeze();
    next_.nodes.freeze();
    return std::make_shared<const ReadModel>(next_);
}

void ReadModelBuilder::copy_job(const Cluster& cluster, JobId id) {
    const auto* job = cluster.find_job(id);
    if (job == nullptr) return forget_job(cluster, id);
    next_.jobs.set(id.value, std::make_shared<const Job>(*job));
    if (job->array_job) copy_array(cluster, job->array_job);
    if (const auto family = job->family())
        if (auto members = next_.families.get(family->id.value); members.get(family->number) != id) {
            members.freeze();  // published models have it too
            members.set(family->number, id);
            next_.families.set(family->id.value, std::move(members));
        }

    StepList steps;
    cluster.for_each_step(id, [&](const Step& step) { steps.push_back(step); });
    if (steps.empty())
        next_.steps.erase(id.value);
    else
        next_.steps.set(id.value, std::make_shared<const StepList>(std::move(steps)));
}

void ReadModelBuilder::copy_array(const Cluster& cluster, JobId id) {
    if (const auto* array = cluster.find_array(id))
        next_.arrays.set(id.value, std::make_shared<const Array>(*array));
    else
        next_.arrays.erase(id.value);
}

void ReadModelBuilder::forget_job(const Cluster& cluster, JobId id) {
    const auto job = next_.jobs.get(id.value);
    if (!job) return;
    next_.jobs.erase(id.value);
    next_.steps.erase(id.value);
    if (job->array_job) copy_array(cluster, job->array_job);
    if (const auto family = job->family())
        if (auto members = next_.families.get(family->id.value); members.get(family->number) == id) {
            members.freeze();
            members.erase(family->number);
            next_.families.set(family->id.value, std::move(members));
        }
}

void ReadModelBuilder::copy_node(const Node& node) {
    next_.nodes.set(node.id.value, std::make_shared<const Node>(node));
}

void ReadModelBuilder::copy_directory(const Cluster& cluster) {
    auto directory = std::make_shared<Directory>();
    for (const auto& [name, partition] : cluster.partitions()) directory->partitions.push_back(partition);
    for (const auto& [name, reservation] : cluster.reservations()) directory->reservations.push_back(reservation);
    directory->licenses = cluster.licenses();
    directory->accounts = cluster.accounts();
    directory->users = cluster.users();
    directory->associations = cluster.associations();
    directory->qos = cluster.qos();
    directory->policies = cluster.policies();
    directory->cluster_name = cluster.cluster_name();
    directory->history = cluster.history();
    directory->state_version = cluster.state_version();
    directory->is_configured = cluster.config_generation() != 0 || !cluster.cluster_name().empty() ||
                               !cluster.nodes().empty() || !cluster.partitions().empty();
    next_.directory = std::move(directory);
}

}  // namespace spur::planning
