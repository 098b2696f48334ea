// What all of a daemon relies on and a call into a plugin must leave as it found it: the thread's signal mask and
// floating point mode, the process's umask, directory, locale, effective user, standard descriptors and crash handler.
// Compared around create(), destroy() and a planning cycle; it costs too much for every call.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <string>

#include "daemons/common/host/file_check.hpp"

namespace spur::host {

class ProcessState {
public:
    enum class Reading { all, cheap };  // cheap: without the umask, which costs more than all the rest
    explicit ProcessState(Reading reading = Reading::all) noexcept;  // as it is now

    // Puts back what is another now, and names it: "the umask and the signal mask"; empty if nothing is.
    std::string restore() const;
    bool is_in_copy() const noexcept;  // this process is a fork of that one

private:
    Reading reading_;
    pid_t process_;
    sigset_t signals_{};
    unsigned rounding_{};
    mode_t umask_{};
    uid_t user_{};
    FileStamp directory_;
    std::array<char, 4096> directory_name_{};
    std::array<char, 256> locale_{};
    std::array<FileStamp, 3> standard_{};
};

}  // namespace spur::host
