/* Calls the service many times: GetState, and commands that are not possible while a session is active.
 *
 *     soak CALLS
 *
 * Says how many calls were answered, how many refused, and how many of the refusals were for their number.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

enum {
    IN_FLIGHT = 8,
    PER_CONNECTION = 60, /* a script is a new connection for every call or so; and each may ask for 30 changes at once */
};

static const char *const members[] = {"GetState", "EnterPlanning", "GetState", "End", "GetState", "CancelPlanning"};
static int waiting, answered, refused, limited;

static int done(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    waiting--;
    if (!sd_bus_message_is_method_error(reply, NULL))
        answered++;
    else if (sd_bus_message_is_method_error(reply, "org.antidrift.Error.RateLimited"))
        limited++;
    else if (sd_bus_message_is_method_error(reply, "org.antidrift.Error.IllegalTransition") ||
             sd_bus_message_is_method_error(reply, "org.antidrift.Error.NotPlanning"))
        refused++;
    else {
        fprintf(stderr, "%s\n", sd_bus_message_get_error(reply)->message);
        exit(EXIT_FAILURE);
    }
    return 0;
}

static void work(sd_bus *bus) {
    int handled = sd_bus_process(bus, NULL);
    if (handled < 0)
        exit(EXIT_FAILURE);
    if (handled == 0)
        sd_bus_wait(bus, UINT64_MAX);
}

int main(int argc, char **argv) {
    int calls = argc == 2 ? atoi(argv[1]) : 0;

    for (int sent = 0; sent < calls;) {
        sd_bus *bus;
        if (sd_bus_open_user(&bus) < 0)
            return EXIT_FAILURE;
        for (int here = 0; here < PER_CONNECTION && sent < calls; here++, sent++) {
            const char *member = members[sent % (sizeof members / sizeof *members)];
            if (sd_bus_call_method_async(bus, NULL, "org.antidrift.Session", "/org/antidrift/Session",
                                         "org.antidrift.Session", member, done, NULL, NULL) < 0)
                return EXIT_FAILURE;
            for (waiting++; waiting >= IN_FLIGHT;)
                work(bus);
        }
        while (waiting > 0)
            work(bus);
        sd_bus_flush_close_unref(bus);
    }
    printf("%d %d %d\n", answered, refused, limited);
    return EXIT_SUCCESS;
}
