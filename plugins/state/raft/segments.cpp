// Reading open segments; the format is described in <raft/uv.h>.
#include "segments.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>

#include "bytes.hpp"
#include "checksum.hpp"
#include "files.hpp"
#include "pack.hpp"

namespace spur::raftlog {
namespace {

constexpr std::uint64_t segment_format = 1;
constexpr std::uint64_t most_entries = 1u << 18;  // libraft's own bound on one batch
constexpr std::uint8_t command = 1;               // RAFT_COMMAND: a pack of ours

struct Batch {
    std::uint64_t entries = 0;
    std::size_t size = 0;         // in the file
    std::uint64_t committed = 0;  // the highest Raft index its packs call committed
};

// The batch at `at`, if it is whole: u32 crc of the header, u32 crc of the data, u64 n, n times {u64 term, u8 type, 3
// bytes, u32 size}, data.
std::optional<Batch> batch_at(std::span<const std::uint8_t> file, std::size_t at) {
    if (file.size() - at < 16) return std::nullopt;
    const auto n = read_integer<std::uint64_t>(file.data() + at + 8);
    if (n == 0 || n > most_entries || (file.size() - at - 16) / 16 < n) return std::nullopt;
    const auto header = file.subspan(at + 8, 8 + 16 * n);
    if (crc32(header) != read_integer<std::uint32_t>(file.data() + at)) return std::nullopt;
    std::uint64_t data_size = 0;
    for (std::uint64_t i = 0; i < n; ++i) data_size += read_integer<std::uint32_t>(header.data() + 8 + 16 * i + 12);
    const auto data_at = at + 8 + header.size();
    if (data_size > file.size() - data_at) return std::nullopt;
    auto data = file.subspan(data_at, data_size);
    if (crc32(data) != read_integer<std::uint32_t>(file.data() + at + 4)) return std::nullopt;

    Batch batch{.entries = n, .size = 8 + header.size() + data_size};
    for (std::uint64_t i = 0; i < n; ++i) {
        const auto size = read_integer<std::uint32_t>(header.data() + 8 + 16 * i + 12);
        if (header[8 + 16 * i + 8] == command)
            if (const auto pack = read_pack_header(data.first(size)))
                batch.committed = std::max(batch.committed, pack->committed);
        data = data.subspan(size);
    }
    return batch;
}

bool all_zero(std::span<const std::uint8_t> bytes) {
    return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

// The highest index that whole batches at or after `from` call committed.
std::uint64_t committed_behind(std::span<const std::uint8_t> file, std::size_t from) {
    std::uint64_t committed = 0;
    for (auto at = from; at + 16 <= file.size();) {
        const auto batch = batch_at(file, at);
        committed = std::max(committed, batch ? batch->committed : 0);
        at += batch ? batch->size : 8;
    }
    return committed;
}

struct Scan {
    std::uint64_t entries = 0;          // in whole batches from the beginning
    std::optional<std::size_t> bad_at;  // where the first batch that is not whole begins
    std::uint64_t committed_after_bad = 0;
};

Scan scan(std::span<const std::uint8_t> file) {
    Scan result;
    if (file.size() < 8 || all_zero(file)) return result;
    if (read_integer<std::uint64_t>(file.data()) != segment_format) {
        result.bad_at = 0;
        result.committed_after_bad = committed_behind(file, 8);
        return result;
    }
    std::size_t at = 8;
    while (at < file.size()) {
        const auto batch = batch_at(file, at);
        if (!batch) {
            if (all_zero(file.subspan(at))) return result;
            result.bad_at = at;
            result.committed_after_bad = committed_behind(file, at + 8);
            return result;
        }
        result.entries += batch->entries;
        at += batch->size;
    }
    return result;
}

struct Names {
    std::uint64_t last_closed = 0;  // the index the closed segments end with; 0 if there are none
    std::vector<std::pair<std::uint64_t, std::string>> open;  // by counter
    std::vector<std::string> snapshots;
    std::uint64_t snapshot_index = 0;
};

Outcome<Names> read_names(const std::string& directory) {
    Names names;
    SPUR_TRY(const auto files, list_directory(directory));
    for (const auto& file : files) {
        unsigned long long first = 0;
        unsigned long long last = 0;
        unsigned long long time = 0;
        int consumed = 0;
        const auto whole = [&] { return consumed == static_cast<int>(file.size()); };
        if (std::sscanf(file.c_str(), "snapshot-%llu-%llu-%llu%n", &first, &last, &time, &consumed) == 3 && whole()) {
            names.snapshots.push_back(file);
            names.snapshot_index = std::max<std::uint64_t>(names.snapshot_index, last);
        } else if (std::sscanf(file.c_str(), "open-%llu%n", &first, &consumed) == 1 && whole()) {
            names.open.emplace_back(first, file);
        } else if (std::sscanf(file.c_str(), "%16llu-%16llu%n", &first, &last, &consumed) == 2 && whole()) {
            names.last_closed = std::max<std::uint64_t>(names.last_closed, last);
        }
    }
    std::ranges::sort(names.open);
    return names;
}

}  // namespace

Outcome<std::vector<TornTail>> check_segments(const std::string& directory) {
    SPUR_TRY(const auto names, read_names(directory));
    std::vector<TornTail> torn;
    std::optional<std::uint64_t> missing;  // the first Raft index that is not there
    auto next = std::max(names.last_closed, names.snapshot_index) + 1;
    for (const auto& [counter, file] : names.open) {
        SPUR_TRY(const auto content, read_all(directory + "/" + file));
        const auto found = scan(content);
        if (found.bad_at) {
            torn.push_back({file, *found.bad_at});
            if (!missing) missing = next + found.entries;
        }
        const auto committed = missing && !found.bad_at ? committed_behind(content, 8) : found.committed_after_bad;
        if (missing && committed >= *missing)
            return fault(SPUR_E_CORRUPT,
                         "{}/{} is damaged at byte {}, and what follows was committed: restore the directory from a "
                         "backup; with "
                         "other controllers alive, move it away and this one fetches the state from them",
                         directory, torn.front().file, torn.front().offset);
        next += found.entries;
    }
    return torn;
}

Outcome<bool> has_log(const std::string& directory) {
    SPUR_TRY(const auto names, read_names(directory));
    return names.last_closed > 0 || !names.open.empty() || !names.snapshots.empty();
}

void discard_unfinished_founding(const std::string& directory) {
    std::vector<std::string> leftovers;
    for (const char* name : {"/metadata1", "/metadata2"}) {
        const auto content = read_all(directory + name);
        if (!content) continue;
        // Format, version, term, vote; each eight bytes.
        const bool took_part = content->size() >= 32 && (read_integer<std::uint64_t>(content->data() + 16) > 1 ||
                                                         read_integer<std::uint64_t>(content->data() + 24) != 0);
        if (took_part) return;
        leftovers.push_back(directory + name);
    }
    for (const auto& path : leftovers) unlink(path.c_str());
}

std::string newest_snapshot(const std::string& directory) {
    const auto names = read_names(directory);
    if (!names || names->snapshots.empty()) return {};
    const auto index_of = [](const std::string& name) {
        unsigned long long term = 0;
        unsigned long long index = 0;
        std::sscanf(name.c_str(), "snapshot-%llu-%llu", &term, &index);
        return std::pair(term, index);
    };
    return *std::ranges::max_element(names->snapshots, {}, index_of);
}

}  // namespace spur::raftlog
