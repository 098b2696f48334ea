// The plugin's side of its own process: loads it with the daemon's checks, and runs the calls that come.
#pragma once

namespace spur::isolate {

// Until the daemon is gone. `fd`: the socket to it. Returns what the process exits with.
int serve(int fd);

}  // namespace spur::isolate
