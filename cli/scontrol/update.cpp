// scontrol update, create and delete.
#include "cli/scontrol/update.hpp"

#include "cli/submit/setters.hpp"
#include "core/model/array_spec.hpp"
#include "core/model/reservation.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"
#include "daemons/common/records/job.hpp"
#include "daemons/common/records/node.hpp"
#include "daemons/common/records/partition.hpp"
#include "daemons/common/records/reservation.hpp"

#include <optional>

namespace spur::cli::scontrol {
namespace {

struct Setting {
    std::string key;  // as typed
    std::string value;
    std::string sign = {};  // "+" for TimeLimit+=5
};

// "Key=value", "Key+=value", "Key-=value".
std::optional<Setting> split_setting(std::string_view word) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    auto key = word.substr(0, equals);
    std::string sign;
    if (key.ends_with('+') || key.ends_with('-')) {
        sign = key.back();
        key.remove_suffix(1);
    }
    return Setting{std::string(key), std::string(word.substr(equals + 1)), sign};
}

// What the controller wants in another form than people type it, or would refuse in other words.
Result<std::string> job_value(records::JobFieldId id, const std::string& value) {
    if (id == records::JobFieldId::time_limit || id == records::JobFieldId::time_minimum) {
        const auto digits = std::string_view{value}.substr(value.starts_with('+') || value.starts_with('-') ? 1 : 0);
        if (!parse_limit_min(digits))
            return fail(ErrorCode::invalid, "scontrol: error: Invalid {} value", records::job_field(id).name);
    }
    if (id == records::JobFieldId::mail_type) {
        submit::SubmitOptions typed;
        SPUR_CHECK(submit::set::mail_type(typed, value.c_str()));
        return fmt::format("{}", typed.spec.mail_type());
    }
    return value;
}

Error not_supported(const Setting& setting) {
    return {ErrorCode::invalid, fmt::format("Update of this parameter is not supported: {}={}\nRequest aborted",
                                            setting.key, setting.sign + setting.value)};
}

template <class Row>
Result<void> take_settings(std::span<const Row> rows, const std::vector<Setting>& settings,
                           google::protobuf::Map<std::string, std::string>& changes) {
    for (const auto& setting : settings) {
        const auto* field = records::find_change(rows, setting.key);
        if (field == nullptr) return std::unexpected(not_supported(setting));
        changes[field->change.name] = setting.sign + setting.value;
    }
    return {};
}

enum class Entity { job, job_name, node, partition, reservation, step };
struct EntityWord {
    std::string_view name;
    std::size_t least;
    Entity entity;
};
constexpr EntityWord entity_words[] = {
    {"jobid", 3, Entity::job},
    {"jobname", 4, Entity::job_name},
    {"nodename", 4, Entity::node},
    {"partitionname", 4, Entity::partition},
    {"reservationname", 3, Entity::reservation},
    {"stepid", 4, Entity::step},
};
std::optional<Entity> find_entity(std::string_view typed) {
    const auto small = lower(typed);
    for (const auto& word : entity_words)
        if (small.size() >= word.least && word.name.starts_with(small)) return word.entity;
    return std::nullopt;
}

struct Request {
    std::optional<Entity> entity;
    std::string name;
    std::vector<Setting> settings;
};

// The first word that names something to change says what it is; `job 12` may be two words.
Result<Request> read_words(std::span<const std::string> words) {
    Request request;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto setting = split_setting(words[i]);
        const auto entity = find_entity(setting ? setting->key : words[i]);
        if (!request.entity && entity) {
            request.entity = entity;
            if (setting)
                request.name = setting->value;
            else if (i + 1 < words.size() && words[i + 1].find('=') == std::string::npos)
                request.name = words[++i];
        } else if (setting && request.entity == Entity::reservation && entity == request.entity &&
                   request.name.empty()) {
            request.name = setting->value;  // create reservation reservationname=x
        } else if (setting) {
            // A job's name may be changed by the very word that names jobs.
            request.settings.push_back(*setting);
        } else if (equal_nocase(words[i], "nice")) {
            request.settings.push_back({"nice", "100"});
        } else if (equal_nocase(words[i], "resetaccruetime")) {
            request.settings.push_back({"resetaccruetime", "1"});
        } else {
            return fail(ErrorCode::invalid, "Invalid input: {}\nRequest aborted", words[i]);
        }
    }
    return request;
}

Result<Update> job_update(const Request& request) {
    JobUpdate update;
    update.request.set_action(v1::UpdateJobsRequest::UPDATE);
    auto& changes = *update.request.mutable_changes();
    for (const auto& setting : request.settings) {
        const auto* field = records::find_change(records::job_fields(), setting.key);
        if (field == nullptr) return std::unexpected(not_supported(setting));
        SPUR_TRY(changes[field->change.name], job_value(field->id, setting.sign + setting.value));
    }
    if (update.request.changes().empty()) return fail(ErrorCode::invalid, "No changes specified");
    if (request.entity == Entity::job_name) {
        update.by_name = request.name;
        return update;
    }
    auto refs = parse_job_refs(request.name);
    if (!refs || refs->empty()) return fail(refusal::invalid_job_id.with(" for job {}", request.name));
    for (const auto& ref : *refs) update.request.add_ids(ref.str());
    return update;
}

