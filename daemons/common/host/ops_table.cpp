// The checks behind OpsTable, and the words for failures.
#include "daemons/common/host/ops_table.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "daemons/common/host/frame.hpp"
#include "daemons/common/host/memory.hpp"

namespace spur::host {
namespace {

constexpr std::uint32_t most_table_bytes = 64U * 1024;

std::string words_of(spur_status status) {
    switch (status) {
        case SPUR_E_INVALID:
            return "invalid";
        case SPUR_E_UNAVAILABLE:
            return "unavailable";
        case SPUR_E_IO:
            return "I/O failed";
        case SPUR_E_BUSY:
            return "busy";
        case SPUR_E_DENIED:
            return "denied";
        case SPUR_E_CORRUPT:
            return "corrupt";
        case SPUR_E_UNSUPPORTED:
            return "unsupported";
        case SPUR_E_STOPPED:
            return "stopped";
        case SPUR_E_NOT_FOUND:
            return "not found";
        case SPUR_E_INTERNAL:
            return "internal error";
        default:
            return fmt::format("status {}", status);
    }
}

std::string text_of(const spur_error& error) {
    std::string text{error.text, ::strnlen(error.text, sizeof(error.text))};
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return text;
}

std::uint64_t major_of(std::string_view id) {
    const auto slash = id.rfind('/');
    return slash == std::string_view::npos ? 0 : std::strtoull(std::string{id.substr(slash + 1)}.c_str(), nullptr, 10);
}

}  // namespace

// Where there is none, which side is the older one?
Result<const OlderInterface*> choose_interface(const AxisInfo& axis, const DescriptorInfo& plugin,
                                               const std::string& program) {
    const auto& listed = plugin.interfaces;
    const auto lists = [&](const char* id) { return std::ranges::find(listed, id) != listed.end(); };
    const std::string_view newest_of_ours = axis.interface;
    if (lists(axis.interface)) return nullptr;
    std::string ours{newest_of_ours};
    for (const auto& older : axis.older) {
        if (lists(older.id)) return &older;
        ours += fmt::format(" and {}", older.id);
    }
    const auto family = newest_of_ours.substr(0, newest_of_ours.rfind('/') + 1);
    std::string theirs;
    std::uint64_t newest = 0;
    for (const auto& id : listed) {
        if (!std::string_view{id}.starts_with(family)) continue;
        theirs += (theirs.empty() ? "" : " and ") + id;
        newest = std::max(newest, major_of(id));
    }
    const auto& type = plugin.type;
    if (theirs.empty())
        return fail(ErrorCode::invalid,
                    "plugin {} refused: it lists {} and this {} needs {}; choose a plugin for the axis {}", type,
                    fmt::join(listed, ", "), program, ours, axis.name);
    return fail(
        ErrorCode::invalid, "plugin {} refused: it speaks {}, this {} speaks {}; install {}", type, theirs, program,
        ours,
        newest > major_of(newest_of_ours) ? "a release of the plugin for Spur 1.x" : "a newer release of the plugin");
}

Result<OpsTable> OpsTable::make(const AxisInfo& axis, const OlderInterface* older, const std::string& type,
                                const std::string& program, const void* answered, spur_plugin* self) {
    const char* const interface = older != nullptr ? older->id : axis.interface;
    const auto size = answered == nullptr ? std::nullopt : copy_value(static_cast<const std::uint32_t*>(answered));
    if (answered == nullptr)
        return fail(ErrorCode::invalid,
                    "plugin {} refused: it lists {} and its query() answers NULL for it; this {} needs the table", type,
                    interface, program);
    if (!size || reinterpret_cast<std::uintptr_t>(answered) % alignof(void*) != 0)
        return fail(ErrorCode::invalid, "plugin {} refused: its query() answers with a pointer that cannot be read",
                    type);
    if (*size > most_table_bytes)
        return fail(ErrorCode::invalid,
                    "plugin {} refused: its {} table claims to be {} bytes long; its `size` was not set to sizeof",
                    type, interface, *size);
    OpsTable table;
    table.copy_.assign(std::max<std::size_t>(*size / sizeof(std::uint64_t) + 1, most_ops + 2), 0);
    if (!copy_memory(table.copy_.data(), answered, *size))
        return fail(ErrorCode::invalid,
                    "plugin {} refused: its {} table claims {} bytes and not all of them can be read", type, interface,
                    *size);
    table.ops_ = table.copy_.data();
    table.size_ = *size;
    table.self_ = self;
    for (const auto& op : older != nullptr ? older->ops : axis.ops) {
        const bool is_there = op.offset + sizeof(void*) <= table.size_;
        if (op.required && !is_there)
            return fail(ErrorCode::invalid,
                        "plugin {} refused: its {} table is {} bytes and ends before {}(), which this {} requires; "
                        "build it with the "
                        "headers of Spur 1.0 or later",
                        type, interface, table.size_, op.name, program);
        const void* const function = table.find(op.offset);
        if (op.required && function == nullptr)
            return fail(ErrorCode::invalid, "plugin {} refused: {}() of its {} table is NULL and this {} requires it",
                        type, op.name, interface, program);
        if (function != nullptr && !is_code(function))
            return fail(ErrorCode::invalid, "plugin {} refused: {}() of its {} table does not point to code", type,
                        op.name, interface);
    }
    if (older == nullptr) return table;
    table.adapter_ = older->adapt(table.ops_, self);
    table.ops_ = table.adapter_->ops;
    table.size_ = copy_value(static_cast<const std::uint32_t*>(table.ops_)).value_or(0);
    table.self_ = table.adapter_->self;
    return table;
}

const void* OpsTable::find(std::uint32_t offset) const {
    if (offset + sizeof(void*) > size_) return nullptr;
    const void* function = nullptr;
    std::memcpy(&function, static_cast<const char*>(ops_) + offset, sizeof(function));
    return function;
}

ErrorCode code_of(spur_status status) {
    switch (status) {
        case SPUR_E_INVALID:
        case SPUR_E_UNSUPPORTED:
            return ErrorCode::invalid;
        case SPUR_E_UNAVAILABLE:
        case SPUR_E_STOPPED:
        case SPUR_E_BUSY:
            return ErrorCode::unavailable;
        case SPUR_E_DENIED:
            return ErrorCode::denied;
        case SPUR_E_CORRUPT:
            return ErrorCode::corrupt;
        case SPUR_E_NOT_FOUND:
            return ErrorCode::not_found;
        default:
            return ErrorCode::internal;
    }
}

Error failure_of(const std::string& type, const char* op, spur_status status, const spur_error& error) {
    const auto text = text_of(error);
    if (!text.empty()) return {code_of(status), fmt::format("plugin {}: {}", type, text)};
    return {code_of(status),
            fmt::format("plugin {} failed in {}() and does not say why ({})", type, op, words_of(status))};
}

Error thrown_out_of(const std::string& type, const char* op) {
    try {
        throw;
    } catch (const ::abi::__forced_unwind&) {
        // The thread is on its way out and cannot be kept: going on without it would be a daemon that looks alive.
        const Frame frame{type.c_str(), op, Role::any};
        fmt::print(stderr, "plugin {} ended the thread that called {}() (pthread_exit or pthread_cancel)\n", type, op);
        std::abort();
    } catch (const std::exception& exception) {
        return {ErrorCode::internal,
                fmt::format("plugin {} threw an exception out of {}(): {}", type, op, exception.what())};
    } catch (...) {
        return {ErrorCode::internal, fmt::format("plugin {} threw an exception of unknown type out of {}()", type, op)};
    }
}

}  // namespace spur::host
