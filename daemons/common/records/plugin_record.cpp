// Values and names of rows in the terms of the boundary.
#include "daemons/common/records/plugin_record.hpp"

#include <spur/plugin/plugin.hpp>

#include <algorithm>
#include <vector>

#include "core/base/ids.hpp"
#include "core/text/lexical.hpp"
#include "core/text/timefmt.hpp"

namespace spur::records {
namespace {

std::uint32_t kind_of(Type type) {
    switch (type) {
        case Type::text: return SPUR_VALUE_TEXT;
        case Type::count:
        case Type::number: return SPUR_VALUE_NUMBER;
        case Type::flag:
        case Type::yes_no: return SPUR_VALUE_FLAG;
        case Type::hundredths:
        case Type::real: return SPUR_VALUE_REAL;
        case Type::time: return SPUR_VALUE_TIME;
        case Type::minutes:
        case Type::seconds: return SPUR_VALUE_SECONDS;
        case Type::mib: return SPUR_VALUE_MIB;
        case Type::exit_status: return SPUR_VALUE_EXIT;
    }
    return SPUR_VALUE_TEXT;
}

struct Named {
    const JobField* field;
    std::string name;
};

// Fields are numbered as they stand here.
const std::vector<Named>& numbered() {
    static const auto all = [] {
        std::vector<Named> fields;
        for (const auto& field : job_fields())
            if (auto name = plugin_name(field); !name.empty()) fields.push_back({&field, std::move(name)});
        return fields;
    }();
    return all;
}
const Named* find_number(std::uint32_t number) { return number < numbered().size() ? &numbered()[number] : nullptr; }

// As users would type it.
std::string typed(const spur_value& value) {
    const bool endless = value.number == SPUR_VALUE_UNLIMITED;
    switch (value.kind) {
        case SPUR_VALUE_ABSENT: return {};
        case SPUR_VALUE_TEXT: return std::string{plugin::view(value.text)};
        case SPUR_VALUE_REAL: return fmt::format("{}", value.real);
        case SPUR_VALUE_TIME: return print_time(value.number);
        case SPUR_VALUE_SECONDS: return endless ? "UNLIMITED" : print_duration(value.number);
        default: return fmt::format("{}", value.number);
    }
}

}  // namespace

std::string plugin_name(const JobField& field) {
    if (field.json != nullptr) return field.json;
    return field.name != nullptr ? lower(field.name) : std::string{};
}

PluginRecord::PluginRecord(const v1::Job& job, Context context, Set set)
    : job_{job}, context_{std::move(context)}, set_{std::move(set)} {
    record_ = {
        .size = sizeof(spur_record),
        .kind = SPUR_RECORD_JOB,
        .context = this,
        .count = [](const spur_record*) { return static_cast<std::uint32_t>(numbered().size()); },
        .find = [](const spur_record*, spur_str name) -> std::uint32_t {
            const auto found = std::ranges::find(numbered(), plugin::view(name), &Named::name);
            return found == numbered().end() ? SPUR_NONE : static_cast<std::uint32_t>(found - numbered().begin());
        },
        .describe = [](const spur_record* record, std::uint32_t number,
                       spur_record_field* out) { return self(record).describe(number, out); },
        .get = [](const spur_record* record, std::uint32_t number,
                  spur_value* out) { return self(record).read(number, out); },
        .set = [](const spur_record* record, std::uint32_t number, const spur_value* value,
                  spur_error* err) { return self(record).write(number, value, err); },
    };
}

spur_status PluginRecord::describe(std::uint32_t number, spur_record_field* out) {
    const auto* const named = find_number(number);
    if (named == nullptr) return SPUR_E_NOT_FOUND;
    plugin::put(out, {.size = 0,
                      .kind = kind_of(named->field->type),
                      .flags = is_writable(*named->field) ? SPUR_RECORD_WRITABLE : 0,
                      .reserved = 0,
                      .name = plugin::str(named->name)});
    return SPUR_OK;
}

spur_status PluginRecord::read(std::uint32_t number, spur_value* out) {
    const auto* const named = find_number(number);
    if (named == nullptr) return SPUR_E_NOT_FOUND;
    const auto& field = *named->field;
    spur_value answer{};
    const auto value = field.get({job_, context_});
    const bool is_unknown = field.type == Type::minutes && value.number() == no_value;
    if (!value.is_absent() && !is_unknown) {
        answer.kind = kind_of(field.type);
        answer.number = value.number();
        answer.real = value.real();
        if (field.type == Type::hundredths) answer.real /= 100;
        if (field.type == Type::minutes)
            answer.number = answer.number == unlimited ? SPUR_VALUE_UNLIMITED : answer.number * 60;
        if (!value.is_number() && !value.is_real()) {  // whatever the row's type: it wrote a text
            scratch_ = value.text();
            answer.kind = SPUR_VALUE_TEXT;
            answer.text = plugin::str(scratch_);
        }
    }
    plugin::put(out, answer);
    return SPUR_OK;
}

spur_status PluginRecord::write(std::uint32_t number, const spur_value* value, spur_error* err) {
    const auto* const named = find_number(number);
    if (named == nullptr) return SPUR_E_NOT_FOUND;
    if (!is_writable(*named->field))
        return plugin::fail(err, SPUR_SET_READ_ONLY, fmt::format("{} cannot be changed here", named->name));
    return plugin::guard(err, [&]() -> spur_status {
        if (const auto set = set_(*named->field, typed(*value)); !set)
            return plugin::fail(err, SPUR_SET_REFUSED, set.error().text);
        return SPUR_OK;
    });
}

}  // namespace spur::records
