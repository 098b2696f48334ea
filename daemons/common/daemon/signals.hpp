// Signals as events of the main thread: SIGTERM and SIGINT stop, SIGHUP reloads, SIGUSR2 reopens the log.
#pragma once

#include <functional>

#include "core/base/result.hpp"

namespace spur::daemon {

class Signals {
public:
    // From here on these signals are blocked in this thread and in those it starts, and wait to be read. Call it first
    // of all. SIGPIPE is ignored.
    static Result<Signals> take();
    Signals(Signals&& other) noexcept;
    Signals& operator=(Signals&&) = delete;
    ~Signals();

    struct Handlers {
        std::function<void()> stop;    // SIGTERM, SIGINT; run() returns after it
        std::function<void()> reload;  // SIGHUP
        std::function<void()> reopen;  // SIGUSR2, and SIGHUP before reload
    };
    // Serves signals until one of them asks to stop; a second one ends the process at once.
    void run(const Handlers& handlers);

    int fd() const { return fd_; }  // a signalfd, for loops of another kind
    int read();                     // the next signal's number; 0 if none waits
    static void give_back();        // in a child between fork and exec: as the parent found them

private:
    explicit Signals(int fd) : fd_{fd} {}
    int fd_;
};

}  // namespace spur::daemon
