// BlobStore: a counted set of texts.
#include "core/base/blob_store.hpp"

#include <algorithm>

namespace spur {

Text BlobStore::add(const Text& text, Uid owner) {
    if (text.empty()) return text;
    auto& [stored, owners] = *entries_.try_emplace(text).first;
    const auto mine = std::ranges::find(owners, owner, &Owners::value_type::first);
    if (mine != owners.end()) {
        ++mine->second;
    } else {
        owners.emplace_back(owner, 1U);
        bytes_[owner] += stored.size();
    }
    return stored;
}

void BlobStore::drop(const Text& text, Uid owner) {
    const auto place = text.empty() ? entries_.end() : entries_.find(text);
    if (place == entries_.end()) return;
    auto& owners = place->second;
    const auto mine = std::ranges::find(owners, owner, &Owners::value_type::first);
    if (mine == owners.end() || --mine->second != 0) return;
    if (const auto bytes = bytes_.find(owner); (bytes->second -= text.size()) == 0) bytes_.erase(bytes);
    owners.erase(mine);
    if (owners.empty()) entries_.erase(place);
}

std::uint64_t BlobStore::bytes_of(Uid owner) const {
    const auto found = bytes_.find(owner);
    return found == bytes_.end() ? 0 : found->second;
}

bool BlobStore::has(const Text& text, Uid owner) const {
    const auto place = entries_.find(text);
    return place != entries_.end() &&
           std::ranges::find(place->second, owner, &Owners::value_type::first) != place->second.end();
}

}  // namespace spur