bool takes_a_node_away(std::string_view state) {
    for (const auto* word : {"down", "drain", "draining", "drained", "fail"})
        if (equal_nocase(state, word)) return true;
    return false;
}

Result<Update> node_update(const Request& request) {
    v1::UpdateNodesRequest update;
    update.set_names(request.name);
    auto& changes = *update.mutable_changes();
    SPUR_CHECK(take_settings(records::node_fields(), request.settings, changes));
    if (changes.empty()) return fail(ErrorCode::invalid, "No changes specified");
    const auto state = changes.find("state");
    if (state != changes.end() && takes_a_node_away(state->second) && !changes.contains("reason"))
        return fail(ErrorCode::invalid, "You must specify a reason when DOWNING or DRAINING a node. Request denied");
    return update;
}

// "Users+=bob" is sent as {"users+": "bob"}: a name may begin with a minus of its own.
Result<v1::UpdateReservationRequest> reservation_update(const Request& request, std::string_view verb) {
    v1::UpdateReservationRequest update;
    update.set_name(request.name);
    for (const auto& setting : request.settings) {
        const auto* field = records::find_change(records::reservation_fields(), setting.key);
        if (field == nullptr)
            return fail(ErrorCode::invalid, "scontrol: error: Unknown parameter {}={}.  No reservation {}.",
                        setting.key, setting.value, verb);
        std::uint32_t purge_s = 0;
        if (field->id == records::ReservationFieldId::flags)
            if (const auto flags = parse_reservation_flags(setting.value, &purge_s); !flags)
                return fail(ErrorCode::invalid, "scontrol: error: {}.  No reservation {}.", flags.error().text, verb);
        (*update.mutable_changes())[field->change.name + setting.sign] = setting.value;
    }
    return update;
}

Result<Update> partition_update(const Request& request, bool create) {
    v1::UpdatePartitionRequest update;
    update.set_name(request.name);
    update.set_create(create);
    SPUR_CHECK(take_settings(records::partition_fields(), request.settings, *update.mutable_changes()));
    return update;
}

template <class Message>
Result<Update> removal(const Request& request) {
    Message update;
    update.set_name(request.name);
    update.set_remove(true);
    return update;
}

}  // namespace

Result<Update> parse_update(std::span<const std::string> words) {
    SPUR_TRY(const auto request, read_words(words));
    if (!request.entity)
        return fail(ErrorCode::invalid,
                    "No valid entity in update command\nInput line must include \"NodeName\", "
                    "\"PartitionName\", \"Reservation\", \"JobId\", or \"SlurmctldDebug\"");
    switch (*request.entity) {
        case Entity::job:
        case Entity::job_name:
            return job_update(request);
        case Entity::node:
            return node_update(request);
        case Entity::partition:
            return partition_update(request, false);
        case Entity::reservation: {
            SPUR_TRY(auto update, reservation_update(request, "update"));
            return update;
        }
        case Entity::step:
            break;
    }
    return fail(ErrorCode::invalid, "changing a step is not supported yet; change its job's TimeLimit instead");
}

Result<Update> parse_create(std::span<const std::string> words) {
    SPUR_TRY(const auto request, read_words(words));
    if (request.entity == Entity::partition) return partition_update(request, true);
    if (request.entity == Entity::reservation) {
        SPUR_TRY(auto create, reservation_update(request, "created"));
        create.set_create(true);
        const auto has = [&](const char* key) { return create.changes().contains(key); };
        const auto lacks = [](const char* what) {
            return fail(ErrorCode::invalid, "scontrol: error: {}.  No reservation created.", what);
        };
        if (!has("starttime")) return lacks("A start time must be given");
        if (!has("duration") && !has("endtime")) return lacks("An end time or duration must be given");
        if (!has("users") && !has("accounts") && !has("groups"))
            return lacks("Either Users/Groups and/or Accounts must be specified");
        return create;
    }
    if (request.entity == Entity::node)
        return fail(ErrorCode::invalid,
                    "nodes are created by configuration: add them to spur.conf, then `scontrol reconfigure`");
    return fail(ErrorCode::invalid, "Invalid creation entity: {}", words.empty() ? "" : words.front());
}

Result<Update> parse_delete(std::span<const std::string> words) {
    SPUR_TRY(const auto request, read_words(words));
    if (request.entity == Entity::partition) return removal<v1::UpdatePartitionRequest>(request);
    if (request.entity == Entity::reservation) return removal<v1::UpdateReservationRequest>(request);
    return fail(ErrorCode::invalid, "Invalid deletion entity: {}", words.empty() ? "" : words.front());
}

}  // namespace spur::cli::scontrol
