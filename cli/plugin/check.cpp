// spur plugin check: the checker is a program of its own, since it stands in for the C library's allocator.
#include "cli/plugin/commands.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace spur::cli::plugin {

int check(const std::vector<std::string>& words) {
    auto beside = (program_dir() / "spur-plugin-check").string();
    std::vector<char*> arguments{beside.data()};
    for (auto word = words.begin() + 1; word != words.end(); ++word)
        arguments.push_back(const_cast<char*>(word->data()));
    arguments.push_back(nullptr);
    execv(beside.c_str(), arguments.data());
    execvp("spur-plugin-check", arguments.data());
    fmt::print(stderr, "spur plugin check: error: cannot run spur-plugin-check, neither as {} nor from PATH: {}\n",
               beside, std::strerror(errno));
    return 2;
}

}  // namespace spur::cli::plugin
