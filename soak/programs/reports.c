/* Reports two windows in turns, an allowed one and another, so that each report changes what front ends must show.
 *
 *     reports NAME COUNT        NAME is a bus name that the config file allows to report
 *
 * It ends when all reports are answered.
 */
#include "client.h"

enum { IN_FLIGHT = 16 };

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
    int count = argc == 3 ? atoi(argv[2]) : 0;

    must(sd_bus_request_name(bus, argv[1], 0), argv[1]);
    for (int i = 0; i < count; i++) {
        must(sd_bus_call_method_async(bus, NULL, SERVICE, OBJECT, SERVICE, "ReportFocus", answered, NULL, "a{sv}", 2,
                                      "class", "s", i % 2 ? "viewer" : "editor", "title", "s", "report.txt"),
             "reporting");
        for (waiting++; waiting >= IN_FLIGHT;)
            attend(bus);
    }
    while (waiting > 0)
        attend(bus);
    sd_bus_flush_close_unref(bus);
    return EXIT_SUCCESS;
}
