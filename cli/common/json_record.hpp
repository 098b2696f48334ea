// A record as JSON: the rows that have a key, in their order.
#pragma once

#include "cli/common/json.hpp"
#include "core/base/ids.hpp"
#include "daemons/common/records/record.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace spur::cli {

inline void json_texts(JsonWriter& json, const char* name, const std::vector<std::string>& items) {
    json.key(name);
    json.begin_array();
    for (const auto& item : items) json.value(std::string_view(item));
    json.end_array();
}

// A field that is more than one value.
template <class Row>
struct Nested {
    decltype(Row::id) id;
    void (*write)(JsonWriter& json, const typename Row::ViewType& view);
};

template <class Row>
void json_field(JsonWriter& json, const Row& field, const typename Row::ViewType& view) {
    using records::Type;
    const auto value = field.get(view);
    json.key(field.json);
    const bool is_unlimited = field.type == Type::minutes && value.number() == unlimited;
    if (value.is_absent() ? field.absent.number != records::AbsentNumber::zero : is_unlimited)
        json.null();
    else if (field.type == Type::flag || field.type == Type::yes_no)
        json.value(value.number() != 0);
    else if (field.type == Type::text)
        json.value(value.text());
    else
        json.value(value.number());
}

template <class Row, std::size_t Size>
void json_record(JsonWriter& json, std::span<const Row> rows, const typename Row::ViewType& view,
                 const Nested<Row> (&nested)[Size]) {
    json.begin_object();
    for (const auto& field : rows) {
        if (field.json == nullptr) continue;
        if (const auto* own = std::ranges::find(nested, field.id, &Nested<Row>::id); own != std::end(nested))
            own->write(json, view);
        else
            json_field(json, field, view);
    }
    json.end_object();
}

}  // namespace spur::cli
