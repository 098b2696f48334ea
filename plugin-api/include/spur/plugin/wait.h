/* spur/plugin/wait.h - C sugar for calls that may be stopped: wait for a descriptor, or for time to pass, and give up when asked.
 *
 *   while ((status = spur_wait(stop, socket, POLLIN, 1000)) == 0) ask_again();
 *   if (status < 0) return status;
 *
 * Needs POSIX: with -std=c11, define _POSIX_C_SOURCE as 200809L before the first include. */
#ifndef SPUR_PLUGIN_WAIT_H
#define SPUR_PLUGIN_WAIT_H

#include <spur/plugin/abi.h>

#include <errno.h>
#include <poll.h>
#include <time.h>

#define SPUR_STOP_SLICE_MS 100 /* how long a stop may go unnoticed where the host has no descriptor for it */

static inline int64_t spur_wait_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Until `fd` (-1: none) has one of `events` or an error, for at most `timeout_ms` (-1: as long as it takes).
 * 1: it has; 0: time is up; SPUR_E_STOPPED: the host asked to give up; SPUR_E_IO: poll() failed, see errno. */
static inline spur_status spur_wait(const spur_stop *stop, int fd, short events, int timeout_ms) {
    const int64_t until = timeout_ms < 0 ? INT64_MAX : spur_wait_now_ms() + timeout_ms;
    for (;;) {
        struct pollfd watched[2] = {{fd, events, 0}, {stop->fd, POLLIN, 0}};
        if (stop->stopped(stop)) return SPUR_E_STOPPED;
        int64_t left = until == INT64_MAX ? -1 : until - spur_wait_now_ms();
        if (until != INT64_MAX && left < 0) left = 0;
        const int is_last = left >= 0 && (stop->fd >= 0 || left <= SPUR_STOP_SLICE_MS);
        if (stop->fd < 0 && !is_last) left = SPUR_STOP_SLICE_MS;
        const int ready = poll(watched, 2, (int)left);
        if (ready < 0 && errno != EINTR) return SPUR_E_IO;
        if (ready > 0 && watched[0].revents != 0) return 1;
        if (ready == 0 && is_last) return stop->stopped(stop) ? SPUR_E_STOPPED : 0;
    }
}

#endif
