/* The floor of a round trip: a service that answers GetState with a constant string, and does nothing else.
 *
 *     floor BUS_NAME FILE        FILE holds the string
 *
 * It says "ready" on standard output when it owns its name.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

static char answer[1 << 20];

static int get_state(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    return sd_bus_reply_method_return(call, "s", answer);
}

static const sd_bus_vtable members[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("GetState", "", "s", get_state, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

int main(int argc, char **argv) {
    FILE *file;
    sd_bus *bus;

    if (argc != 3 || !(file = fopen(argv[2], "r")))
        return EXIT_FAILURE;
    answer[fread(answer, 1, sizeof answer - 1, file)] = '\0';
    fclose(file);
    if (sd_bus_open_user(&bus) < 0 ||
        sd_bus_add_object_vtable(bus, NULL, "/org/antidrift/Session", "org.antidrift.Session", members, NULL) < 0 ||
        sd_bus_request_name(bus, argv[1], 0) < 0)
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
