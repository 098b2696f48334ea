// Is a submission acceptable, and what does it mean here? In the order in which sbatch's users know the refusals.
#include "core/machine/validate.hpp"

#include <algorithm>
#include <functional>

#include "core/machine/limits.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/constraint.hpp"
#include "core/model/dependency.hpp"
#include "core/model/gres.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"

namespace spur {

namespace {

bool is_listed(const std::vector<Text>& list, std::string_view name) {
    return std::ranges::any_of(list, [&](const Text& entry) { return entry == name; });
}

class Check {
public:
    Check(const Picture& picture, JobSpec& spec, const JobSpec* before, const Actor& actor, UnixSeconds now,
          const OwnerGroups& groups)
        : picture_{picture}, spec_{spec}, before_{before}, actor_{actor}, now_{now}, groups_{groups} {}

    Result<void> run() {
        using S = JobSpec;
        if (!before_) SPUR_CHECK(identity());
        if (changed(&S::partitions, &S::reservation)) SPUR_CHECK(partitions());
        if (changed(&S::partitions, &S::reservation, &S::account, &S::qos)) SPUR_CHECK(account());
        if (changed(&S::partitions, &S::account, &S::qos, &S::time_limit_min, &S::time_min_min, &S::begin, &S::deadline,
                    &S::switches, &S::switches_wait_s))
            SPUR_CHECK(times());
        if (changed(&S::partitions, &S::min_nodes, &S::max_nodes, &S::tasks, &S::cpus_per_task, &S::tasks_per_node,
                    &S::node_list, &S::exclude_nodes))
            SPUR_CHECK(nodes());
        SPUR_CHECK(expressions());
        if (!before_) SPUR_CHECK(memory());
        if (changed(&S::partitions, &S::min_cpus_per_node, &S::tasks_per_node, &S::cpus_per_task, &S::mem_per_node_mib,
                    &S::mem_per_cpu_mib, &S::min_tmp_mib, &S::sockets_per_node, &S::cores_per_socket,
                    &S::threads_per_core, &S::gres_per_node, &S::gres_per_task))
            SPUR_CHECK(fits_some_node());
        return {};
    }

private:
    // A submission is all new; of an update, what differs from before.
    template <class... Members>
    bool changed(Members... members) const {
        return !before_ || (!(spec_.*members == before_->*members) || ...);
    }

    Result<void> identity() {
        if (spec_.uid != actor_.uid && !actor_.is_administrator()) return fail(refusal::denied);
        if (spec_.uid == 0 && picture_.policies().disable_root_jobs)
            return fail(refusal::denied.with(
                ": root runs no jobs here (disable_root_jobs = false under [jobs] in spur.conf lets it)"));
        if (spec_.kind == JobKind::batch && spec_.script.empty()) return fail(refusal::no_script);
        if (spec_.nice && *spec_.nice < 0 && !actor_.is_operator()) return fail(refusal::invalid_nice);
        if (spec_.priority && *spec_.priority != 0 && !actor_.is_operator()) spec_.priority.reset();
        if (spec_.admin_comment.size() && !actor_.is_operator()) return fail(refusal::denied);
        return {};
    }

    Result<void> partitions() {
        if (spec_.partitions.empty()) {
            const auto* standard = picture_.default_partition();
            if (!standard) return fail(refusal::no_default_partition);
            spec_.partitions = {standard->name};
        }
        for (auto& name : spec_.partitions) {
            const auto* partition = picture_.find_partition(name);
            if (!partition) return fail(refusal::invalid_partition);
            if (!partition->may_queue()) return fail(refusal::partition_down);
            if (partition->root_only && actor_.uid != 0) return fail(refusal::denied);
            if (partition->disable_root_jobs && spec_.uid == 0) return fail(refusal::denied);
            // Jobs of root go everywhere, as do those of the controller's own user.
            if (spec_.uid != 0 && changed(&JobSpec::partitions) && !admits(*partition, groups_))
                return fail(refusal::group_denied);
            if (partition->require_reservation && spec_.reservation.empty())
                return fail(refusal::invalid_reservation.as(ErrorCode::invalid));
            name = partition->name;
        }
        return {};
    }

