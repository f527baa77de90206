/* Sends many calls of GetState before it reads any answer.
 *
 *     burst CONNECTIONS CALLS        CALLS from each connection
 *
 * It says "sent" when the last call has left, then reads, and says how many answers came, and how many of them not in
 * the order of their calls.
 */
#include "client.h"

static int answers, out_of_order, next;

static int answered(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)error;
    if (sd_bus_message_is_method_error(reply, NULL))
        must(-EIO, sd_bus_message_get_error(reply)->name);
    answers++;
    out_of_order += (int)(intptr_t)data != next;
    next = (int)(intptr_t)data + 1;
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return EXIT_FAILURE;
    int connections = atoi(argv[1]), calls = atoi(argv[2]);
    sd_bus **buses = calloc(connections, sizeof *buses);

    for (int i = 0; i < connections; i++)
        buses[i] = on_the_bus();
    for (int i = 0; i < connections; i++)
        for (int n = 0; n < calls; n++) {
            sd_bus_message *call;
            must(sd_bus_message_new_method_call(buses[i], &call, SERVICE, OBJECT, SERVICE, "GetState"), "a call");
            must(sd_bus_call_async(buses[i], NULL, call, answered, (void *)(intptr_t)n, PATIENCE_US), "calling");
            sd_bus_message_unref(call);
        }
    for (int i = 0; i < connections; i++)
        must(sd_bus_flush(buses[i]), "sending");
    say("sent");
    for (int i = 0; i < connections; i++) {
        next = 0;
        for (int due = answers + calls; answers < due;)
            attend(buses[i]);
        sd_bus_flush_close_unref(buses[i]);
    }
    printf("%d %d\n", answers, out_of_order);
    free(buses);
    return EXIT_SUCCESS;
}
