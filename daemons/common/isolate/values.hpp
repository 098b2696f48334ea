// How the ABI's values cross: numbers, texts, and structs by the list of their members.
//
//   template <> struct Fields<spur_auth_reply> : Members<&spur_auth_reply::size, &spur_auth_reply::reserved, ...> {};
//
// Every member of a struct is listed, which is checked: a header that grows does not compile until its description
// does too.
#pragma once

#include <spur/plugin/abi.h>

#include <algorithm>
#include <concepts>

#include "daemons/common/isolate/pack.hpp"

namespace spur::isolate {

template <class S>
struct Fields;  // of a struct that holds texts or spans

template <class S>
struct Flat : std::false_type {};  // a struct of plain numbers and letters: goes as it lies in memory

template <class T>
concept Described = requires {
    typename Fields<T>::Struct;
};
template <class T>
concept Sized = requires(T t) {
    { t.size } -> std::convertible_to<std::uint32_t>;
};

template <class T>
struct Value {  // numbers, arrays of numbers, flat structs
    static_assert(!std::is_pointer_v<T> && std::is_trivially_copyable_v<T>);
    static void pack(Pack& out, const T& value) { out.raw(value); }
    static void unpack(Unpack& in, T& value) { in.raw(value); }
};

template <>
struct Value<spur_str> {
    static void pack(Pack& out, const spur_str& value) { out.text({value.data, value.length}); }
    static void unpack(Unpack& in, spur_str& value) {
        const auto text = in.text();
        value = {text.data(), static_cast<std::uint32_t>(text.size()), 0};
    }
};

template <>
struct Value<spur_bytes> {
    static void pack(Pack& out, const spur_bytes& value) {
        out.text({static_cast<const char*>(value.data), static_cast<std::size_t>(value.length)});
    }
    static void unpack(Unpack& in, spur_bytes& value) {
        const auto text = in.text();
        value = {text.data(), text.size()};
    }
};

// With its end; nullptr has none.
template <>
struct Value<const char*> {
    static void pack(Pack& out, const char* const& value) {
        out.text(value == nullptr ? std::string_view{} : std::string_view{value, std::strlen(value) + 1});
    }
    static void unpack(Unpack& in, const char*& value) {
        const auto text = in.text();
        if (!text.empty() && text.back() != '\0') in.refuse();
        value = text.empty() || text.back() != '\0' ? nullptr : text.data();
    }
};

// A struct of the other side as this side knows it: what it does not have is zero.
template <class S>
S copy_of(const S* from, std::size_t size) {
    S value{};
    std::memcpy(static_cast<void*>(&value), from, std::min(size, sizeof(S)));
    return value;
}

template <Described S>
struct Value<S> {
    static void pack(Pack& out, const S& value) { Fields<S>::pack(out, value); }
    static void unpack(Unpack& in, S& value) {
        Fields<S>::unpack(in, value);
        if constexpr (Sized<S>) value.size = sizeof(S);
    }
};

// Records of a span; each goes as far as this build knows it.
template <class Record>
void pack_span(Pack& out, const spur_span& span) {
    out.raw(span.count);
    for (std::uint32_t i = 0; i < span.count; ++i)
        Value<Record>::pack(out, copy_of(SPUR_AT(Record, span, i), span.stride));
}
template <class Record>
spur_span unpack_span(Unpack& in) {
    const auto count = in.get<std::uint32_t>();
    if (count == 0 || count > in.left()) return {};  // each takes a byte at least
    auto* const records = static_cast<Record*>(in.store(sizeof(Record) * count));
    for (std::uint32_t i = 0; i < count; ++i) Value<Record>::unpack(in, *new (records + i) Record{});
    return {records, count, sizeof(Record)};
}

// A member that is a span of these records: span_of<spur_gpu_grant>(&spur_gpu_binding::grants).
template <class Record, class S>
struct SpanMember {
    spur_span S::*at;
};
template <class Record, class S>
constexpr SpanMember<Record, S> span_of(spur_span S::*at) {
    return {at};
}

namespace detail {

template <class M>
struct Field;
template <class S, class T>
struct Field<T S::*> {
    using Struct = S;
    static constexpr std::size_t size = sizeof(T);
    static void pack(Pack& out, const S& value, T S::*at) { Value<T>::pack(out, value.*at); }
    static void unpack(Unpack& in, S& value, T S::*at) { Value<T>::unpack(in, value.*at); }
};
template <class Record, class S>
struct Field<SpanMember<Record, S>> {
    using Struct = S;
    static constexpr std::size_t size = sizeof(spur_span);
    static void pack(Pack& out, const S& value, SpanMember<Record, S> at) { pack_span<Record>(out, value.*at.at); }
    static void unpack(Unpack& in, S& value, SpanMember<Record, S> at) { value.*at.at = unpack_span<Record>(in); }
};

template <auto Member>
using FieldOf = Field<std::remove_const_t<decltype(Member)>>;

}  // namespace detail

template <auto First, auto... Rest>
struct Members {
    using Struct = typename detail::FieldOf<First>::Struct;
    static_assert((detail::FieldOf<First>::size + ... + detail::FieldOf<Rest>::size) == sizeof(Struct),
                  "a member is missing from the list, or was added to the struct");
    static void pack(Pack& out, const Struct& value) {
        detail::FieldOf<First>::pack(out, value, First);
        (detail::FieldOf<Rest>::pack(out, value, Rest), ...);
    }
    static void unpack(Unpack& in, Struct& value) {
        detail::FieldOf<First>::unpack(in, value, First);
        (detail::FieldOf<Rest>::unpack(in, value, Rest), ...);
    }
};

}  // namespace spur::isolate
