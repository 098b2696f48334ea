// A pack: the entries of one or more proposals as one record of the Raft log.
//
// One record per flush is what makes group commit cheap, and what makes a proposal all or nothing: Raft keeps or loses
// a record as a whole. Entries are numbered when they are applied, one by one across packs; that number is the `index`
// the host sees, the same on every member.
//
// On disk, little endian: u32 magic, u32 count, u64 term, u64 committed, then for each entry u32 length and its bytes,
// zero-padded to a multiple of eight as libraft wants it.
#pragma once

#include <spur/plugin/state.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spur::raftlog {

constexpr std::size_t pack_header_size = 24;

struct PackHeader {
    std::uint32_t count = 0;
    std::uint64_t term = 0;
    // The Raft index known to be committed when this pack was made: what lies at or below it must be in the log.
    std::uint64_t committed = 0;
};

// Appends one entry to the body of a pack.
void append_entry(std::string& body, spur_bytes entry);

std::size_t packed_size(std::size_t body_size);

// Writes header, body and padding into `out`, which is packed_size(body.size()) long.
void write_pack(const PackHeader& header, std::string_view body, std::span<std::uint8_t> out);

std::optional<PackHeader> read_pack_header(std::span<const std::uint8_t> pack);

// The entries, numbered from `first_index`, pointing into `pack`; false if the pack makes no sense.
bool read_pack(std::span<const std::uint8_t> pack, std::uint64_t first_index, std::vector<spur_state_entry>& entries);

}  // namespace spur::raftlog
