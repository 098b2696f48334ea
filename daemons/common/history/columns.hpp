// Every field of a job's and a step's row: how it is read from the wire's message, and put back into one. The names are those of
// spur/plugin/draft/accounting_fields.h, and of what has no column there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/model/gres.hpp"
#include "spur/v1/accounting.pb.h"

namespace spur::history {

using Value = std::variant<std::monostate, std::int64_t, std::string, TresList>;

template <class Message>
struct Column {
    std::string_view name;
    Value (*get)(const Message& message);
    void (*set)(Message& message, const Value& value);  // never with an absent one
};
using JobColumn = Column<v1::HistoryJob>;
using StepColumn = Column<v1::HistoryStep>;

std::span<const JobColumn> job_columns();
std::span<const StepColumn> step_columns();

}  // namespace spur::history
