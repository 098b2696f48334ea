// How the multi-call binary hands over to a command: the name it was called by, its arguments, its console.
#pragma once

#include "cli/common/console.hpp"

#include <span>
#include <string>
#include <vector>

namespace spur::cli {

struct Invocation {
    std::vector<std::string> words;  // words[0] is the command's name as the user knows it
    Console console;
    std::string controller;  // --controller given before the verb; empty: find it

    explicit Invocation(std::vector<std::string> all) : words(std::move(all)), console(words.front()) {}
};

// A command's entry point. The result is the process's exit code.
using Command = int (*)(Invocation&);

}  // namespace spur::cli
