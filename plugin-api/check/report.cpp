// Lines for people, JSON for programs.
#include "report.hpp"

#include <algorithm>
#include <cstdio>

namespace spur::check {
namespace {

const char* word_for(Verdict verdict) {
    switch (verdict) {
        case Verdict::ok:
            return "ok";
        case Verdict::skipped:
            return "skipped";
        default:
            return "failed";
    }
}

std::string in_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += '\\', out += c;
        else if (c == '\n')
            out += "\\n";
        else if (code < 0x20)
            out += fmt::format("\\u{:04x}", code);
        else
            out += c;
    }
    return out + '"';
}

std::string line_text(const Line& line) {
    const auto& outcome = line.outcome;
    switch (outcome.verdict) {
        case Verdict::ok:
            return outcome.text.empty() ? "ok" : fmt::format("ok ({})", outcome.text);
        case Verdict::skipped:
            return "skipped: " + outcome.text;
        default:
            return "FAILED: " + outcome.text;
    }
}

// What the process printed, indented, so that it is not taken for the checker's words.
std::string indented(std::string_view output) {
    std::string text;
    while (!output.empty()) {
        const auto end = std::min(output.find('\n'), output.size());
        text += fmt::format("    | {}\n", output.substr(0, end));
        output.remove_prefix(std::min(end + 1, output.size()));
    }
    return text;
}

}  // namespace

void Report::plugin(const std::string& type, const std::string& words) {
    plugins_.push_back(type);
    if (form_ != Form::json) fmt::print("{} ({})\n", words, file_);
}

void Report::add(Line line) {
    const bool shown = form_ == Form::text || (form_ == Form::only_failed && line.outcome.verdict == Verdict::failed);
    if (shown) {
        fmt::print("  {:<20} {}\n", line.name, line_text(line));
        if (line.outcome.verdict == Verdict::failed) fmt::print("{}", indented(line.outcome.output));
        std::fflush(stdout);
    }
    lines_.push_back(std::move(line));
}

long Report::count(Verdict verdict) const {
    return std::ranges::count(lines_, verdict, [](const Line& line) { return line.outcome.verdict; });
}

std::string Report::summary() const {
    return fmt::format("{} cases: {} ok, {} failed, {} skipped (seed {})\n", lines_.size(), count(Verdict::ok),
                       count(Verdict::failed), count(Verdict::skipped), seed_);
}

std::string Report::json() const {
    std::string out =
        fmt::format("{{\"file\": {}, \"seed\": {}, \"ok\": {}, \"failed\": {}, \"skipped\": {}, \"cases\": [",
                    in_quotes(file_), seed_, count(Verdict::ok), count(Verdict::failed), count(Verdict::skipped));
    const char* between = "\n  ";
    for (const auto& line : lines_) {
        out += fmt::format(
            "{}{{\"plugin\": {}, \"case\": {}, \"promise\": {}, \"result\": {}, \"text\": {}, \"output\": {}, \"ms\": "
            "{}}}",
            between, in_quotes(line.type), in_quotes(line.name), in_quotes(line.promise),
            in_quotes(word_for(line.outcome.verdict)), in_quotes(line.outcome.text), in_quotes(line.outcome.output),
            line.outcome.took.count());
        between = ",\n  ";
    }
    return out + "\n]}\n";
}

int Report::finish() const {
    fmt::print("{}", form_ == Form::json ? json() : summary());
    return count(Verdict::failed) == 0 ? 0 : 1;
}

}  // namespace spur::check
