// Log entries: a varint of the command's number, then the time and the command itself.
#include "core/store/codec.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "core/store/command_fields.hpp"

namespace spur {

namespace {

// Each command's number in the log is its place in the variant. Append only.
constexpr std::array command_names{"ApplyConfig",     "Tick",
                                   "PruneJobs",       "SubmitJob",
                                   "StartJob",        "JobLaunched",
                                   "FinishJob",       "NodeJobDone",
                                   "CancelJob",       "SignalJob",
                                   "HoldJob",         "ReleaseJob",
                                   "RequeueJob",      "SuspendJob",
                                   "ResumeJob",       "PreemptJob",
                                   "UpdateJob",       "TopJob",
                                   "SetPending",      "CreateStep",
                                   "FinishStep",      "NodeRegistered",
                                   "NodeSilent",      "NodeLost",
                                   "UpdateNode",      "EditPartition",
                                   "EditReservation", "EditAccount",
                                   "EditUser",        "EditAssociation",
                                   "EditQos",         "DecayUsage",
                                   "ResetUsage",      "OutboxDelivered",
                                   "EditAccounts",    "BeginEra",
                                   "TrustStepKey",    "SetStateVersion",
                                   "StepNodeDone"};
static_assert(command_names.size() == std::variant_size_v<Command>);

using ReadBody = bool (*)(std::string_view, Command&);

template <std::size_t Index>
bool read_command(std::string_view body, Command& command) {
    return archive::read_body(archive::Reader{body}, command.emplace<Index>());
}

template <std::size_t... Index>
constexpr auto make_readers(std::index_sequence<Index...>) {
    return std::array<ReadBody, sizeof...(Index)>{&read_command<Index>...};
}
constexpr auto readers = make_readers(std::make_index_sequence<std::variant_size_v<Command>>{});

}  // namespace

std::string_view command_name(const Command& command) { return command_names[command.index()]; }

Result<void> encode(const Stamped<Command>& command, std::string& out, std::uint32_t version) {
    archive::Writer writer{out, version};
    writer.varint(command.what.index());
    writer.varint(archive::to_varint(command.at));
    std::visit([&](const auto& body) { archive::write_body(writer, body); }, command.what);
    if (writer.problem().empty()) return {};
    return fail(ErrorCode::invalid, "this cannot be stored ({}): {}", command_name(command.what), writer.problem());
}

std::string encode(const Stamped<Command>& command) {
    std::string out;
    if (const auto written = encode(command, out); !written) throw std::length_error{written.error().text};
    return out;
}

Result<Stamped<Command>> decode_command(std::string_view bytes) {
    archive::Reader in{bytes};
    std::uint64_t index = 0;
    std::uint64_t time = 0;
    Stamped<Command> command;
    if (!in.varint(index) || !in.varint(time) || !archive::from_varint(time, command.at))
        return fail(ErrorCode::corrupt, "a log entry of {} bytes ends before its command begins", bytes.size());
    if (index >= readers.size())
        return fail(ErrorCode::corrupt,
                    "a log entry holds command {}, which this release does not know; it was "
                    "written by a newer one, or is damaged",
                    index);
    std::string_view body;
    in.bytes(body, in.left());
    if (!readers[index](body, command.what))
        return fail(ErrorCode::corrupt,
                    "a log entry of {} bytes does not hold a {} as this release knows it; it was written by a newer "
                    "one, or is damaged",
                    bytes.size(), command_names[index]);
    if (const auto* next = std::get_if<SetStateVersion>(&command.what); next && next->version > newest_state_version)
        return fail(ErrorCode::corrupt,
                    "the controllers have gone on to version {} of the state and this release knows versions up to {}; "
                    "install the release that the others run",
                    next->version, newest_state_version);
    return command;
}

}  // namespace spur
