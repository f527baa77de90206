/* Says when each state of the service reached a client.
 *
 *     listen
 *
 * "ready" when it listens; then for each StateChanged one line: nanoseconds on CLOCK_MONOTONIC, a space, the state.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>
#include <time.h>

static int heard(sd_bus_message *signal, void *data, sd_bus_error *error) {
    struct timespec now;
    const char *state;

    (void)data, (void)error;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (sd_bus_message_read(signal, "s", &state) >= 0)
        printf("%" PRId64 " %s\n", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, state);
    fflush(stdout);
    return 0;
}

int main(void) {
    sd_bus *bus;

    if (sd_bus_open_user(&bus) < 0 ||
        sd_bus_match_signal(bus, NULL, "org.antidrift.Session", "/org/antidrift/Session", "org.antidrift.Session",
                            "StateChanged", heard, NULL) < 0)
        return EXIT_FAILURE;
    puts("ready");
    fflush(stdout);
    for (;;) {
        int done = sd_bus_process(bus, NULL);
        if (done < 0)
            return EXIT_FAILURE;
        if (done == 0)
            sd_bus_wait(bus, UINT64_MAX);
    }
}