    Result<void> account() {
        const bool enforced = picture_.policies().enforce & enforce_flag::associations;
        if (spec_.account.empty())
            if (const auto* user = picture_.find_user(spec_.user_name)) spec_.account = user->default_account;
        for (const auto& name : spec_.partitions) {
            const auto* association = picture_.find_association(spec_.account, spec_.user_name, name);
            if (!association && enforced) return fail(refusal::invalid_account);
            SPUR_CHECK(quality(association));
        }
        for (const auto& name : spec_.partitions) {
            const auto& partition = *picture_.find_partition(name);
            if (!partition.allow_accounts.empty() && !is_listed(partition.allow_accounts, spec_.account))
                return fail(refusal::invalid_account);
            if (is_listed(partition.deny_accounts, spec_.account)) return fail(refusal::invalid_account);
            if (!partition.allow_qos.empty() && !is_listed(partition.allow_qos, spec_.qos))
                return fail(refusal::invalid_qos);
            if (is_listed(partition.deny_qos, spec_.qos)) return fail(refusal::invalid_qos);
        }
        return {};
    }

    Result<void> quality(const Association* association) {
        const bool enforced = picture_.policies().enforce & enforce_flag::qos;
        const auto allowed = [&](const Association* entry) {
            while (entry && entry->qos.empty()) entry = picture_.find_association(entry->parent);
            static const std::vector<Text> only_normal{"normal"};
            if (!entry) return enforced && association ? &only_normal : nullptr;
            return &entry->qos;
        }(association);
        const auto* chooses = association;  // the nearest that names a default
        while (chooses && chooses->default_qos.empty()) chooses = picture_.find_association(chooses->parent);
        if (spec_.qos.empty()) {
            if (chooses)
                spec_.qos = chooses->default_qos;
            else if (allowed && allowed->size() == 1)
                spec_.qos = allowed->front();
            else if (picture_.find_qos("normal"))
                spec_.qos = "normal";
        } else if (!picture_.qos().empty() && !picture_.find_qos(spec_.qos)) {
            return fail(refusal::invalid_qos);
        }
        if (enforced && allowed && !spec_.qos.empty() && !is_listed(*allowed, spec_.qos))
            return fail(refusal::invalid_qos);
        if (const auto* qos = picture_.find_qos(spec_.qos))
            if (qos->flags & qos_flag::require_reservation && spec_.reservation.empty())
                return fail(refusal::invalid_qos);
        return {};
    }

    bool enforces(const std::function<bool(const Partition&)>& breaks) const {
        const auto mode = picture_.policies().enforce_part_limits;
        if (mode == EnforcePartLimits::no) return false;
        const auto broken = [&](const Text& name) { return breaks(*picture_.find_partition(name)); };
        return mode == EnforcePartLimits::any ? std::ranges::all_of(spec_.partitions, broken)
                                              : std::ranges::any_of(spec_.partitions, broken);
    }

    Result<void> times() {
        const auto& first = *picture_.find_partition(spec_.partitions.front());
        if (!spec_.time_limit_min) {
            const auto by_default =
                first.default_time_min ? first.default_time_min : picture_.policies().default_time_min;
            spec_.time_limit_min = by_default ? by_default : first.max_time_min;
            if (const auto longest = longest_wall(picture_, spec_))
                spec_.time_limit_min = std::min(*spec_.time_limit_min, *longest);
        }
        const auto limit = *spec_.time_limit_min;
        if (limit == 0) return fail(refusal::invalid_time_limit);
        const auto shortest = spec_.time_min_min.value_or(limit);
        if (shortest > limit) return fail(refusal::invalid_time_min);
        const auto* qos = picture_.find_qos(spec_.qos);
        const bool passes = qos && (qos->flags & qos_flag::partition_time_limit);
        if (!passes && enforces([&](const Partition& partition) { return shortest > partition.max_time_min; }))
            return fail(refusal::invalid_time_limit);
        if (const auto most = picture_.policies().max_switch_wait_s; spec_.switches)
            spec_.switches_wait_s = std::min(spec_.switches_wait_s.value_or(most), most);
        if (spec_.deadline && changed(&JobSpec::deadline, &JobSpec::begin)) {
            const auto earliest = std::max(now_, spec_.begin.value_or(0));
            if (*spec_.deadline <= earliest) return fail(refusal::invalid_time);
        }
        return {};
    }

