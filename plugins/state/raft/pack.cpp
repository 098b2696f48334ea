// Encoding and decoding packs.
#include "pack.hpp"

#include "bytes.hpp"

namespace spur::raftlog {
namespace {
constexpr std::uint32_t magic = 0x314B5053;  // "SPK1"
}

void append_entry(std::string& body, spur_bytes entry) {
    append_integer(body, static_cast<std::uint32_t>(entry.length));
    body.append(static_cast<const char*>(entry.data), entry.length);
}

std::size_t packed_size(std::size_t body_size) { return (pack_header_size + body_size + 7) / 8 * 8; }

void write_pack(const PackHeader& header, std::string_view body, std::span<std::uint8_t> out) {
    write_integer(out.data(), magic);
    write_integer(out.data() + 4, header.count);
    write_integer(out.data() + 8, header.term);
    write_integer(out.data() + 16, header.committed);
    if (!body.empty()) std::memcpy(out.data() + pack_header_size, body.data(), body.size());
    const auto end = pack_header_size + body.size();
    std::memset(out.data() + end, 0, out.size() - end);
}

std::optional<PackHeader> read_pack_header(std::span<const std::uint8_t> pack) {
    if (pack.size() < pack_header_size || read_integer<std::uint32_t>(pack.data()) != magic) return std::nullopt;
    return PackHeader{.count = read_integer<std::uint32_t>(pack.data() + 4),
                      .term = read_integer<std::uint64_t>(pack.data() + 8),
                      .committed = read_integer<std::uint64_t>(pack.data() + 16)};
}

bool read_pack(std::span<const std::uint8_t> pack, std::uint64_t first_index, std::vector<spur_state_entry>& entries) {
    const auto header = read_pack_header(pack);
    if (!header) return false;
    auto rest = pack.subspan(pack_header_size);
    if (header->count > rest.size() / 4) return false;
    entries.reserve(entries.size() + header->count);
    for (std::uint32_t i = 0; i < header->count; ++i) {
        if (rest.size() < 4) return false;
        const auto length = read_integer<std::uint32_t>(rest.data());
        rest = rest.subspan(4);
        if (length > rest.size()) return false;
        entries.push_back({.body = {rest.data(), length}, .index = first_index + i, .term = header->term});
        rest = rest.subspan(length);
    }
    return true;
}

}  // namespace spur::raftlog
