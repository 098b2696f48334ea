// The processes below one process. A step daemon is the reaper of its descendants (PR_SET_CHILD_SUBREAPER), so whatever
// its tasks left behind is still below it: the tree is all there is to find, even without cgroups.
#pragma once

#include <sys/types.h>

#include <vector>

namespace spur::step {

// Every process below `root`, parents before children. Processes come and go while this looks: one that was just born
// may be missed, so whoever wants them all dead asks again until there are none.
std::vector<pid_t> descendants(pid_t root);

// Sends `signal` to the children of `parent` that are in its own cgroups still: on their way into another.
void signal_children_beside(pid_t parent, int signal);

// Sends `signal` to all of them; how many there were.
std::size_t signal_descendants(pid_t root, int signal);

}  // namespace spur::step
