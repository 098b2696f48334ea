// Writing and reading the snapshot stream.
#include "snapshot.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "bytes.hpp"
#include "checksum.hpp"

namespace spur::raftlog {
namespace {

constexpr std::string_view magic = "SPURSNAP";
constexpr std::uint32_t version = 1;
constexpr std::size_t header_size = 40;
constexpr std::size_t block_header_size = 16;
constexpr std::size_t raw_block_size = 1u << 20;
constexpr std::size_t chunk_size = 4u << 20;
constexpr int compression_level = 1;  // a snapshot competes with the work of the controller

std::uint32_t block_checksum(std::span<const std::uint8_t> header, std::span<const std::uint8_t> stored) {
    return crc32(stored, crc32(header.first(12)));
}

}  // namespace

std::uint64_t Section::stored_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& chunk : chunks) bytes += chunk.size();
    return bytes;
}

struct SectionWriter::Compressor {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::string out = std::string(ZSTD_compressBound(raw_block_size), '\0');
    ~Compressor() { ZSTD_freeCCtx(context); }
};

SectionWriter::SectionWriter(Packing packing) : packing_(packing) {
    if (packing == Packing::zstd) {
        compressor_ = std::make_unique<Compressor>();
        if (compressor_->context == nullptr) throw std::bad_alloc();
    }
}

SectionWriter::~SectionWriter() = default;

void SectionWriter::write(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto room = std::min(raw_block_size - block_.size(), bytes.size());
        block_.append(reinterpret_cast<const char*>(bytes.data()), room);
        bytes = bytes.subspan(room);
        if (block_.size() == raw_block_size) flush_block();
    }
}

void SectionWriter::flush_block() {
    if (block_.empty()) return;
    section_.raw_bytes += block_.size();
    const auto raw_length = static_cast<std::uint32_t>(block_.size());
    if (compressor_) {
        const auto length = ZSTD_compressCCtx(compressor_->context, compressor_->out.data(), compressor_->out.size(),
                                              block_.data(), block_.size(), compression_level);
        if (ZSTD_isError(length) != 0) throw std::runtime_error(ZSTD_getErrorName(length));
        put(as_bytes(compressor_->out).first(length), raw_length, Packing::zstd);
    } else {
        put(as_bytes(block_), raw_length, Packing::plain);
    }
    block_.clear();
}

void SectionWriter::put(std::span<const std::uint8_t> stored, std::uint32_t raw_length, Packing packing) {
    std::uint8_t header[block_header_size];
    write_integer(header, raw_length);
    write_integer(header + 4, static_cast<std::uint32_t>(stored.size()));
    write_integer(header + 8, static_cast<std::uint32_t>(packing));
    write_integer(header + 12, block_checksum(header, stored));
    if (section_.chunks.empty() || section_.chunks.back().size() + block_header_size + stored.size() > chunk_size) {
        section_.chunks.emplace_back();
        section_.chunks.back().reserve(chunk_size);
    }
    auto& chunk = section_.chunks.back();
    chunk.append(reinterpret_cast<const char*>(header), sizeof header);
    chunk.append(reinterpret_cast<const char*>(stored.data()), stored.size());
}

Section SectionWriter::finish() {
    flush_block();
    std::uint8_t total[8];
    write_integer(total, section_.raw_bytes);
    put(total, 0, Packing::plain);
    section_.chunks.back().shrink_to_fit();
    return std::move(section_);
}

Outcome<Section> pack_state(const spur_source* source) {
    SectionWriter writer(Packing::zstd);
    std::vector<std::uint8_t> buffer(raw_block_size);
    for (;;) {
        std::uint64_t length = 0;
        const auto status = source->read(source, buffer.data(), buffer.size(), &length);
        if (status != SPUR_OK) return fault(status < 0 ? status : SPUR_E_IO, "the host could not write its snapshot");
        if (length > buffer.size()) return fault(SPUR_E_INTERNAL, "the host's snapshot source overran its buffer");
        if (length == 0) return writer.finish();
        writer.write(std::span(buffer).first(length));
    }
}

std::string snapshot_header(std::uint64_t index, std::uint64_t tail_entries) {
    std::string header(magic);
    append_integer(header, version);
    append_integer(header, std::uint32_t{0});
    append_integer(header, index);
    append_integer(header, tail_entries);
    append_integer(header, std::uint64_t{0});
    const auto checksum = crc32(as_bytes(header));
    std::memcpy(header.data() + 12, &checksum, sizeof checksum);
    return header;
}

struct SnapshotReader::Decompressor {
    ZSTD_DCtx* context = ZSTD_createDCtx();
    ~Decompressor() { ZSTD_freeDCtx(context); }
};

SnapshotReader::SnapshotReader() : decompressor_(std::make_unique<Decompressor>()) {
    if (decompressor_->context == nullptr) throw std::bad_alloc();
}
SnapshotReader::~SnapshotReader() = default;
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;

