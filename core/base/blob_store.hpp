// Scripts and environments, each kept once however many jobs have it, and what each user has of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/text.hpp"

namespace spur {

class BlobStore {
public:
    // The stored text equal to `text`, which gains a job of `owner`.
    Text add(const Text& text, Uid owner);
    // A job less; the last one takes the text with it.
    void drop(const Text& text, Uid owner);
    std::size_t size() const { return entries_.size(); }

    // A text that many jobs of one user have counts once for him.
    std::uint64_t bytes_of(Uid owner) const;
    bool has(const Text& text, Uid owner) const;

private:
    using Owners = std::vector<std::pair<Uid, std::uint32_t>>;  // with how many jobs; mostly one
    std::unordered_map<Text, Owners> entries_;
    std::unordered_map<Uid, std::uint64_t> bytes_;
};

}  // namespace spur
