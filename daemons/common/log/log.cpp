// Levels, the sink in force, and the plain one that writes to stderr.
#include "daemons/common/log/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "core/text/lexical.hpp"
#include "core/text/quote.hpp"
#include "daemons/common/log/batch.hpp"
#include "daemons/common/log/throttle.hpp"

namespace spur::log {
namespace {

constexpr std::size_t longest_line = 4096;

constexpr std::array<std::string_view, 5> names{"error", "warning", "info", "debug", "trace"};

std::atomic<Level> threshold{Level::info};

class Stderr final : public Sink {
public:
    void write(Level level, std::string_view lines) override {
        std::string text;
        for (const auto line : split(lines, '\n')) text += fmt::format("{}: {}\n", to_string(level), line);
        // A log line that cannot be written has nowhere to be reported.
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    }
};

struct InForce {
    std::mutex mutex;
    std::shared_ptr<Sink> sink = std::make_shared<Stderr>();
};
InForce& in_force() {
    static auto* const one = new InForce;  // outlives every static: lines may be written until the very end
    return *one;
}
std::shared_ptr<Sink> current() {
    auto& now = in_force();
    const std::lock_guard lock{now.mutex};
    return now.sink;
}

}  // namespace

std::string_view to_string(Level level) { return names[static_cast<std::size_t>(level)]; }

std::optional<Level> find_level(std::string_view name) {
    const auto wanted = lower(name);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (wanted == names[i]) return static_cast<Level>(i);
    if (wanted == "fatal" || wanted == "quiet") return Level::error;
    if (wanted == "warn") return Level::warning;
    if (wanted == "verbose") return Level::info;
    if (wanted.starts_with("debug") && wanted.size() == 6 && wanted[5] >= '2' && wanted[5] <= '5') return Level::trace;
    return std::nullopt;
}

bool is_enabled(Level level) { return level <= threshold.load(std::memory_order_relaxed); }
void set_level(Level level) { threshold.store(level, std::memory_order_relaxed); }
Level level() { return threshold.load(std::memory_order_relaxed); }

namespace {

bool is_plain(std::string_view line) {
    return line.size() <= longest_line && std::ranges::none_of(line, [](char c) {
               return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\xc2';
           });
}

}  // namespace

// Whatever found its way into a line, it stays one line.
void write(Level level, std::string_view line) {
    if (!is_enabled(level)) return;
    if (is_plain(line))
        current()->write(level, line);
    else
        current()->write(level, printable(line, longest_line));
}

void write_all(Level level, const std::vector<std::string>& lines) {
    if (!is_enabled(level) || lines.empty()) return;
    std::string text;
    for (const auto& line : lines) {
        if (!text.empty()) text += '\n';
        text += is_plain(line) ? line : printable(line, longest_line);
    }
    current()->write(level, text);
}

void Throttle::warning(std::string_view line) {
    std::uint64_t left_out = 0;
    {
        const std::lock_guard lock{mutex_};
        const auto now = Clock::now();
        if (since_ == Clock::time_point{} || now - since_ >= window_) {
            since_ = now;
            written_ = 0;
            left_out = std::exchange(left_out_, 0);
        }
        if (written_ >= most_) {
            ++left_out_;
            return;
        }
        ++written_;
    }
    if (left_out > 0) write(Level::warning, fmt::format("{} lines of this kind were left out", left_out));
    write(Level::warning, line);
}

void reopen() {
    if (auto fresh = current()->reopened()) use(std::move(fresh));
}
void flush() { current()->flush(); }

void use(std::shared_ptr<Sink> sink) {
    if (!sink) sink = std::make_shared<Stderr>();
    auto& now = in_force();
    const std::lock_guard lock{now.mutex};
    std::swap(now.sink, sink);
}

class Capture::Keeper final : public Sink {
public:
    void write(Level level, std::string_view lines) override {
        const std::lock_guard lock{mutex};
        for (const auto line : split(lines, '\n')) kept.push_back(fmt::format("{}: {}", to_string(level), line));
    }
    std::mutex mutex;
    std::vector<std::string> kept;
};

Capture::Capture() : keeper_{std::make_shared<Keeper>()}, before_{level()} {
    set_level(Level::trace);
    use(keeper_);
}
Capture::~Capture() {
    use(nullptr);
    set_level(before_);
}
std::vector<std::string> Capture::lines() const {
    const std::lock_guard lock{keeper_->mutex};
    return keeper_->kept;
}
std::size_t Capture::count(std::string_view part) const {
    const auto all = lines();
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const auto& line) { return line.contains(part); }));
}
bool Capture::contains(std::string_view part) const { return count(part) > 0; }

}  // namespace spur::log
