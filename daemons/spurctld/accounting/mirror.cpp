// Rows of spur/plugin/draft/accounting_fields.h, filled from the read model.
#include "daemons/spurctld/accounting/mirror.hpp"

#include <spur/plugin/draft/accounting.h>

#include "core/model/tres.hpp"
#include "core/text/lexical.hpp"
#include "daemons/common/history/row_message.hpp"
#include "daemons/spurctld/service/convert.hpp"
#include "daemons/spurctld/service/convert_accounts.hpp"
#include "daemons/spurctld/service/tracked_tres.hpp"

namespace spur::ctld {
namespace {

using history::RowMessage;

std::string joined_names(const std::vector<Text>& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ",") + name.str();
    return text;
}

constexpr std::string_view admin_levels[] = {"None", "Operator", "Administrator"};

std::string coordinated_by(const planning::Directory& directory, const Text& user) {
    std::string text;
    for (const auto& [name, account] : directory.accounts)
        for (const auto& coordinator : account.coordinators)
            if (coordinator == user) text += (text.empty() ? "" : ",") + name.str();
    return text;
}

void association_to_row(const planning::ReadModel& model, const Association& entry, v1::HistoryRow& row) {
    const auto* const parent = model.find_association(entry.parent);
    RowMessage{row, SPUR_ROW_ASSOCIATION}
        .number("id", entry.id.value)
        .text("account", entry.account)
        .text("user_name", entry.user)
        .text("partition", entry.partition)
        .text("parent", parent == nullptr || !entry.user.empty() ? std::string_view{} : parent->account.view())
        .number("shares", entry.shares)
        .text("default_qos", entry.default_qos)
        .text("qos", joined_names(entry.qos));
}

void qos_to_row(const Qos& qos, v1::HistoryRow& row) {
    v1::Qos wire;
    qos_to_wire(qos, wire);
    RowMessage{row, SPUR_ROW_QOS}
        .text("name", qos.name)
        .number("id", qos.id)
        .text("description", qos.description)
        .number("priority", qos.priority)
        .text("preempt", joined_names(qos.preempt))
        .text("preempt_mode", wire.preempt_mode())
        .real("usage_factor", qos.usage_factor)
        .text("flags", std::to_string(qos.flags));
}

// "gres/gpu:a100" is of the type "gres" and the name "gpu:a100".
void tres_to_row(std::int64_t id, std::string_view name, v1::HistoryRow& row) {
    const auto slash = name.find('/');
    RowMessage{row, SPUR_ROW_TRES}
        .number("id", id)
        .text("type", name.substr(0, slash))
        .text("name", slash == std::string_view::npos ? std::string_view{} : name.substr(slash + 1));
}

void cluster_to_row(const planning::ReadModel& model, const std::string& host, std::uint16_t port,
                    v1::HistoryRow& row) {
    TresList all;
    model.nodes.for_each([&](std::uint32_t, const std::shared_ptr<const Node>& node) {
        if (!node->configured || node->state == NodeState::future) return;
        const auto own = configured_tres(*node);
        for (const auto& one : own.entries()) all.add(one.name, one.count);
        all.add("node", 1);
    });
    RowMessage{row, SPUR_ROW_CLUSTER}
        .text("name", model.directory->cluster_name)
        .text("control_host", host)
        .number("control_port", port)
        .tres("tres", all);
}

}  // namespace

void event_to_row(const NodeEvent& event, v1::HistoryRow& row) {
    RowMessage{row, SPUR_ROW_EVENT}
        .text("node", event.node)
        .number("start_time", event.start)
        .number_if("end_time", event.end)
        .text("state", event.state)
        .text("reason", event.reason)
        .number("reason_uid", event.reason_uid)
        .tres("tres", event.tres);
}

void change_to_row(const AccountsChange& change, UnixSeconds at, v1::HistoryRow& row) {
    RowMessage{row, SPUR_ROW_TRANSACTION}
        .number("time", at)
        .text("actor", change.actor)
        .number("number", change.number)
        .text("action", change.action)
        .text("subject", change.subject)
        .text("change", change.change);
}

void reservation_to_row(const planning::ReadModel& model, const Reservation& reservation, v1::HistoryRow& row) {
    v1::Reservation wire;
    reservation_to_wire(model, reservation, wire);
    auto tres = TresList::parse(wire.tres()).value_or(TresList{});
    if (wire.node_count() != 0) tres.set("node", wire.node_count());
    RowMessage{row, SPUR_ROW_RESERVATION}
        .text("name", wire.name())
        .number("start_time", wire.start_time())
        .number("end_time", wire.end_time())
        .text("nodes", wire.nodes())
        .tres("tres", tres)
        .text("accounts", wire.accounts())
        .text("users", wire.users())
        .text("flags", wire.flags());
}

void mirror_to_rows(const planning::ReadModel& model, const std::string& host, std::uint16_t port,
                    v1::HistoryMirror& mirror) {
    const auto& directory = *model.directory;
    cluster_to_row(model, host, port, *mirror.add_rows());
    for (const auto& [name, account] : directory.accounts)
        RowMessage{*mirror.add_rows(), SPUR_ROW_ACCOUNT}
            .text("name", name)
            .text("description", account.description)
            .text("organization", account.organization);
    for (const auto& [name, user] : directory.users)
        RowMessage{*mirror.add_rows(), SPUR_ROW_USER}
            .text("name", name)
            .text("default_account", user.default_account)
            .text("default_wckey", user.default_wckey)
            .text("admin_level", admin_levels[static_cast<std::size_t>(user.admin_level) % std::size(admin_levels)])
            .text("coordinates", coordinated_by(directory, name));
    for (const auto& [id, entry] : directory.associations) association_to_row(model, entry, *mirror.add_rows());
    for (const auto& [name, qos] : directory.qos) qos_to_row(qos, *mirror.add_rows());
    std::int64_t id = 0;
    for (const auto& name : tracked_tres(model)) tres_to_row(++id, name, *mirror.add_rows());
    for (const auto& reservation : directory.reservations) reservation_to_row(model, reservation, *mirror.add_rows());
}

}  // namespace spur::ctld
