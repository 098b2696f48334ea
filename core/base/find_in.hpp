// What a map has under a key, or nullptr.
#pragma once

namespace spur {

template <class Map, class Key>
auto find_in(const Map& map, const Key& key) -> decltype(&map.begin()->second) {
    const auto place = map.find(key);
    return place == map.end() ? nullptr : &place->second;
}

}  // namespace spur
