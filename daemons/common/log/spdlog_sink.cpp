// The daemons' log, on spdlog: stderr, a file that logrotate may rename, text or JSON. The only file that includes
// spdlog.
#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "core/text/lexical.hpp"
#include "daemons/common/log/log.hpp"

namespace spur::log {
namespace {

spdlog::level::level_enum theirs(Level level) {
    switch (level) {
        case Level::error:
            return spdlog::level::err;
        case Level::warning:
            return spdlog::level::warn;
        case Level::info:
            return spdlog::level::info;
        case Level::debug:
            return spdlog::level::debug;
        case Level::trace:
            return spdlog::level::trace;
    }
    return spdlog::level::info;
}

std::string json_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (static_cast<unsigned char>(c) < 0x20)
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out;
}

class Spdlog final : public Sink {
public:
    Spdlog(const Options& options, std::shared_ptr<spdlog::sinks::basic_file_sink_mt> file)
        : options_{options}, logger_{options.program} {
        if (options.to_stderr) logger_.sinks().push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
        if (file) logger_.sinks().push_back(std::move(file));
        const char* const pattern = options.json
                                        ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","program":"%n","level":"%l","text":"%v"})"
                                        : "%Y-%m-%dT%H:%M:%S.%e %n: %l: %v";
        logger_.set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern));
        frame_ = std::make_unique<spdlog::pattern_formatter>(pattern);
        logger_.set_level(spdlog::level::trace);  // log::is_enabled() has already decided
        logger_.flush_on(spdlog::level::trace);
    }
    void write(Level level, std::string_view text) override {
        std::string made;
        if (text.find('\n') != std::string_view::npos)
            text = made = in_frames(level, text);
        else if (options_.json)
            text = made = json_escaped(text);
        logger_.log(theirs(level), spdlog::string_view_t{text.data(), text.size()});
    }
    std::shared_ptr<Sink> reopened() override;
    void flush() override { logger_.flush(); }

private:
    // Several lines as one: what spdlog puts around a line stands between them as well.
    std::string in_frames(Level level, std::string_view lines) {
        spdlog::memory_buf_t buffer;
        {
            const std::lock_guard lock{framing_};
            frame_->format(spdlog::details::log_msg{logger_.name(), theirs(level), "\x01"}, buffer);
        }
        const std::string_view framed{buffer.data(), buffer.size()};
        const auto place = framed.find('\x01');
        const auto before = framed.substr(0, place), after = framed.substr(place + 1);
        std::string text;
        for (const auto line : split(lines, '\n')) {
            if (!text.empty()) text.append(after).append(before);
            text += options_.json ? json_escaped(line) : std::string{line};
        }
        return text;
    }

    Options options_;
    spdlog::logger logger_;
    std::mutex framing_;  // frame_
    std::unique_ptr<spdlog::pattern_formatter> frame_;
};

// Logs name users and jobs: readable by the group, by nobody else. spdlog would make missing directories, for everyone
// to read.
std::shared_ptr<spdlog::sinks::basic_file_sink_mt> open_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) spdlog::throw_spdlog_ex(path, errno);
    ::close(fd);
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
}

// spdlog 1.10 cannot reopen in place, and its list of sinks is not to be touched while others log.
std::shared_ptr<Sink> Spdlog::reopened() {
    if (options_.file.empty()) return nullptr;
    try {
        return std::make_shared<Spdlog>(options_, open_file(options_.file));
    } catch (const spdlog::spdlog_ex&) {
        write(Level::warning, "the log file could not be reopened; lines keep going to the old one");
        return nullptr;
    }
}

}  // namespace

Result<void> start(const Options& options) {
    std::shared_ptr<spdlog::sinks::basic_file_sink_mt> file;
    if (!options.file.empty()) {
        try {
            file = open_file(options.file);
        } catch (const spdlog::spdlog_ex&) {
            return fail(ErrorCode::invalid,
                        "log file {} cannot be opened: {}; create its directory or name another file", options.file,
                        std::strerror(errno));
        }
    }
    set_level(options.level);
    use(std::make_shared<Spdlog>(options, std::move(file)));
    return {};
}

}  // namespace spur::log
