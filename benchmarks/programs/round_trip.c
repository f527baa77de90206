/* Times blocking calls of GetState to several services, in turns.
 *
 *     round_trip ROUNDS CALLS BUS_NAME...
 *
 * For each round and service one line: the number of the service, and the median in microseconds. Each round begins with
 * another service, so that none always comes after the same one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>
#include <time.h>

enum { WARM_UP = 5 }; /* calls that are not counted: caches forget a service while it waits for its turn */

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double call_us(sd_bus *bus, const char *service) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    double began = now_us(), took;

    if (sd_bus_call_method(bus, service, "/org/antidrift/Session", "org.antidrift.Session", "GetState", &error, &reply,
                           NULL) < 0) {
        fprintf(stderr, "%s: %s\n", service, error.message);
        exit(EXIT_FAILURE);
    }
    took = now_us() - began;
    sd_bus_message_unref(reply);
    return took;
}

int main(int argc, char **argv) {
    sd_bus *bus;

    if (argc < 4 || sd_bus_open_user(&bus) < 0)
        return EXIT_FAILURE;
    int rounds = atoi(argv[1]), calls = atoi(argv[2]), services = argc - 3;
    double *took = malloc(calls * sizeof *took);
    for (int round = 0; round < rounds; round++)
        for (int turn = 0; turn < services; turn++) {
            int service = (round + turn) % services;
            for (int i = -WARM_UP; i < calls; i++) {
                double us = call_us(bus, argv[3 + service]);
                if (i >= 0)
                    took[i] = us;
            }
            qsort(took, calls, sizeof *took, ascending);
            printf("%d %.2f\n", service, took[calls / 2]);
        }
    free(took);
    sd_bus_flush_close_unref(bus);
    return EXIT_SUCCESS;
}