    Result<void> nodes() {
        const auto least = spec_.min_nodes.value_or(1);
        if (least == 0 || spec_.max_nodes.value_or(least) < least) return fail(refusal::node_count);
        if (spec_.tasks && *spec_.tasks == 0) return fail(refusal::bad_task_count);
        if (spec_.cpus_per_task && *spec_.cpus_per_task == 0) return fail(refusal::cpu_count);
        SPUR_CHECK(task_counts());
        if (changed(&JobSpec::node_list)) SPUR_CHECK(known_nodes(spec_.node_list));
        if (changed(&JobSpec::exclude_nodes)) SPUR_CHECK(known_nodes(spec_.exclude_nodes));
        if (!spec_.node_list.empty()) {
            SPUR_TRY(const auto wanted, HostSet::parse(spec_.node_list));
            const auto most = spec_.max_nodes ? spec_.max_nodes : spec_.min_nodes;
            if (most && *most < wanted.size()) return fail(refusal::node_count);
            if (!spec_.exclude_nodes.empty()) {
                SPUR_TRY(const auto unwanted, HostSet::parse(spec_.exclude_nodes));
                if (wanted.intersects(unwanted)) return fail(refusal::invalid_node);
            }
        }
        if (enforces([&](const Partition& partition) {
                return least > std::min<std::size_t>(partition.max_nodes, partition.nodes.size()) ||
                       spec_.max_nodes.value_or(least) < partition.min_nodes;
            }))
            return fail(refusal::node_count);
        return {};
    }

    // MaxTasksPerNode on every node there is.
    Result<void> task_counts() const {
        const auto most = picture_.policies().max_tasks_per_node;
        if (spec_.tasks_per_node.value_or(0) > most) return fail(refusal::bad_task_count);
        if (spec_.tasks.value_or(0) > std::uint64_t{most} * std::max<std::size_t>(1, picture_.node_count()))
            return fail(refusal::bad_task_count);
        return {};
    }

    Result<void> known_nodes(const Text& list) const {
        if (list.empty()) return {};
        // Longer lists name nodes that do not exist, or the same ones again and again: they are not expanded.
        const auto hosts = HostList::parse(list, std::max<std::size_t>(1024, 4 * picture_.node_count()));
        if (!hosts) return fail(refusal::invalid_node);
        for (const auto& name : hosts->names())
            if (const auto* node = picture_.find_node(name); !node || !node->configured)
                return fail(refusal::invalid_node);
        return {};
    }

    Result<void> expressions() {
        using S = JobSpec;
        if (changed(&S::partitions, &S::features, &S::prefer)) SPUR_CHECK(features());
        for (const auto member : {&S::gres_per_node, &S::gres_per_job, &S::gres_per_task, &S::gres_per_socket})
            if (!(spec_.*member).empty() && changed(&S::partitions, member)) SPUR_CHECK(gres(spec_.*member));
        if (changed(&S::licenses)) SPUR_CHECK(licenses());
        if (changed(&S::distribution) && !Distribution::parse(spec_.distribution))
            return fail(refusal::bad_distribution);
        if (changed(&S::dependency) && !spec_.dependency.empty() && !DependencyList::parse(spec_.dependency))
            return fail(refusal::dependency_problem);
        if (changed(&S::array) && !spec_.array.empty() &&
            !ArraySpec::parse(spec_.array, picture_.policies().max_array_size))
            return fail(refusal::invalid_array);
        if (!spec_.array.empty() && spec_.kind != JobKind::batch) return fail(refusal::invalid_array);
        if (!spec_.reservation.empty() && changed(&S::reservation, &S::account)) return reservation();
        return {};
    }

    Result<void> licenses() const {
        SPUR_TRY(const auto wanted, parse_licenses(spec_.licenses));
        for (const auto& license : wanted) {
            const auto* pool = picture_.find_license(license.name);
            if (!pool || license.count > pool->total) return fail(refusal::invalid_license);
        }
        return {};
    }

    Result<void> features() const {
        for (const auto* text : {&spec_.features, &spec_.prefer}) {
            if (text->empty()) continue;
            const auto constraint = Constraint::parse(*text);
            if (!constraint) return fail(refusal::invalid_feature);
            for (const auto& feature : constraint->features())
                if (!some_class([&](const NodeClass& nodes) { return is_listed(nodes.features, feature); }))
                    return fail(refusal::invalid_feature);
        }
        return {};
    }

    Result<void> gres(const Text& text) const {
        const auto list = parse_gres(text);
        if (!list) return fail(refusal::invalid_gres);
        for (const auto& wanted : *list) {
            const auto has = [&](const NodeClass& nodes) {
                return std::ranges::any_of(nodes.gres, [&](const GresPool& pool) { return pool.name == wanted.name; });
            };
            if (!some_class(has)) return fail(refusal::invalid_gres);
        }
        return {};
    }

    Result<void> reservation() const {
        const auto* found = picture_.find_reservation(spec_.reservation);
        if (!found) return fail(refusal::invalid_reservation.as(ErrorCode::invalid));
        if (!found->admits(spec_) && !actor_.is_operator()) return fail(refusal::reservation_denied);
        return {};
    }

