// How many members a struct has, so that a list of them can be checked at compile time.
#pragma once

#include <cstddef>
#include <utility>

namespace spur {

struct Anything {
    template <class T>
    operator T() const;
};

template <class T, std::size_t... I>
constexpr bool can_have(std::index_sequence<I...>) {
    return requires { T{((void)I, Anything{})...}; };
}

template <class T, std::size_t N = 1>
constexpr std::size_t member_count() {
    if constexpr (can_have<T>(std::make_index_sequence<N>{}) && !can_have<T>(std::make_index_sequence<N + 1>{}))
        return N;
    else
        return member_count<T, N + 1>();
}

}  // namespace spur
