// Scripts and environments, each kept once however many jobs have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "core/text.hpp"

namespace spur {

class BlobStore {
public:
    // The stored text equal to `text`, which gains a user.
    Text add(const Text& text);
    // A user less; the last one takes the text with it.
    void drop(const Text& text);
    std::size_t size() const { return users_.size(); }

private:
    std::unordered_map<Text, std::uint32_t> users_;
};

}  // namespace spur
