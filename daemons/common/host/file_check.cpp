// Ownership, permission and ELF sanity of plugin files.
#include "daemons/common/host/file_check.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/text/lexical.hpp"

namespace spur::host {
namespace {

namespace fs = std::filesystem;

Result<void> check_place(const fs::path& plugin, const fs::path& place, uid_t user) {
    struct stat status {};
    if (::stat(place.c_str(), &status) != 0)
        return fail(ErrorCode::not_found, "plugin file {} refused: {} cannot be looked at: {}", plugin.native(),
                    place.native(), std::strerror(errno));
    const std::string what = place == plugin
                                 ? std::string{"it"}
                                 : (S_ISDIR(status.st_mode) ? "its directory " : "its target ") + place.native();
    if (status.st_uid != 0 && status.st_uid != user)
        return fail(
            ErrorCode::denied,
            "plugin file {} refused: {} belongs to uid {}, and only root and uid {}, which runs this daemon, are "
            "trusted; run chown {} {}",
            plugin.native(), what, status.st_uid, user, user == 0 ? "root" : std::to_string(user), place.native());
    if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return fail(ErrorCode::denied, "plugin file {} refused: {} is writable by {} (mode {:04o}); run chmod go-w {}",
                    plugin.native(), what, (status.st_mode & S_IWOTH) != 0 ? "everyone" : "its group",
                    status.st_mode & 07777U, place.native());
    return {};
}

// The directories above one in which the plugin, or a link to it, is: whoever can rename one of them can put another in
// its place. In one with the sticky bit only the owner of an entry can, and entries are looked at in turn.
Result<void> check_above(const fs::path& plugin, const fs::path& directory, uid_t user) {
    for (auto place = directory; place.has_parent_path() && place != place.parent_path();) {
        place = place.parent_path();
        struct stat status {};
        const bool is_sticky = ::stat(place.c_str(), &status) == 0 && (status.st_mode & S_ISVTX) != 0 &&
                               (status.st_uid == 0 || status.st_uid == user);
        if (!is_sticky) SPUR_CHECK(check_place(plugin, place, user));
    }
    return {};
}

// By the name it was given and by where that really is: either may be put elsewhere.
Result<void> check_directory(const fs::path& plugin, const fs::path& directory, uid_t user) {
    SPUR_CHECK(check_place(plugin, directory, user));
    std::error_code error;
    const auto named = fs::absolute(directory, error).lexically_normal();
    const auto real = fs::canonical(directory, error);
    if (error)
        return fail(ErrorCode::not_found, "plugin file {} refused: {} cannot be looked at: {}", plugin.native(),
                    directory.native(), error.message());
    SPUR_CHECK(check_above(plugin, named, user));
    return real == named ? Result<void>{} : check_above(plugin, real, user);
}

class File {
public:
    explicit File(const fs::path& path) : fd_{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)} {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return fd_; }
    bool read(void* to, std::size_t size, std::uint64_t at) const {
        return ::pread(fd_, to, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
    }

private:
    int fd_;
};

std::string machine_name(unsigned machine) {
    switch (machine) {
        case EM_X86_64:
            return "x86-64";
        case EM_AARCH64:
            return "aarch64";
        case EM_386:
            return "i386";
        case EM_ARM:
            return "arm";
        case EM_PPC64:
            return "ppc64";
        case EM_RISCV:
            return "riscv";
        case EM_S390:
            return "s390";
        default:
            return fmt::format("machine {}", machine);
    }
}

#if defined(__x86_64__)
constexpr unsigned this_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned this_machine = EM_AARCH64;
#elif defined(__powerpc64__)
constexpr unsigned this_machine = EM_PPC64;
#elif defined(__riscv)
constexpr unsigned this_machine = EM_RISCV;
#else
#error "say which ELF machine this is"
#endif
constexpr unsigned char this_data = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// Does [at, at + length) lie inside a file of `size` bytes? No sum that could overflow.
bool is_inside(std::uint64_t at, std::uint64_t length, std::uint64_t size) { return at <= size && length <= size - at; }

FileStamp stamp_of(const struct stat& status) {
    return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
            std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

// The text behind DT_RUNPATH, or the older DT_RPATH, as far as it lies in the file.
std::string find_runpath(const File& file, const std::vector<Elf64_Phdr>& segments) {
    const auto dynamic = std::ranges::find(segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
    constexpr std::uint64_t most_entries = 4096;
    std::vector<Elf64_Dyn> entries(std::min<std::uint64_t>(dynamic->p_filesz / sizeof(Elf64_Dyn), most_entries));
    if (!file.read(entries.data(), entries.size() * sizeof(Elf64_Dyn), dynamic->p_offset)) return {};
    std::uint64_t strings = 0, runpath = 0;
    for (const auto& entry : entries) {
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
        if (entry.d_tag == DT_RUNPATH || (entry.d_tag == DT_RPATH && runpath == 0)) runpath = entry.d_un.d_val;
    }
    if (runpath == 0) return {};
    std::array<char, 4097> text{};
    for (const auto& segment : segments)
        if (segment.p_type == PT_LOAD && strings >= segment.p_vaddr && strings - segment.p_vaddr < segment.p_filesz)
            [[maybe_unused]]
            const auto got = ::pread(file.fd(), text.data(), text.size() - 1,
                                     static_cast<off_t>(segment.p_offset + (strings - segment.p_vaddr) + runpath));
    return text.data();
}

Result<std::string> check_extent(const fs::path& path, const File& file, const Elf64_Ehdr& header, std::uint64_t size) {
    const auto cut_short = [&] {
        return fail(ErrorCode::corrupt,
                    "plugin file {} refused: it is cut short: its headers reach beyond its {} bytes; copy "
                    "or build it again",
                    path.native(), size);
    };
    if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr))
        return fail(ErrorCode::corrupt,
                    "plugin file {} refused: its ELF header is damaged: no program headers; build it again",
                    path.native());
    if (!is_inside(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr), size) ||
        !is_inside(header.e_shoff, std::uint64_t{header.e_shnum} * header.e_shentsize, size))
        return cut_short();
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    if (!file.read(segments.data(), segments.size() * sizeof(Elf64_Phdr), header.e_phoff)) return cut_short();
    bool has_dynamic = false, has_plain_stack = false;
    for (const auto& segment : segments) {
        if (segment.p_type == PT_INTERP)
            return fail(ErrorCode::invalid,
                        "plugin file {} refused: it is a program, not a shared object; link it with -shared",
                        path.native());
        if (segment.p_type != PT_NULL && !is_inside(segment.p_offset, segment.p_filesz, size)) return cut_short();
        if (segment.p_type == PT_LOAD && segment.p_filesz > segment.p_memsz)
            return fail(ErrorCode::corrupt, "plugin file {} refused: its ELF segments are damaged; build it again",
                        path.native());
        has_dynamic = has_dynamic || segment.p_type == PT_DYNAMIC;
        has_plain_stack = has_plain_stack || (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X) == 0);
    }
    if (!has_dynamic)
        return fail(ErrorCode::invalid, "plugin file {} refused: it has no dynamic section; link it with -shared",
                    path.native());
    if (!has_plain_stack)
        return fail(ErrorCode::invalid,
                    "plugin file {} refused: it would make the stacks of this daemon executable; link it with "
                    "-Wl,-z,noexecstack, and say .note.GNU-stack in what is written in assembler",
                    path.native());
    return find_runpath(file, segments);
}

}  // namespace

