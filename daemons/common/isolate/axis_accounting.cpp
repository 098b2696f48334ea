// How accounting crosses.
#include "daemons/common/isolate/axis_table.hpp"

namespace spur::isolate {

template <>
struct Flat<spur_schema> : std::true_type {};
template <>
struct Fields<spur_tres> : Members<&spur_tres::name, &spur_tres::count> {};

// Of a field only what its kind says is there: the rest may hold anything.
template <>
struct Value<spur_field> {
    static void pack(Pack& out, const spur_field& field) {
        Value<const char*>::pack(out, field.name);
        out.raw(field.kind);
        if (field.kind == SPUR_FIELD_INT) out.raw(field.integer);
        if (field.kind == SPUR_FIELD_REAL) out.raw(field.real);
        if (field.kind == SPUR_FIELD_TEXT || field.kind == SPUR_FIELD_BYTES) Value<spur_str>::pack(out, field.text);
        if (field.kind == SPUR_FIELD_TRES) pack_span<spur_tres>(out, field.tres);
    }
    static void unpack(Unpack& in, spur_field& field) {
        Value<const char*>::unpack(in, field.name);
        in.raw(field.kind);
        if (field.kind == SPUR_FIELD_INT) in.raw(field.integer);
        if (field.kind == SPUR_FIELD_REAL) in.raw(field.real);
        if (field.kind == SPUR_FIELD_TEXT || field.kind == SPUR_FIELD_BYTES) Value<spur_str>::unpack(in, field.text);
        if (field.kind == SPUR_FIELD_TRES) field.tres = unpack_span<spur_tres>(in);
    }
};
static_assert(sizeof(spur_field) == 64, "a member was added: it crosses, too");

template <>
struct Fields<spur_row>
    : Members<&spur_row::table, &spur_row::removed, &spur_row::sequence, span_of<spur_field>(&spur_row::fields)> {};
template <>
struct Fields<spur_batch> : Members<&spur_batch::size, &spur_batch::reserved, &spur_batch::cluster, &spur_batch::stream,
                                    &spur_batch::first, &spur_batch::last, span_of<spur_row>(&spur_batch::rows)> {};
template <>
struct Fields<spur_condition>
    : Members<&spur_condition::name, &spur_condition::test, &spur_condition::negate, &spur_condition::group,
              &spur_condition::reserved, span_of<spur_field>(&spur_condition::values)> {};
template <>
struct Fields<spur_sum>
    : Members<&spur_sum::kind, &spur_sum::reserved, &spur_sum::field, &spur_sum::tres, &spur_sum::as> {};
template <>
struct Fields<spur_query>
    : Members<&spur_query::size, &spur_query::table, &spur_query::cluster,
              span_of<spur_condition>(&spur_query::conditions), span_of<spur_str>(&spur_query::wanted),
              span_of<spur_str>(&spur_query::groups), span_of<spur_sum>(&spur_query::sums), &spur_query::order_by,
              &spur_query::after, &spur_query::limit, &spur_query::with_removed> {};

template <>
inline constexpr bool is_stream<&spur_row_sink::row> = true;
template <>
inline constexpr bool is_stream<&spur_archive::row> = true;
template <>
struct Pushes<spur_row_sink> : Functions<&spur_row_sink::row, &spur_row_sink::more> {};
template <>
struct Pushes<spur_archive> : Functions<&spur_archive::row, &spur_archive::durable> {};
template <>
struct Pushes<spur_store_report> : Functions<&spur_store_report::poison> {};
template <>
struct Pushes<spur_progress> : Functions<&spur_progress::step> {};

template <>
inline constexpr bool may_last<&spur_accounting_ops::migrate> = true;
template <>
inline constexpr bool may_last<&spur_accounting_ops::purge> = true;

const AxisCrossing& accounting_crossing() {
    using O = spur_accounting_ops;
    static const auto all = make_crossing<host::AccountingAxis, Of<&O::schema>, Of<&O::migrate>, Of<&O::store>,
                                          Of<&O::stored_up_to>, Of<&O::query>, Of<&O::purge>>();
    return all;
}

}  // namespace spur::isolate
