// Records on the socket between a daemon and a plugin's process.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace spur::isolate {

enum class Kind : std::uint32_t {
    open,     // to the child: what to load
    opened,   // from the child: what it is, or why not
    call,     // to the child: an op and its arguments
    push,     // from the child: something for a sink of a call
    reply,    // to the child: what the sink said, where a push asks for it
    answer,   // from the child: the end of a call
    stop,     // to the child: give the call up
    log,      // from the child: a line
    notice,   // from the child: something that the plugin answers for has changed
    metrics,  // to the child: its numbers, please; comes back as an answer
};

struct Record {
    Kind kind{};
    std::uint64_t call{};
    std::string bytes;
};

// One side of the socket. Records are written whole, from any thread; one thread reads.
class Socket {
public:
    explicit Socket(int fd) : fd_{fd} {}
    ~Socket();
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    // False: the other side is gone, or has taken nothing for seconds.
    bool write(Kind kind, std::uint64_t call, std::string_view bytes);
    // The next record; nothing: the other side is gone, or (with a limit) did not say anything for so long.
    std::optional<Record> read(int limit_ms = -1);
    bool is_gone() const;    // the other side is
    void shut_down() const;  // whoever reads or writes comes back

private:
    bool receive(char* to, std::size_t size, int limit_ms);
    int fd_;
    std::mutex writing_;
};

}  // namespace spur::isolate
