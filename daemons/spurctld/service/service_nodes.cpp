// Nodes, partitions, reservations and licences: listing and changing them.
#include <algorithm>
#include <set>

#include "core/machine/validate.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/hostlist.hpp"
#include "daemons/spurctld/service/audit.hpp"
#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/privacy.hpp"
#include "daemons/spurctld/service/service.hpp"
#include "daemons/spurctld/service/updates.hpp"

namespace spur::ctld {

namespace {

// Where nodes are private, the ones that run somebody's jobs are still his to ask for by name.
bool runs_on_all(const planning::ReadModel& model, Uid owner, const HostSet& nodes) {
    HostSet used;
    model.jobs.for_each([&](std::uint32_t, const std::shared_ptr<const Job>& job) {
        if (job->spec->uid != owner || !job->allocation || !job->is_active()) return;
        std::vector<std::string> names;
        for (const auto& share : job->allocation->shares)
            if (const auto& node = model.nodes.get(share.node.value)) names.push_back(node->name.str());
        used = used | HostSet::of(names);
    });
    return !nodes.empty() && used.contains(nodes);
}

}  // namespace

void Service::list_nodes(const Call& call) {
    auto request = call.parse<v1::ListNodesRequest>();
    if (!request) return refuse(call, request.error());
    const auto wanted = HostSet::parse(request->names());
    if (!wanted) return refuse(call, wanted.error());
    if (const auto model = engine_.model();
        Privacy{actor(call), *model}.hides(private_data::nodes) && !runs_on_all(*model, call.caller().uid, *wanted))
        return refuse(call, refusal::denied);
    const auto answer = [this, call, request = std::move(*request), wanted = *wanted] {
        const auto model = engine_.model();
        v1::ListNodesReply reply;
        reply.set_version(model->version);
        if (request.since_version() != 0 && request.since_version() == model->version) {
            reply.set_unchanged(true);
            return call.reply_with(reply);
        }
        model->nodes.for_each([&](std::uint32_t, const std::shared_ptr<const Node>& node) {
            if (!node->configured || !(wanted.empty() || wanted.contains(node->name))) return;
            auto& wire = *reply.add_nodes();
            node_to_wire(*model, *node, users_, wire);
            if (const auto vitals = agents_.vitals(node->id)) {
                wire.set_load(vitals->load);
                wire.set_free_memory_mib(vitals->free_memory_mib);
                wire.set_clock_skew_s(vitals->clock_skew_s);
            }
        });
        call.reply_with(reply);
    };
    in_background([this, answer] {
        std::set<Uid> mentioned;
        engine_.model()->nodes.for_each([&](std::uint32_t, const std::shared_ptr<const Node>& node) {
            if (!node->reason.empty()) mentioned.insert(node->reason_uid);
            if (node->exclusive_uid != nobody) mentioned.insert(node->exclusive_uid);
        });
        users_.learn_names(mentioned, [this, answer] { in_background(answer); });
    });
}

void Service::list_partitions(const Call& call) {
    const auto request = call.parse<v1::ListPartitionsRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    const Privacy privacy{actor(call), *model};
    if (privacy.hides(private_data::partitions)) return refuse(call, refusal::denied);
    const auto answer = [call, model, request = *request](const OwnerGroups& groups) {
        v1::ListPartitionsReply reply;
        reply.set_version(model->version);
        for (const auto& partition : model->directory->partitions)
            if ((request.name().empty() || partition.name == request.name()) &&
                (!partition.hidden || request.all_partitions() || !request.name().empty()) && admits(partition, groups))
                partition_to_wire(*model, partition, *reply.add_partitions());
        call.reply_with(reply);
    };
    // As in Slurm, whoever is in none of a partition's groups sees it only with --all.
    const bool asks_groups = !privacy.who().is_operator() && !request->all_partitions() &&
                             std::ranges::any_of(model->directory->partitions,
                                                 [](const Partition& each) { return !each.allow_groups.empty(); });
    if (!asks_groups) return answer({.names = {}, .exempt = true});
    users_.find_with_groups(call.caller().uid, [this, call, answer](const Result<Users::Record>& found) {
        answer(found ? groups_of(call, **found) : OwnerGroups{});
    });
}

void Service::list_reservations(const Call& call) {
    const auto request = call.parse<v1::ListReservationsRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    const Privacy privacy{actor(call), *model};
    v1::ListReservationsReply reply;
    for (const auto& reservation : model->directory->reservations)
        if ((request->name().empty() || reservation.name == request->name()) && privacy.shows(reservation))
            reservation_to_wire(*model, reservation, *reply.add_reservations());
    call.reply_with(reply);
}

void Service::list_licenses(const Call& call) {
    const auto request = call.parse<v1::ListLicensesRequest>();
    if (!request) return refuse(call, request.error());
    const auto model = engine_.model();
    v1::ListLicensesReply reply;
    for (const auto& [name, pool] : model->directory->licenses) {
        if (!request->name().empty() && name != request->name()) continue;
        auto& wire = *reply.add_licenses();
        wire.set_name(name.str());
        wire.set_total(pool.total);
        wire.set_used(pool.used);
        for (const auto& reservation : model->directory->reservations)
            for (const auto& held : reservation.licenses)
                if (held.name == name && reservation.is_active(model->now))
                    wire.set_reserved(wire.reserved() + held.count);
    }
    call.reply_with(reply);
}

void Service::list_switches(const Call& call) {
    const auto names = [](const std::vector<Text>& list) {
        std::vector<std::string> texts;
        for (const auto& name : list) texts.push_back(name.str());
        return compress_hosts(texts);
    };
    v1::ListSwitchesReply reply;
    for (const auto& one : engine_.model()->switches->all()) {
        auto& wire = *reply.add_switches();
        wire.set_name(one.name.str());
        wire.set_level(one.level);
        wire.set_nodes(names(one.nodes));
        wire.set_switches(names(one.switches));
    }
    call.reply_with(reply);
}

void Service::update_nodes(const Call& call) {
    const auto request = call.parse<v1::UpdateNodesRequest>();
    if (!request) return refuse(call, request.error());
    const auto who = operator_or_refusal(call);
    if (!who) return refuse(call, who.error());
    auto update = node_update(request->names(), request->changes(), *who, *engine_.model());
    if (!update) return refuse(call, update.error());
    const bool reboots = update->action == NodeAction::reboot || update->action == NodeAction::reboot_asap;
    if (reboots && !agents_.can_reboot())
        return refuse(call, {ErrorCode::conflict,
                             "there is no program to reboot nodes with: name it in spur.conf, "
                             "[agent] reboot_program, and run scontrol reconfigure"});
    change(call, std::move(*update), [](const Events&) { return v1::Ack{}.SerializeAsString(); });
}

void Service::update_partition(const Call& call) {
    const auto request = call.parse<v1::UpdatePartitionRequest>();
    if (!request) return refuse(call, request.error());
    const auto who = operator_or_refusal(call);
    if (!who) return refuse(call, who.error());
    const auto model = engine_.model();
    const auto* present = model->find_partition(request->name());
    if (present == nullptr && !request->create())
        return refuse(call, refusal::invalid_partition.as(ErrorCode::not_found));
    if (present != nullptr && request->create()) return refuse(call, {ErrorCode::conflict, "Partition already exists"});
    EditPartition command{.edit = request->create()   ? Edit::create
                                  : request->remove() ? Edit::remove
                                                      : Edit::update,
                          .partition = {}};
    if (present != nullptr) command.partition = *present;
    command.partition.name = request->name();
    auto changed = changed_partition(std::move(command.partition), request->changes());
    if (!changed) return refuse(call, changed.error());
    command.partition = std::move(*changed);
    auto note = fmt::format("partition {}: {} by {}: {}", audited(std::string_view{request->name()}),
                            past_of(command.edit), audited(*who), list_changes(request->changes()));
    change(call, std::move(command), [this, note = std::move(note)](const Events&) {
        hooks_.audit(note);
        return v1::Ack{}.SerializeAsString();
    });
}

void Service::update_reservation(const Call& call) {
    const auto request = call.parse<v1::UpdateReservationRequest>();
    if (!request) return refuse(call, request.error());
    const auto who = operator_or_refusal(call);
    if (!who) return refuse(call, who.error());
    const auto model = engine_.model();
    const auto* present = model->find_reservation(request->name());
    if (present == nullptr && !request->create()) return refuse(call, refusal::invalid_reservation);
    EditReservation command{.edit = request->create()   ? Edit::create
                                    : request->remove() ? Edit::remove
                                                        : Edit::update,
                            .reservation = {},
                            .actor = *who};
    if (present != nullptr) command.reservation = *present;
    command.reservation.name = request->name();
    if (request->remove()) return change_reservation(call, std::move(command));
    // It may name users and groups, which only the directory service knows.
    const auto change_it = [now = engine_.now(), model, wanted = command.reservation,
                            request = *request](UserDirectory& directory) {
        return changed_reservation(wanted, request.changes(), *model, directory, now, request.create());
    };
    users_.ask<Reservation>(change_it, [this, call, command = std::move(command)](Result<Reservation> changed) mutable {
        if (!changed) return refuse(call, changed.error());
        command.reservation = std::move(*changed);
        change_reservation(call, std::move(command));
    });
}

void Service::change_reservation(const Call& call, EditReservation command) {
    const auto asked_for = command.reservation.name.str();
    change(call, std::move(command), [asked_for](const Events& events) {
        v1::UpdateReservationReply reply;
        reply.set_name(asked_for);
        for (const auto& event : events)
            if (const auto* changed = std::get_if<ReservationChanged>(&event)) reply.set_name(changed->name.str());
        return reply.SerializeAsString();
    });
}

}  // namespace spur::ctld
