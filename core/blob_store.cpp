// BlobStore: a counted set of texts.
#include "core/blob_store.hpp"

namespace spur {

Text BlobStore::add(const Text& text) {
    if (text.empty()) return text;
    const auto [place, is_new] = users_.try_emplace(text, 0U);
    ++place->second;
    return place->first;
}

void BlobStore::drop(const Text& text) {
    const auto place = text.empty() ? users_.end() : users_.find(text);
    if (place != users_.end() && --place->second == 0) users_.erase(place);
}

}  // namespace spur
