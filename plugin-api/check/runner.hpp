// Runs a case in a process of its own, with limits and a deadline, and puts into words what became of it.
#pragma once

#include "case.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace spur::check {

enum class Verdict { ok, failed, skipped };

struct Outcome {
    Verdict verdict = Verdict::failed;
    std::string text;    // ok: a remark, may be empty; failed: what is wrong; skipped: why
    std::string output;  // the end of what the process printed
    std::chrono::milliseconds took{};
};

using Body = std::function<std::string()>;

// In a child: memory, processor time and file sizes are limited, its output is caught, its process group is ended.
Outcome run_in_child(const Body& body, std::chrono::seconds deadline);

// In this process, for a debugger: a crash is a crash.
Outcome run_here(const Body& body);

// A directory for one case, removed with all that is in it.
class Scratch {
public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace spur::check
