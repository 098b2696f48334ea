// What the checker prints: a line a case, or JSON.
#pragma once

#include "runner.hpp"

#include <string>
#include <vector>

namespace spur::check {

struct Line {
    std::string type;  // of the plugin, when the file holds several
    std::string name;
    std::string promise;
    Outcome outcome;
};

class Report {
public:
    enum class Form { text, only_failed, json };
    Report(Form form, std::string file, std::uint64_t seed) : form_(form), file_(std::move(file)), seed_(seed) {}

    void plugin(const std::string& type, const std::string& words);  // the lines that follow are about this one
    void add(Line line);
    int finish() const;  // prints what is left to print; the exit code

private:
    std::string summary() const;
    std::string json() const;
    long count(Verdict verdict) const;

    Form form_;
    std::string file_;
    std::uint64_t seed_;
    std::vector<std::string> plugins_;
    std::vector<Line> lines_;
};

}  // namespace spur::check
