// spurstepd - runs one job step: launches its tasks, holds their stdio, enforces its limits.
//
// Started by spurd only, in one of two ways: `spurstepd --zygote FD` waits for forks to be asked of it, and
// `spurstepd --connection FD` is a single step. What follows describes the cgroup plugin; see step_arguments().
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "daemons/spurstepd/zygote.hpp"

namespace {

using namespace spur;

struct Arguments {
    int zygote{-1}, connection{-1};
    step::CgroupOptions cgroup;
};

// Every argument is a word and its value; spurd writes them, so there is nobody to explain mistakes to.
bool parse(int argc, char** argv, Arguments& arguments) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view word{argv[i]};
        const std::string value{argv[i + 1]};
        if (word == "--zygote")
            arguments.zygote = std::atoi(value.c_str());
        else if (word == "--connection")
            arguments.connection = std::atoi(value.c_str());
        else if (word == "--cgroup-file")
            arguments.cgroup.file = value;
        else if (word == "--cgroup-type")
            arguments.cgroup.type = value;
        else if (word == "--node")
            arguments.cgroup.node = value;
        else if (word == "--cluster")
            arguments.cgroup.cluster = value;
        else if (word == "--state-dir")
            arguments.cgroup.state_dir = value;
        else if (word == "--cgroup-needs")
            arguments.cgroup.needed = static_cast<std::uint32_t>(std::strtoul(value.c_str(), nullptr, 10));
        else if (word == "--option")
            arguments.cgroup.options.emplace_back(value.substr(0, value.find('=')), value.substr(value.find('=') + 1));
        else
            return false;
    }
    return (arguments.zygote >= 0) != (arguments.connection >= 0);
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    if (!parse(argc, argv, arguments)) {
        std::fputs("spurstepd is started by spurd and runs one job step; there is nothing to do for it here\n", stderr);
        return 64;
    }
    mallopt(M_ARENA_MAX, 1);  // its few threads allocate little: an arena for each would cost more than they do
    close_range(4, ~0U, 0);   // spurd passes descriptor 3; whatever else it was started with is not ours to keep open
    const auto cgroup = step::CgroupChoice::make(arguments.cgroup);
    if (!cgroup.problem.empty()) std::fprintf(stderr, "spurstepd: steps are refused: %s\n", cgroup.problem.c_str());
    step::keep_title_space(argc, argv);
    auto connection =
        arguments.zygote >= 0 ? step::serve_forks(arguments.zygote) : step::FrameSocket{arguments.connection};
    if (!connection.is_open()) return 0;
    // _exit: what was set up in the zygote belongs to all its children, and none may tear it down.
    _exit(step::run_step(std::move(connection), cgroup));
}
