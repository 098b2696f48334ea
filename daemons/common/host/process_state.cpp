// Reading each of them without changing it, and putting it back.
#include "daemons/common/host/process_state.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <cstdlib>
#include <cstring>

#include "daemons/common/host/crash.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace spur::host {
namespace {

// umask() can only be read by setting it, which other threads would notice.
mode_t read_umask() noexcept {
    std::array<char, 512> text{};
    const int fd = ::open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    [[maybe_unused]] const auto got = ::read(fd, text.data(), text.size() - 1);
    ::close(fd);
    const char* const line = std::strstr(text.data(), "\nUmask:");
    return line == nullptr ? 0 : static_cast<mode_t>(std::strtoul(line + 7, nullptr, 8));
}

// Rounding, and what becomes of very small numbers: whoever links with -ffast-math changes that for the whole thread.
unsigned read_rounding() noexcept {
#if defined(__x86_64__)
    constexpr unsigned flags_raised = 0x3f;
    return _mm_getcsr() & ~flags_raised;
#else
    return static_cast<unsigned>(std::fegetround());
#endif
}
void set_rounding(unsigned mode) noexcept {
#if defined(__x86_64__)
    std::fesetround(static_cast<int>((mode & 0x6000) >> 3));  // of the older unit too, which long double uses
    _mm_setcsr(mode);
#else
    std::fesetround(static_cast<int>(mode));
#endif
}

FileStamp stamp_of_open(int fd) noexcept {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return {};
    return {status.st_dev, status.st_ino, status.st_mode & S_IFMT, 0};
}

bool is_same_set(const sigset_t& a, const sigset_t& b) noexcept {
    for (int number = 1; number < NSIG; ++number)
        if (::sigismember(&a, number) != ::sigismember(&b, number)) return false;
    return true;
}

}  // namespace

ProcessState::ProcessState(Reading reading) noexcept
    : reading_{reading},
      process_{::getpid()},
      rounding_{read_rounding()},
      umask_{reading == Reading::all ? read_umask() : 0},
      user_{::geteuid()},
      directory_{stamp_of(".")} {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &signals_);
    if (::getcwd(directory_name_.data(), directory_name_.size()) == nullptr) directory_name_[0] = '\0';
    if (const char* const name = std::setlocale(LC_ALL, nullptr))
        std::strncpy(locale_.data(), name, locale_.size() - 1);
    for (int fd = 0; fd < 3; ++fd) standard_[static_cast<std::size_t>(fd)] = stamp_of_open(fd);
}

bool ProcessState::is_in_copy() const noexcept { return ::getpid() != process_; }

std::string ProcessState::restore() const {
    const ProcessState now{reading_};
    std::string changed;
    const auto note = [&](bool differs, const char* what) {
        if (differs) changed += (changed.empty() ? "" : ", ") + std::string{what};
        return differs;
    };
    if (note(!is_same_set(now.signals_, signals_), "the signal mask"))
        ::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    if (note(now.rounding_ != rounding_, "the floating point mode")) set_rounding(rounding_);
    if (note(now.umask_ != umask_, "the umask")) ::umask(umask_);
    if (note(now.user_ != user_, "the effective user") && ::seteuid(user_) != 0) changed += " for good";
    if (note(!now.directory_.is_same_file(directory_), "the working directory") && ::chdir(directory_name_.data()) != 0)
        changed += " for good";
    if (note(now.locale_ != locale_, "the locale")) std::setlocale(LC_ALL, locale_.data());
    for (int fd = 0; fd < 3; ++fd) {
        const auto at = static_cast<std::size_t>(fd);
        if (!note(now.standard_[at] != standard_[at], "a standard descriptor") || now.standard_[at].inode != 0)
            continue;
        const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);  // nobody else's file shall get this number
        if (nothing >= 0 && nothing != fd) ::dup2(nothing, fd), ::close(nothing);
    }
    note(restore_crash_handler(), "the handler of crashes");
    return changed;
}

}  // namespace spur::host
