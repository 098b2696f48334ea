// Memory for a selector's answer, as callers bring it.
#pragma once

#include <spur/plugin/select.h>
#include <spur/plugin/plugin.hpp>

#include <string>
#include <vector>

namespace spur::check {

class PlacementBuffer {
public:
    explicit PlacementBuffer(std::uint32_t shares = 64, std::uint32_t gres = 128, std::uint32_t words = 512) {
        resize(shares, gres, words);
    }
    void resize(std::uint32_t shares, std::uint32_t gres, std::uint32_t words) {
        shares_.resize(shares);
        gres_.resize(gres);
        words_.resize(words);
        out_ = {.size = sizeof(spur_placement),
                .share_capacity = shares,
                .shares = shares_.data(),
                .gres_capacity = gres,
                .word_capacity = words,
                .gres = gres_.data(),
                .words = words_.data()};
    }
    void grow_to_wanted() { resize(out_.share_wanted, out_.gres_wanted, out_.word_wanted); }
    spur_placement* get() { return &out_; }
    const spur_placement* get() const { return &out_; }
    const spur_placement& answer() const { return out_; }
    spur_span shares() const { return spur_shares(&out_); }

private:
    std::vector<spur_node_share> shares_;
    std::vector<spur_gres_share> gres_;
    std::vector<std::uint64_t> words_;
    spur_placement out_{};
};

// The content of shares as text: equal texts are equal placements.
std::string digest_of(spur_span shares);

// A deep copy: what a plan or a selector's answer leaves behind.
class Shares {
public:
    explicit Shares(spur_span shares);
    Shares(Shares&&) = default;
    Shares& operator=(Shares&&) = default;
    spur_span get() const { return plugin::span_of(shares_); }
    // To be read; valid as long as this is.
    spur_placement placement() const { return spur_placed(shares_.data(), static_cast<std::uint32_t>(shares_.size())); }

private:
    std::vector<spur_node_share> shares_;
    std::vector<std::vector<spur_gres_share>> gres_;
    std::vector<std::vector<std::uint64_t>> words_;
};

}  // namespace spur::check
