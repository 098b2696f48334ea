// The tables between gRPC's status codes and ours.
#include "daemons/common/wire/status.hpp"

#include "core/text/lexical.hpp"

#include <array>

namespace spur::wire {
namespace {

struct CodeRow {
    ErrorCode code;
    std::string_view name;
    Status status;
};
constexpr std::array<CodeRow, 8> codes{{
    {ErrorCode::invalid, "invalid", Status::invalid_argument},
    {ErrorCode::not_found, "not_found", Status::not_found},
    {ErrorCode::conflict, "conflict", Status::failed_precondition},
    {ErrorCode::denied, "denied", Status::permission_denied},
    {ErrorCode::unavailable, "unavailable", Status::unavailable},
    {ErrorCode::limit, "limit", Status::resource_exhausted},
    {ErrorCode::corrupt, "corrupt", Status::data_loss},
    {ErrorCode::internal, "internal", Status::internal},
}};

constexpr std::array<std::string_view, 17> status_names{
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

}  // namespace

std::string_view name_of(Status status) {
    const auto index = static_cast<std::size_t>(status);
    return index < status_names.size() ? status_names[index] : "UNKNOWN";
}

std::string_view name_of(ErrorCode code) {
    for (const auto& row : codes)
        if (row.code == code) return row.name;
    return "internal";
}

std::optional<ErrorCode> find_error_code(std::string_view name) {
    for (const auto& row : codes)
        if (row.name == name) return row.code;
    return std::nullopt;
}

Status status_of(ErrorCode code) {
    for (const auto& row : codes)
        if (row.code == code) return row.status;
    return Status::internal;
}

ErrorCode error_code_of(Status status) {
    switch (status) {
        case Status::unauthenticated:
            return ErrorCode::denied;
        case Status::cancelled:
        case Status::deadline_exceeded:
            return ErrorCode::unavailable;
        case Status::already_exists:
        case Status::aborted:
            return ErrorCode::conflict;
        case Status::out_of_range:
        case Status::unimplemented:
            return ErrorCode::invalid;
        default:
            break;
    }
    for (const auto& row : codes)
        if (row.status == status) return row.code;
    return ErrorCode::internal;
}

void refine(Error& error, const Metadata& trailers) {
    if (const auto* name = trailers.find(error_key)) error.code = find_error_code(*name).value_or(error.code);
    if (const auto* text = trailers.find(errno_key))
        if (const auto number = find_unsigned(*text); number && *number <= UINT16_MAX)
            error.slurm_error = static_cast<std::uint16_t>(*number);
}

}  // namespace spur::wire