FileStamp stamp_of(const char* path) noexcept {
    struct stat status {};
    return ::stat(path, &status) == 0 ? stamp_of(status) : FileStamp{};
}

Result<fs::path> check_owner(const fs::path& file, uid_t user) {
    constexpr int most_links = 40;
    fs::path place = file;
    for (int links = 0; links < most_links; ++links) {
        const auto directory = place.has_parent_path() ? place.parent_path() : fs::path{"."};
        SPUR_CHECK(check_directory(file, directory, user));
        std::error_code error;
        const auto status = fs::symlink_status(place, error);
        if (status.type() == fs::file_type::not_found || error)
            return fail(ErrorCode::not_found, "plugin file {} refused: {} does not exist", file.native(),
                        place.native());
        if (status.type() != fs::file_type::symlink) {
            if (status.type() != fs::file_type::regular)
                return fail(ErrorCode::invalid, "plugin file {} refused: it is not a regular file", file.native());
            SPUR_CHECK(check_place(links == 0 ? place : file, place, user));
            const auto resolved = fs::canonical(place, error);
            return error ? place : resolved;
        }
        const auto target = fs::read_symlink(place, error);
        place = target.is_absolute() ? target : directory / target;
    }
    return fail(ErrorCode::invalid, "plugin file {} refused: too many symbolic links", file.native());
}

