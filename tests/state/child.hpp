// A program started by a test, what it says line by line, and the means to end it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace spur::test {

class Child {
public:
    explicit Child(const std::vector<std::string>& command);
    ~Child();  // kills it
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // The next line it prints; nothing at the end of its output, or when `patience` is over.
    std::optional<std::string> read_line(std::chrono::milliseconds patience = std::chrono::seconds(60));
    void write_line(const std::string& line);
    void signal(int number);
    void kill();  // with signal 9, and reaps it
    int wait();   // its exit status
    bool is_alive() const { return pid_ > 0; }

private:
    int pid_ = -1;
    int input_ = -1;
    int output_ = -1;
    std::string buffer_;
};

}  // namespace spur::test
