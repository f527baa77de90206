/* Lets many short sessions run out, and says for each how late the review was announced.
 *
 *     deadlines SESSIONS        of 1, 2 and 3 seconds in turns
 *
 * One line for each: microseconds on the boot-time clock from the deadline, as the state had it when the session began,
 * until the signal was here.
 */
#include "client.h"

static int64_t deadline, late; /* microseconds since boot; since the deadline, of the session that ran out */
static bool over;

static int heard(sd_bus_message *signal, void *data, sd_bus_error *error) {
    int64_t now = us_on(CLOCK_BOOTTIME);
    const char *state, *found, *key = "\"deadline_ms\":";

    (void)data, (void)error;
    must(sd_bus_message_read(signal, "s", &state), "a state");
    if (deadline == 0 && strstr(state, "\"runtime_state\":\"active\"") && (found = strstr(state, key)))
        deadline = strtoll(found + strlen(key), NULL, 10) * 1000 + now - us_on(CLOCK_REALTIME);
    if (!over && strstr(state, "\"runtime_state\":\"review\"")) {
        late = now - deadline;
        over = true;
    }
    return 0;
}

static void command(sd_bus *bus, const char *member, int64_t secs) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *call;

    must(sd_bus_message_new_method_call(bus, &call, SERVICE, OBJECT, SERVICE, member), "a call");
    if (secs)
        must(sd_bus_message_append(call, "ssxas", "Write", "It is there", secs, 0), "arguments");
    if (sd_bus_call(bus, call, PATIENCE_US, &error, NULL) < 0) {
        fprintf(stderr, "%s: %s\n", member, error.message);
        exit(EXIT_FAILURE);
    }
    sd_bus_message_unref(call);
}

int main(int argc, char **argv) {
    sd_bus *bus = on_the_bus();
    int sessions = argc == 2 ? atoi(argv[1]) : 0;

    must(sd_bus_match_signal(bus, NULL, SERVICE, OBJECT, SERVICE, "StateChanged", heard, NULL), "listening");
    for (int i = 0; i < sessions; i++) {
        command(bus, "EnterPlanning", 0);
        deadline = 0;
        over = false;
        command(bus, "StartCommitment", 1 + i % 3);
        while (!over)
            attend(bus);
        printf("%" PRId64 "\n", late);
        command(bus, "End", 0);
    }
    sd_bus_flush_close_unref(bus);
    return EXIT_SUCCESS;
}
