// Watching the room on disk.
#include "room.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "files.hpp"

namespace spur::raftlog {

Room::Level Room::judge(Space space, Level before) {
    const auto enough = before == Level::full ? least + least / 2 : least;
    if (space.free < enough) return Level::full;
    const auto low = std::clamp(space.size / 20, 2 * least, 1024 * mib);
    return space.free < low ? Level::low : Level::plenty;
}

Room::Level Room::measure() {
    struct statvfs info {};
    if (statvfs(directory_.c_str(), &info) != 0) return level_ = Level::plenty;
    space_ = {info.f_bavail * info.f_frsize, info.f_blocks * info.f_frsize};
    return level_ = judge(space_, level_);
}

std::string Room::reserve_path() const { return fmt::format("{}/{}", directory_, reserve_name); }

std::string Room::sentence() const {
    return fmt::format(
        "no space is left on the disk of {} ({} MiB are free, {} are needed): nothing can be changed until there is "
        "more; questions are still answered",
        directory_, free_mib(), (least + least / 2) / mib);
}

void Room::give_up_reserve() const { unlink(reserve_path().c_str()); }

void Room::keep_reserve() const {
    if (space_.free < reserve + 4 * least) return;
    struct stat info {};
    if (stat(reserve_path().c_str(), &info) == 0 && static_cast<std::uint64_t>(info.st_blocks) * 512 >= reserve) return;
    const Descriptor file(open(reserve_path().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!file || posix_fallocate(file.get(), 0, static_cast<off_t>(reserve)) != 0) give_up_reserve();
}

}  // namespace spur::raftlog
