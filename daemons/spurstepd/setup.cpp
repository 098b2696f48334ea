// The fields of a setup, and the file it travels in.
#include "daemons/spurstepd/setup.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/store/tagged.hpp"

namespace spur::archive {

using namespace step;

template <>
inline constexpr auto fields_of<Fact> = numbered(&Fact::key, &Fact::value).skipping_unknown();
template <>
inline constexpr auto fields_of<host::OptionValue> =
    numbered(&host::OptionValue::key, &host::OptionValue::kind, &host::OptionValue::line, &host::OptionValue::is_default,
             &host::OptionValue::integer, &host::OptionValue::real, &host::OptionValue::text, &host::OptionValue::list)
        .skipping_unknown();
template <>
inline constexpr auto fields_of<Setup> = numbered(&Setup::file, &Setup::type, &Setup::needed, &Setup::facts, &Setup::source,
                                                  &Setup::options, &Setup::patience_ms)
                                             .skipping_unknown();

}  // namespace spur::archive

namespace spur::step {

std::string encode(const Setup& setup) { return archive::to_bytes(setup); }

std::optional<Setup> decode_setup(std::string_view bytes) { return archive::from_bytes<Setup>(bytes); }

int make_setup_file(std::string_view bytes) {
    const int fd = memfd_create("spurstepd setup", MFD_CLOEXEC);
    if (fd < 0) return -1;
    while (!bytes.empty()) {
        const auto count = ::write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            close(fd);
            return -1;
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return fd;
}

// Its offset is shared with others who were passed it.
std::optional<Setup> read_setup_file(int fd) {
    struct stat info {};
    if (fstat(fd, &info) != 0) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    if (pread(fd, bytes.data(), bytes.size(), 0) != info.st_size) return std::nullopt;
    return decode_setup(bytes);
}

}  // namespace spur::step
