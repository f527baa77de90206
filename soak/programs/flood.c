/* Asks for the state as fast as it can, until it is ended.
 *
 *     flood OUTSTANDING        how many calls wait for their answer at any moment
 *
 * It says "ready" when that many have been sent.
 */
#include "client.h"

static int waiting;

static int answered(sd_bus_message *reply, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    if (sd_bus_message_is_method_error(reply, NULL))
        must(-EIO, sd_bus_message_get_error(reply)->name);
    waiting--;
    return 0;
}

int main(int argc, char **argv) {
    sd_bus *bus = on_the_bus();
    int outstanding = argc == 2 ? atoi(argv[1]) : 0;
    bool ready = false;

    for (;;) {
        for (; waiting < outstanding; waiting++) {
            sd_bus_message *call;
            must(sd_bus_message_new_method_call(bus, &call, SERVICE, OBJECT, SERVICE, "GetState"), "a call");
            must(sd_bus_call_async(bus, NULL, call, answered, NULL, PATIENCE_US), "calling");
            sd_bus_message_unref(call);
        }
        if (!ready) {
            must(sd_bus_flush(bus), "sending");
            say("ready");
            ready = true;
        }
        attend(bus);
    }
}
