/* What the clients in C have in common. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>

#define SERVICE "org.antidrift.Session"
#define OBJECT "/org/antidrift/Session"
#define PATIENCE_US (120 * UINT64_C(1000000)) /* then an answer counts as lost; a long queue is no loss */

static inline int64_t us_on(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* The value of what sd-bus returned; ends the program if it is an error. */
static inline int must(int result, const char *what) {
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(-result));
        exit(EXIT_FAILURE);
    }
    return result;
}

static inline sd_bus *on_the_bus(void) {
    sd_bus *bus;
    must(sd_bus_open_user(&bus), "no bus");
    return bus;
}

/* Handles one message, or waits for the next; ends the program if none comes. */
static inline void attend(sd_bus *bus) {
    if (must(sd_bus_process(bus, NULL), "the connection has ended") == 0 &&
        must(sd_bus_wait(bus, PATIENCE_US), "waiting") == 0)
        must(-ETIME, "nothing comes");
}

static inline void say(const char *line) {
    puts(line);
    fflush(stdout);
}