    Result<void> memory() {
        if (spec_.mem_per_node_mib || spec_.mem_per_cpu_mib || spec_.mem_per_gpu_mib) return {};
        const auto& partition = *picture_.find_partition(spec_.partitions.front());
        const auto& policies = picture_.policies();
        if (partition.default_mem_per_cpu_mib)
            spec_.mem_per_cpu_mib = partition.default_mem_per_cpu_mib;
        else if (partition.default_mem_per_node_mib)
            spec_.mem_per_node_mib = partition.default_mem_per_node_mib;
        else if (policies.default_mem_per_cpu_mib)
            spec_.mem_per_cpu_mib = policies.default_mem_per_cpu_mib;
        else if (policies.default_mem_per_node_mib)
            spec_.mem_per_node_mib = policies.default_mem_per_node_mib;
        return {};
    }

    template <class F>
    bool some_class(F&& fits) const {
        const auto& classes = picture_.node_classes();
        return std::ranges::any_of(spec_.partitions, [&](const Text& name) {
            const auto place = classes.find(name);
            return place != classes.end() && std::ranges::any_of(place->second, fits);
        });
    }

    // What each node must have must be had by one of them; how many such nodes there are is the scheduler's question.
    Result<void> fits_some_node() const {
        const auto cpus =
            std::max<std::uint64_t>(spec_.min_cpus_per_node.value_or(1),
                                    std::uint64_t{spec_.tasks_per_node.value_or(1)} * spec_.cpus_per_task.value_or(1));
        if (!some_class([&](const NodeClass& nodes) { return nodes.cpus >= cpus; }))
            return fail(refusal::node_config.below("CPU count per node can not be satisfied"));
        const auto memory = spec_.mem_per_node_mib.value_or(spec_.mem_per_cpu_mib.value_or(0));
        if (!some_class([&](const NodeClass& nodes) { return nodes.memory_mib >= memory; }))
            return fail(refusal::node_config.below("Memory specification can not be satisfied"));
        if (!some_class([&](const NodeClass& nodes) { return nodes.tmp_mib >= spec_.min_tmp_mib.value_or(0); }))
            return fail(refusal::node_config.below("Temporary disk specification can not be satisfied"));
        const auto has_shape = [&](const NodeClass& nodes) {
            return nodes.topology.sockets >= spec_.sockets_per_node.value_or(0) &&
                   nodes.topology.cores_per_socket >= spec_.cores_per_socket.value_or(0) &&
                   nodes.topology.threads_per_core >= spec_.threads_per_core.value_or(0);
        };
        if (!some_class(has_shape))
            return fail(refusal::node_config.below("Socket, core and/or thread specification can not be satisfied"));
        for (const auto* text : {&spec_.gres_per_node, &spec_.gres_per_task}) {
            const auto wanted = text->empty() ? Result<GresList>{} : parse_gres(*text);
            if (wanted && !wanted->empty() &&
                !some_class([&](const NodeClass& nodes) { return has_gres(nodes, *wanted); }))
                return fail(refusal::node_config);
        }
        return {};
    }

    static bool has_gres(const NodeClass& nodes, const GresList& wanted) {
        return std::ranges::all_of(wanted, [&](const Gres& gres) {
            std::uint64_t count = 0;
            for (const auto& pool : nodes.gres)
                if (pool.name == gres.name && (gres.type.empty() || pool.type == gres.type)) count += pool.count;
            return count >= gres.count;
        });
    }

    const Picture& picture_;
    JobSpec& spec_;
    const JobSpec* before_;  // none: a submission
    const Actor& actor_;
    UnixSeconds now_;
    const OwnerGroups& groups_;
};

}  // namespace

bool admits(const Partition& partition, const OwnerGroups& groups) {
    return partition.allow_groups.empty() || groups.exempt ||
           std::ranges::any_of(groups.names, [&](const Text& name) { return is_listed(partition.allow_groups, name); });
}

Result<JobSpec> validate(const Picture& picture, JobSpec spec, const Actor& actor, UnixSeconds now,
                         const OwnerGroups& groups) {
    SPUR_CHECK((Check{picture, spec, nullptr, actor, now, groups}.run()));
    return spec;
}

Result<JobSpec> revalidate(const Picture& picture, JobSpec changed, const JobSpec& before, const Actor& actor,
                           UnixSeconds now, const OwnerGroups& groups) {
    SPUR_CHECK((Check{picture, changed, &before, actor, now, groups}.run()));
    return changed;
}

}  // namespace spur
