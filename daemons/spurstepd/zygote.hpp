// The zygote: a small process that has everything loaded and forks one step daemon per request. Forking spurd itself,
// with its threads and libraries, or starting a program for each step, would cost several times as much.
#pragma once

#include "daemons/spurstepd/cgroup_plugin.hpp"
#include "daemons/spurstepd/frame.hpp"

namespace spur::step {

// Serves spurd over `channel`, a SOCK_SEQPACKET socket: each packet brings one descriptor, a new step's connection.
// Returns in the children with that connection, and in the zygote itself once spurd has gone, with a closed one.
FrameSocket serve_forks(int channel);

// What a new step daemon does: leaves spurd's session, reads its orders from the connection and runs the step.
int run_step(FrameSocket connection, const CgroupChoice& cgroup);

// ps(1) shows "spurstepd: [12.batch]" instead of the command line. `argv` is main()'s.
void keep_title_space(int argc, char** argv);

}  // namespace spur::step
