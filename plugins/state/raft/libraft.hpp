// libraft's C headers, which do not say extern "C" themselves.
#pragma once

#include <uv.h>

#include <cstdarg>
#include <cstdbool>
#include <cstddef>
#include <cstdio>

extern "C" {
#include <raft.h>
#include <raft/uv.h>
}
