// Log lines: log::info("node {} is back", name). One line a call, for an operator; debug is for whoever wrote the code.
//
// Until start() lines go to stderr, so that a program that never calls it (a command, a test) carries no log library.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace spur::log {

enum class Level : std::uint8_t { error, warning, info, debug, trace };
std::string_view to_string(Level level);
std::optional<Level> find_level(std::string_view name);  // "info"; Slurm's "verbose" and "debug2" too

void write(Level level, std::string_view line);
bool is_enabled(Level level);
void set_level(Level level);
Level level();

template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
    if (is_enabled(Level::error)) write(Level::error, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warning(fmt::format_string<Args...> text, Args&&... args) {
    if (is_enabled(Level::warning)) write(Level::warning, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
    if (is_enabled(Level::info)) write(Level::info, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
    if (is_enabled(Level::debug)) write(Level::debug, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void trace(fmt::format_string<Args...> text, Args&&... args) {
    if (is_enabled(Level::trace)) write(Level::trace, fmt::format(text, std::forward<Args>(args)...));
}

struct Options {
    std::string program;  // in front of each line on stderr
    Level level{Level::info};
    std::string file;      // empty: none
    bool to_stderr{true};  // also, or only, there
    bool json{false};      // one JSON object a line
};

// From here on lines go where `options` says; may be called again. Fails, changing nothing, if the file cannot be
// opened.
Result<void> start(const Options& options);
void reopen();  // after the file was renamed by logrotate
void flush();

// Where lines go, several at once with line ends between them. One is in force; calls may come from any thread.
class Sink {
public:
    virtual ~Sink() = default;
    virtual void write(Level level, std::string_view line) = 0;
    virtual std::shared_ptr<Sink> reopened() { return nullptr; }  // a fresh one in its place; nullptr: keep this
    virtual void flush() {}
};
void use(std::shared_ptr<Sink> sink);  // nullptr: stderr

// For tests: keeps lines instead of printing them, until it goes out of scope.
class Capture {
public:
    Capture();
    ~Capture();
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    std::vector<std::string> lines() const;  // "warning: text"
    bool contains(std::string_view part) const;
    std::size_t count(std::string_view part) const;

private:
    class Keeper;
    std::shared_ptr<Keeper> keeper_;
    Level before_;
};

}  // namespace spur::log