Outcome<SnapshotReader> SnapshotReader::open(std::span<const std::uint8_t> stream) {
    if (stream.size() < header_size || std::memcmp(stream.data(), magic.data(), magic.size()) != 0)
        return fault(SPUR_E_CORRUPT, "it does not begin as a snapshot");
    if (const auto found = read_integer<std::uint32_t>(stream.data() + 8); found != version)
        return fault(SPUR_E_CORRUPT, "it is of version {}, this plugin reads version {}", found, version);
    std::uint8_t header[header_size];
    std::memcpy(header, stream.data(), header_size);
    write_integer(header + 12, std::uint32_t{0});
    if (crc32(header) != read_integer<std::uint32_t>(stream.data() + 12))
        return fault(SPUR_E_CORRUPT, "the checksum of its header is wrong");
    SnapshotReader reader;
    reader.index_ = read_integer<std::uint64_t>(stream.data() + 16);
    reader.tail_entries_ = read_integer<std::uint64_t>(stream.data() + 24);
    reader.rest_ = stream.subspan(header_size);
    return reader;
}

Outcome<bool> SnapshotReader::next_block(Look look) {
    if (rest_.size() < block_header_size) return fault(SPUR_E_CORRUPT, "it ends early");
    const auto header = rest_.first(block_header_size);
    const auto raw_length = read_integer<std::uint32_t>(header.data());
    const auto stored_length = read_integer<std::uint32_t>(header.data() + 4);
    const auto packing = static_cast<Packing>(read_integer<std::uint32_t>(header.data() + 8));
    if (stored_length > rest_.size() - block_header_size) return fault(SPUR_E_CORRUPT, "it ends early");
    const auto stored = rest_.subspan(block_header_size, stored_length);
    if (block_checksum(header, stored) != read_integer<std::uint32_t>(header.data() + 12) ||
        raw_length > raw_block_size)
        return fault(SPUR_E_CORRUPT, "the checksum of a block is wrong");
    rest_ = rest_.subspan(block_header_size + stored_length);
    used_ = 0;
    if (raw_length == 0) {
        block_.clear();
        section_ended_ = true;
        if (stored_length != 8 || read_integer<std::uint64_t>(stored.data()) != section_bytes_)
            return fault(SPUR_E_CORRUPT, "a section is not as long as it says");
        return false;
    }
    section_bytes_ += raw_length;
    block_.clear();
    if (look == Look::checksum) return true;
    block_.resize(raw_length);
    if (packing == Packing::plain && stored_length == raw_length) {
        std::memcpy(block_.data(), stored.data(), raw_length);
        return true;
    }
    const auto length =
        ZSTD_decompressDCtx(decompressor_->context, block_.data(), block_.size(), stored.data(), stored.size());
    if (packing != Packing::zstd || ZSTD_isError(length) != 0 || length != raw_length)
        return fault(SPUR_E_CORRUPT, "a block does not decompress");
    return true;
}

Outcome<std::size_t> SnapshotReader::read(std::span<std::uint8_t> buffer) {
    if (section_ended_) return 0;
    if (used_ == block_.size()) {
        SPUR_TRY(const bool more, next_block());
        if (!more) return 0;
    }
    const auto length = std::min(buffer.size(), block_.size() - used_);
    std::memcpy(buffer.data(), block_.data() + used_, length);
    used_ += length;
    return length;
}

Outcome<void> SnapshotReader::skip_state() {
    while (!section_ended_) SPUR_CHECK(next_block(Look::checksum));
    return {};
}

Outcome<void> SnapshotReader::read_tail(const std::function<void(std::span<const spur_state_entry>)>& each) {
    if (!section_ended_) return fault(SPUR_E_CORRUPT, "the host did not take all of it");
    section_ended_ = false;
    section_bytes_ = 0;
    std::vector<std::uint8_t> pending;
    std::vector<spur_state_entry> entries;
    std::uint64_t index = index_;
    for (;;) {
        SPUR_TRY(const bool more, next_block());
        if (!more) break;
        pending.insert(pending.end(), block_.begin(), block_.end());
        entries.clear();
        std::size_t at = 0;
        while (pending.size() - at >= 12) {
            const auto length = read_integer<std::uint32_t>(pending.data() + at + 8);
            if (pending.size() - at - 12 < length) break;
            entries.push_back({.body = {pending.data() + at + 12, length},
                               .index = ++index,
                               .term = read_integer<std::uint64_t>(pending.data() + at)});
            at += 12 + length;
        }
        if (!entries.empty()) each(entries);
        pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (!pending.empty() || index != index_ + tail_entries_)
        return fault(SPUR_E_CORRUPT, "entries behind the state are missing");
    return {};
}

}  // namespace spur::raftlog