Result<ElfInfo> check_elf(const fs::path& path) {
    const File file{path};
    struct stat status {};
    if (file.fd() < 0 || ::fstat(file.fd(), &status) != 0)
        return fail(ErrorCode::denied, "plugin file {} cannot be read: {}", path.native(), std::strerror(errno));
    const auto size = static_cast<std::uint64_t>(status.st_size);

    Elf64_Ehdr header{};
    const auto got = ::pread(file.fd(), &header, sizeof(header), 0);
    if (got < EI_NIDENT || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        const auto shown = static_cast<std::size_t>(got < 0 ? 0 : std::min<ssize_t>(got, 16));
        return fail(ErrorCode::invalid,
                    "plugin file {} refused: it is not an ELF shared object{}; install the built plugin", path.native(),
                    shown == 0 ? " but empty"
                               : " but begins with " + spur::quoted({reinterpret_cast<const char*>(&header), shown}));
    }
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        return fail(ErrorCode::invalid,
                    "plugin file {} refused: it is a 32-bit object and this daemon is 64-bit; install its 64-bit build",
                    path.native());
    if (header.e_ident[EI_DATA] != this_data)
        return fail(ErrorCode::invalid, "plugin file {} refused: it has the other byte order; install its build for {}",
                    path.native(), machine_name(this_machine));
    if (got < static_cast<ssize_t>(sizeof(header)))
        return fail(ErrorCode::corrupt, "plugin file {} refused: it is cut short at {} bytes; copy or build it again",
                    path.native(), size);
    if (header.e_machine != this_machine)
        return fail(ErrorCode::invalid,
                    "plugin file {} refused: it is built for {} and this daemon for {}; install its {} build",
                    path.native(), machine_name(header.e_machine), machine_name(this_machine),
                    machine_name(this_machine));
    if (header.e_type != ET_DYN)
        return fail(ErrorCode::invalid, "plugin file {} refused: it is {}, not a shared object; link it with -shared",
                    path.native(),
                    header.e_type == ET_EXEC  ? "a program"
                    : header.e_type == ET_REL ? "an object file"
                                              : "another kind of ELF file");
    SPUR_TRY(auto runpath, check_extent(path, file, header, size));
    return ElfInfo{stamp_of(status), std::move(runpath)};
}

Result<void> check_runpath(const fs::path& file, const std::string& runpath, uid_t user) {
    for (std::size_t at = 0, end = 0; at <= runpath.size() && !runpath.empty(); at = end + 1) {
        end = std::min(runpath.find(':', at), runpath.size());
        auto text = runpath.substr(at, end - at);
        for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"})
            if (text.starts_with(origin)) text = file.parent_path().native() + text.substr(origin.size());
        if (!text.starts_with('/'))
            return fail(
                ErrorCode::denied,
                "plugin file {} refused: it looks for libraries in {}, wherever this daemon was started; link it "
                "with an absolute run path or $ORIGIN",
                file.native(), spur::quoted(text));
        auto place = fs::path{text.substr(0, text.find('$'))}.lexically_normal();
        std::error_code error;
        while (place.has_relative_path() && !fs::exists(place, error)) place = place.parent_path();
        auto good = check_directory(file, place, user);  // of one that is not there: who could make it
        if (good) continue;
        good.error().text += fmt::format(", or link it without the run path {}", spur::quoted(text));
        return good;
    }
    return {};
}

}  // namespace spur::host
