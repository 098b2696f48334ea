// spurstepd - runs one job step: launches its tasks, holds their stdio, enforces its limits.
//
// Started by spurd only, in one of two ways: `spurstepd --zygote` waits for forks to be asked of it, and `spurstepd
// --connection` is a single step. Descriptor 3 is the channel to spurd, descriptor 4 a file with what all steps have in
// common: see setup.hpp.
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "daemons/spurstepd/zygote.hpp"

namespace {

using namespace spur;

constexpr int channel = 3, setup_file = 4;

}  // namespace

int main(int argc, char** argv) {
    const std::string_view role{argc > 1 ? argv[1] : ""};
    const auto setup = step::read_setup_file(setup_file);
    if (!setup || (role != "--zygote" && role != "--connection")) {
        std::fputs("spurstepd is started by spurd and runs one job step; there is nothing to do for it here\n", stderr);
        return 64;
    }
    mallopt(M_ARENA_MAX, 1);          // its few threads allocate little: an arena for each would cost more than they do
    close_range(setup_file, ~0U, 0);  // whatever else it was started with is not ours to keep open
    const auto cgroup = step::CgroupChoice::make(*setup);
    if (!cgroup.problem.empty()) std::fprintf(stderr, "spurstepd: steps are refused: %s\n", cgroup.problem.c_str());
    step::keep_title_space(argc, argv);
    auto connection = role == "--zygote" ? step::serve_forks(channel) : step::FrameSocket{channel};
    if (!connection.is_open()) return 0;
    // _exit: what was set up in the zygote belongs to all its children, and none may tear it down.
    _exit(step::run_step(std::move(connection), cgroup));
}
