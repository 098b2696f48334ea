// An open file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace spur::step {

class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_{fd} {}
    Descriptor(Descriptor&& other) noexcept : fd_{other.fd_} { other.fd_ = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Descriptor() { reset(); }
    void reset() {
        if (fd_ >= 0) close(fd_);
        fd_ = -1;
    }
    [[nodiscard]] int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

private:
    int fd_{-1};
};

}  // namespace spur::step
