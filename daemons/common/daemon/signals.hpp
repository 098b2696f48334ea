// Signals that are read like input instead of interrupting: SIGTERM, SIGINT, SIGHUP and SIGUSR2.
#pragma once

#include "core/base/result.hpp"

namespace spur::daemon {

class Signals {
public:
    // From here on these signals are blocked in this thread and in those it starts, and wait to be read: call it before
    // any thread is started. SIGPIPE is ignored.
    static Result<Signals> take();
    Signals(Signals&& other) noexcept;
    Signals& operator=(Signals&&) = delete;
    ~Signals();

    int fd() const { return fd_; }  // readable when one has come
    int read();                     // the next signal's number; 0 if none waits

private:
    explicit Signals(int fd) : fd_{fd} {}
    int fd_;
};

}  // namespace spur::daemon
