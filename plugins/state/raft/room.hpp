// How much room the log's file system has left. libraft cannot go on after a write that found none, so writing stops
// before that: below one mark the log takes no proposals, and well before it there is a warning.
//
// A file of a few megabytes is kept beside the log, to be given up at a start on a full disk: a controller that cannot
// write its log is to come up nevertheless and answer questions.
#pragma once

#include <cstdint>
#include <string>

namespace spur::raftlog {

class Room {
public:
    enum class Level { plenty, low, full };
    struct Space {
        std::uint64_t free = 0, size = 0;
    };
    static constexpr std::uint64_t mib = 1u << 20;
    static constexpr std::uint64_t least = 16 * mib;    // two of libraft's segments
    static constexpr std::uint64_t reserve = 24 * mib;  // three

    explicit Room(std::string directory) : directory_(std::move(directory)) {}

    // Asks the file system again; the new level. An unreadable one counts as plenty: the write itself will tell.
    Level measure();
    Level level() const { return level_; }
    std::uint64_t free_mib() const { return space_.free / mib; }
    // Would there still be enough after so many more bytes? By the last look.
    bool has_for(std::uint64_t bytes) const { return level_ != Level::full && space_.free >= bytes + least; }
    std::string sentence() const;  // for whoever is refused

    void give_up_reserve() const;  // where the disk is full
    void keep_reserve() const;     // where there is plenty

    // Full below `least`, and until there is half as much again; low below a twentieth of the disk, within bounds.
    static Level judge(Space space, Level before);

private:
    std::string reserve_path() const;

    std::string directory_;
    Space space_;
    Level level_ = Level::plenty;
};

}  // namespace spur::raftlog
