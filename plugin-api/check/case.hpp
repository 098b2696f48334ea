// What a case is: one promise of a plugin, tried in a process of its own. A case returns a remark, or throws one of the
// two verdicts below; whatever else happens to its process (a signal, a time-out, exit()) is a failure too.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace spur::check {

struct Failed {
    std::string text;
};
struct Skipped {
    std::string text;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
    throw Failed{fmt::format(text, std::forward<Args>(args)...)};
}
template <class... Args>
[[noreturn]] void skip(fmt::format_string<Args...> text, Args&&... args) {
    throw Skipped{fmt::format(text, std::forward<Args>(args)...)};
}
template <class... Args>
void require(bool holds, fmt::format_string<Args...> otherwise, Args&&... args) {
    if (!holds) fail(otherwise, std::forward<Args>(args)...);
}

// Notes what is being tried, so that the line about a crash can say where it happened.
void doing(std::string_view what);

// What is being checked, and with what.
struct Subject {
    std::string file;                             // absolute path of the shared object
    std::string type;                             // "sched/backfill": the descriptor under test
    std::map<std::string, std::string> settings;  // --set key=value: options the checker cannot guess
    std::uint64_t seed = 1;
    unsigned clusters = 40;         // how many random clusters a law is tried on
    std::filesystem::path scratch;  // an empty directory of this case's own
};

struct Case {
    const char* name;
    const char* promise;  // shown with --list
    std::string (*run)(const Subject&);
    unsigned seconds = 60;  // wall clock; then it has failed
    unsigned since = 0;     // 1.n: who builds with older headers is not held to it
};

class Instance;
struct Shape;

// What the checker knows about an axis. The tables are in axis_<name>.cpp.
struct RequiredOp {
    const char* name;
    std::size_t offset;  // of the function pointer in the ops table
};
struct Axis {
    const char* name;
    const char* program;  // the daemon that loads it
    const char* interface;
    std::size_t first_size;  // of the ops table in the release that introduced the interface
    std::span<const RequiredOp> required;
    std::span<const Case> laws;
    // One ordinary use of an instance, with structs of the given shape.
    void (*exercise)(const Subject&, Instance&, const Shape&);
};

std::span<const Case> module_cases();     // the file, its symbols, its descriptor and options
std::span<const Case> lifecycle_cases();  // instances: create, hosts old and new, threads, leaks
std::span<const Axis* const> axes();
const Axis* find_axis(std::string_view type);  // by "sched/backfill"; nullptr: not an axis of this release

}  // namespace spur::check
