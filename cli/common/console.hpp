// What a command says to its user: one place that knows the program's name and how talkative it may be.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace spur::cli {

// Lines on stderr are prefixed the way Slurm's are ("sbatch: error: ..."): scripts match them.
class Console {
public:
    explicit Console(std::string program, std::FILE* stream = stderr) : program_(std::move(program)), stream_(stream) {}

    const std::string& program() const { return program_; }
    int verbosity() const { return verbosity_; }
    void more_verbose() { ++verbosity_; }
    void quiet() { verbosity_ = -1; }

    template <class... Args>
    void error(fmt::format_string<Args...> text, Args&&... args) const {
        line("error: ", fmt::format(text, std::forward<Args>(args)...));
    }
    // Several lines, each with the prefix; a line break at the very end leaves an empty line, as Slurm's messages do.
    void error_lines(std::string_view text) const {
        while (!text.empty()) {
            const auto end = text.find('\n');
            if (end + 1 == text.size()) return line("error: ", text);
            line("error: ", text.substr(0, end));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
    }
    template <class... Args>
    void fatal(fmt::format_string<Args...> text, Args&&... args) const {
        line("fatal: ", fmt::format(text, std::forward<Args>(args)...));
    }
    template <class... Args>
    void info(fmt::format_string<Args...> text, Args&&... args) const {
        if (verbosity_ >= 0) line("", fmt::format(text, std::forward<Args>(args)...));
    }
    template <class... Args>
    void verbose(fmt::format_string<Args...> text, Args&&... args) const {
        if (verbosity_ >= 1) line("", fmt::format(text, std::forward<Args>(args)...));
    }

private:
    void line(std::string_view kind, std::string_view text) const {
        const auto whole = fmt::format("{}: {}{}\n", program_, kind, text);
        std::fwrite(whole.data(), 1, whole.size(), stream_);
        std::fflush(stream_);
    }

    std::string program_;
    std::FILE* stream_;
    int verbosity_ = 0;
};

}  // namespace spur::cli
