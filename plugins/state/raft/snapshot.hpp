// The snapshot stream: the host's state as of one entry, and the entries committed between that one and the moment Raft
// stored the snapshot. Compressed and checksummed block by block, so both ends work in a megabyte of memory.
//
//   header   "SPURSNAP", u32 version, u32 crc of the header, u64 index, u64 tail entries, u64 zero
//   state    blocks of zstd data
//   tail     blocks of plain data: for each entry u64 term, u32 length, bytes
// A block is u32 raw length, u32 stored length, u32 method, u32 crc of all that and the stored bytes, then those. A
// block of raw length 0 ends a section and stores the section's total raw length.
#pragma once

#include <spur/plugin/state.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fault.hpp"

namespace spur::raftlog {

// A finished section, in chunks of a few megabytes.
struct Section {
    std::vector<std::string> chunks;
    std::uint64_t raw_bytes = 0;
    std::uint64_t stored_bytes() const;
};

enum class Packing : std::uint32_t { plain = 0, zstd = 1 };

class SectionWriter {
public:
    explicit SectionWriter(Packing packing);
    ~SectionWriter();
    SectionWriter(const SectionWriter&) = delete;
    SectionWriter& operator=(const SectionWriter&) = delete;

    void write(std::span<const std::uint8_t> bytes);
    Section finish();

private:
    void flush_block();
    void put(std::span<const std::uint8_t> stored, std::uint32_t raw_length, Packing packing);

    Packing packing_;
    struct Compressor;
    std::unique_ptr<Compressor> compressor_;
    std::string block_;
    Section section_;
};

// Everything `source` gives, as a compressed section.
Outcome<Section> pack_state(const spur_source* source);

std::string snapshot_header(std::uint64_t index, std::uint64_t tail_entries);

// Reads a snapshot that lies in memory whole. Every fault is SPUR_E_CORRUPT with a sentence.
class SnapshotReader {
public:
    static Outcome<SnapshotReader> open(std::span<const std::uint8_t> stream);
    ~SnapshotReader();
    SnapshotReader(SnapshotReader&&) noexcept;

    std::uint64_t index() const { return index_; }
    std::uint64_t tail_entries() const { return tail_entries_; }
    // Fills up to `buffer` with state; 0 at its end.
    Outcome<std::size_t> read(std::span<std::uint8_t> buffer);
    Outcome<void> skip_state();  // checks the checksums of what has not been read of it
    // What follows the state; call it once the state has been read. The entries are valid during the call.
    Outcome<void> read_tail(const std::function<void(std::span<const spur_state_entry>)>& each);

private:
    SnapshotReader();
    enum class Look { content, checksum };
    Outcome<bool> next_block(Look look = Look::content);  // false at the end of the section

    std::uint64_t index_ = 0;
    std::uint64_t tail_entries_ = 0;
    std::span<const std::uint8_t> rest_;
    struct Decompressor;
    std::unique_ptr<Decompressor> decompressor_;
    std::vector<std::uint8_t> block_;
    std::size_t used_ = 0;
    std::uint64_t section_bytes_ = 0;
    bool section_ended_ = false;
};

}  // namespace spur::raftlog
