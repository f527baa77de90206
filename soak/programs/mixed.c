/* One client that calls the service in every way, right and wrong, each time when it has its answer to the last call.
 *
 *     mixed CALLS SEED all|harmless [NAME]
 *
 * "harmless" leaves out what changes the session. NAME is a bus name to take, so that the config file can allow the
 * owner to report windows. It says "ready", then for each kind of answer one line, its name and how often it came: "ok",
 * the name of an error, "twice" for an answer to nothing, "unexpected ..." for one that the call may not have. Then
 * "took", and for each call the microseconds until its answer.
 */
#include "client.h"

enum { KINDS_OF_ANSWER = 100, ODD_FIELDS = 24, HUGE = 1 << 20, LONG = 1 << 14 };

struct kind {
    int weight; /* how many of 1,000 calls */
    const char *path, *interface, *member;
    int (*fill)(sd_bus_message *call); /* NULL: no arguments */
    const char *answers;               /* those that are right in some state, between spaces */
    bool changes;                      /* the session, if it may */
};

#define ARGUMENTS(name, ...)                                                                                           \
    static int name(sd_bus_message *call) { return sd_bus_message_append(call, __VA_ARGS__); }
#define I64(value) (int64_t)(value)

static char huge[HUGE + 1], lengthy[LONG + 1];

ARGUMENTS(five, "u", 5)
ARGUMENTS(fifty_one, "u", 51)
ARGUMENTS(no_number, "s", "five")
ARGUMENTS(yes, "b", 1)
ARGUMENTS(no, "b", 0)
ARGUMENTS(minute, "x", I64(60))
ARGUMENTS(most, "x", INT64_MAX)
ARGUMENTS(least, "x", INT64_MIN)
ARGUMENTS(plan, "ssxas", "Write the report", "Two pages are there", I64(600), 2, "editor", "terminal")
ARGUMENTS(plan_of_nothing, "ssxas", " ", "Two pages are there", I64(600), 0)
ARGUMENTS(plan_without_time, "ssxas", "Write the report", "Two pages are there", I64(0), 0)
ARGUMENTS(plan_without_end, "ssxas", "Write the report", "Two pages are there", INT64_MAX, 0)
ARGUMENTS(plan_as_text, "ssss", "Write the report", "Two pages are there", "600", "editor")
ARGUMENTS(plan_of_great_length, "ssxas", lengthy, "Two pages are there", I64(600), 0)
ARGUMENTS(intent, "s", "write something about last week")
ARGUMENTS(intent_with_controls, "s", "\x01\x1b[31mred\x7f\xe2\x80\xae \xc2\x85\r\n\t")
ARGUMENTS(intent_of_huge_length, "s", huge)
ARGUMENTS(window, "a{sv}", 4, "class", "s", "editor", "title", "s", "report.txt", "pid", "u", 1, "new", "as", 1, "x")
ARGUMENTS(window_with_controls, "a{sv}", 2, "class", "s", "editor", "title", "s", "\x1b]0;a\x07 title\r\n\xe2\x80\xae")
ARGUMENTS(window_of_wrong_type, "a{sv}", 2, "class", "u", 7, "title", "s", "report.txt")
ARGUMENTS(window_of_great_length, "a{sv}", 1, "title", "s", lengthy)
ARGUMENTS(window_of_text, "a{ss}", 1, "class", "editor")
ARGUMENTS(no_window, "a{sv}", 0)
ARGUMENTS(end_of_reports, "a{sv}", 1, "reporting", "b", 0)
ARGUMENTS(of_service, "s", SERVICE)
ARGUMENTS(of_nobody, "s", "org.example.Nobody")
ARGUMENTS(phase, "ss", SERVICE, "RuntimeState")
ARGUMENTS(nothing_there, "ss", SERVICE, "Nothing")
ARGUMENTS(another_phase, "ssv", SERVICE, "RuntimeState", "s", "active")

/* A variant of a type that nobody has sent before, nor will again. */
static int odd_value(sd_bus_message *call) {
    static const char basic[] = "ybnqiuxtd";
    static const double zero = 0;
    char type[ODD_FIELDS + 3] = "(";
    int result;

    for (int i = 1; i <= ODD_FIELDS; i++)
        type[i] = basic[random() % (sizeof basic - 1)];
    type[ODD_FIELDS + 1] = ')';
    if ((result = sd_bus_message_open_container(call, 'a', "{sv}")) < 0 ||
        (result = sd_bus_message_open_container(call, 'e', "sv")) < 0 ||
        (result = sd_bus_message_append(call, "s", "odd")) < 0 ||
        (result = sd_bus_message_open_container(call, 'v', type)) < 0)
        return result;
    type[ODD_FIELDS + 1] = '\0';
    if ((result = sd_bus_message_open_container(call, 'r', type + 1)) < 0)
        return result;
    for (int i = 1; i <= ODD_FIELDS; i++)
        if ((result = sd_bus_message_append_basic(call, type[i], &zero)) < 0)
            return result;
    for (int open = 0; open < 4; open++)
        if ((result = sd_bus_message_close_container(call)) < 0)
            return result;
    return 0;
}

#define PROPERTIES "org.freedesktop.DBus.Properties"
#define DBUS "org.freedesktop.DBus.Error."
#define UNKNOWN " " DBUS "UnknownMethod "
#define MAY_CHANGE " ok IllegalTransition RateLimited "
#define MAY_REPORT " ok AccessDenied "
#define MISREPORT " InvalidArgument AccessDenied "

static const struct kind kinds[] = {
    /* reads */
    {250, OBJECT, SERVICE, "GetState", NULL, " ok ", false},
    {60, OBJECT, PROPERTIES, "Get", phase, " ok ", false},
    {30, OBJECT, PROPERTIES, "GetAll", of_service, " ok ", false},
    {30, OBJECT, "org.freedesktop.DBus.Introspectable", "Introspect", NULL, " ok ", false},
    {20, OBJECT, "org.freedesktop.DBus.Peer", "Ping", NULL, " ok ", false},
    {40, OBJECT, SERVICE, "GetRecentSessions", five, " ok ", false},
    /* commands, in the right state or not */
    {50, OBJECT, SERVICE, "EnterPlanning", NULL, MAY_CHANGE, true},
    {50, OBJECT, SERVICE, "StartCommitment", plan, MAY_CHANGE, true},
    {10, OBJECT, SERVICE, "CancelPlanning", NULL, MAY_CHANGE, true},
    {20, OBJECT, SERVICE, "RequestCoach", intent, " ok NotPlanning RateLimited ", true},
    {20, OBJECT, SERVICE, "OnTask", NULL, " ok NotActive NothingToJudge RateLimited ", true},
    {20, OBJECT, SERVICE, "Refocus", NULL, " ok NotActive RateLimited ", true},
    {20, OBJECT, SERVICE, "Extend", minute, " ok NotActive InvalidArgument RateLimited ", true},
    {30, OBJECT, SERVICE, "Complete", NULL, MAY_CHANGE, true},
    {30, OBJECT, SERVICE, "End", NULL, MAY_CHANGE, true},
    {10, OBJECT, SERVICE, "AllowAI", yes, " ok RateLimited ", true},
    {10, OBJECT, SERVICE, "AllowAI", no, " ok RateLimited ", true},
    /* out of bounds, blank, too long */
    {20, OBJECT, SERVICE, "GetRecentSessions", fifty_one, " InvalidArgument ", false},
    {20, OBJECT, SERVICE, "Extend", most, " NotActive InvalidArgument RateLimited ", false},
    {20, OBJECT, SERVICE, "Extend", least, " NotActive InvalidArgument RateLimited ", false},
    {10, OBJECT, SERVICE, "StartCommitment", plan_of_nothing, " IllegalTransition InvalidCommitment RateLimited ", false},
    {10, OBJECT, SERVICE, "StartCommitment", plan_without_time, " IllegalTransition InvalidCommitment RateLimited ",
     false},
    {10, OBJECT, SERVICE, "StartCommitment", plan_without_end, " IllegalTransition InvalidCommitment RateLimited ",
     false},
    {10, OBJECT, SERVICE, "StartCommitment", plan_of_great_length,
     " IllegalTransition InvalidCommitment RateLimited ", false},
    {1, OBJECT, SERVICE, "RequestCoach", intent_of_huge_length, " NotPlanning InvalidArgument RateLimited ", false},
    /* control characters */
    {10, OBJECT, SERVICE, "RequestCoach", intent_with_controls, " ok NotPlanning InvalidArgument RateLimited ", true},
    {10, OBJECT, SERVICE, "ReportFocus", window_with_controls, MAY_REPORT, false},
    /* reports, by whom they are allowed to and by strangers */
    {40, OBJECT, SERVICE, "ReportFocus", window, MAY_REPORT, false},
    {10, OBJECT, SERVICE, "ReportFocus", no_window, MAY_REPORT, false},
    {5, OBJECT, SERVICE, "ReportFocus", end_of_reports, MAY_REPORT, false},
    {10, OBJECT, SERVICE, "ReportFocus", window_of_wrong_type, MISREPORT, false},
    {10, OBJECT, SERVICE, "ReportFocus", window_of_great_length, MISREPORT, false},
    {10, OBJECT, SERVICE, "ReportFocus", odd_value, MAY_REPORT, false},
    /* what is not there, or of another type */
    {20, OBJECT, SERVICE, "Nothing", NULL, UNKNOWN, false},
    {10, OBJECT, SERVICE, "getState", odd_value, UNKNOWN, false},
    {10, OBJECT, SERVICE, "GetState", no_number, UNKNOWN, false},
    {10, OBJECT, SERVICE, "GetRecentSessions", no_number, UNKNOWN, false},
    {10, OBJECT, SERVICE, "StartCommitment", plan_as_text, UNKNOWN, false},
    {10, OBJECT, SERVICE, "ReportFocus", window_of_text, UNKNOWN, false},
    {10, OBJECT, "org.example.Nobody", "GetState", NULL, UNKNOWN, false},
    {10, "/", SERVICE, "GetState", NULL, UNKNOWN, false},
    {10, OBJECT "/below", SERVICE, "GetState", NULL, UNKNOWN, false},
    {10, OBJECT, PROPERTIES, "Get", nothing_there, " " DBUS "UnknownProperty ", false},
    {10, OBJECT, PROPERTIES, "GetAll", of_nobody, " " DBUS "UnknownInterface ", false},
    {10, OBJECT, PROPERTIES, "Set", another_phase, " " DBUS "PropertyReadOnly ", false},
    {4, OBJECT, PROPERTIES, "Get", no_number, UNKNOWN, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct {
    char name[300];
    long times;
} heard[KINDS_OF_ANSWER];

static const struct kind *asked; /* NULL: nobody waits for an answer */

static void count(const char *name) {
    int i = 0;
    while (heard[i].times > 0 && strcmp(heard[i].name, name) != 0)
        if (++i == KINDS_OF_ANSWER)
            must(-E2BIG, "too many kinds of answer");
    snprintf(heard[i].name, sizeof heard[i].name, "%s", name);
    heard[i].times++;
}

static int answered(sd_bus_message *reply, void *data, sd_bus_error *error) {
    const sd_bus_error *refusal = sd_bus_message_get_error(reply);
    const char *name = refusal ? refusal->name : "ok", *ours = "org.antidrift.Error.";
    char among[300], text[300];

    (void)data, (void)error;
    if (strncmp(name, ours, strlen(ours)) == 0)
        name += strlen(ours);
    snprintf(among, sizeof among, " %s ", name);
    if (strstr(asked->answers, among))
        count(name);
    else {
        snprintf(text, sizeof text, "unexpected %s to %s: %.150s", name, asked->member, refusal ? refusal->message : "");
        count(text);
    }
    asked = NULL;
    return 1;
}

/* Sees what `answered` has not taken. */
static int pass_by(sd_bus_message *message, void *data, sd_bus_error *error) {
    uint8_t type;
    (void)data, (void)error;
    if (sd_bus_message_get_type(message, &type) >= 0 &&
        (type == SD_BUS_MESSAGE_METHOD_RETURN || type == SD_BUS_MESSAGE_METHOD_ERROR))
        count("twice");
    return 0;
}

static const struct kind *any(bool harmless) {
    int total = 0, chosen;
    for (int i = 0; i < KINDS; i++)
        total += kinds[i].weight;
    for (;;) {
        chosen = random() % total;
        const struct kind *kind = kinds;
        while (chosen >= kind->weight)
            chosen -= kind++->weight;
        if (!harmless || !kind->changes)
            return kind;
    }
}

static void ask(sd_bus *bus, const struct kind *kind) {
    sd_bus_message *call;
    must(sd_bus_message_new_method_call(bus, &call, SERVICE, kind->path, kind->interface, kind->member), "a call");
    if (kind->fill)
        must(kind->fill(call), kind->member);
    asked = kind;
    must(sd_bus_call_async(bus, NULL, call, answered, NULL, PATIENCE_US), "calling");
    sd_bus_message_unref(call);
}

int main(int argc, char **argv) {
    sd_bus *bus;

    if (argc < 4)
        return EXIT_FAILURE;
    int calls = atoi(argv[1]);
    bool harmless = strcmp(argv[3], "harmless") == 0;
    uint32_t *took = calloc(calls, sizeof *took);
    srandom(atoi(argv[2]));
    memset(huge, 'x', HUGE);
    memset(lengthy, 'x', LONG);
    bus = on_the_bus();
    must(sd_bus_add_filter(bus, NULL, pass_by, NULL), "the filter");
    if (argc > 4)
        must(sd_bus_request_name(bus, argv[4], 0), argv[4]);
    say("ready");
    for (int i = 0; i < calls; i++) {
        int64_t began = us_on(CLOCK_MONOTONIC);
        ask(bus, any(harmless));
        while (asked)
            attend(bus);
        took[i] = us_on(CLOCK_MONOTONIC) - began;
    }
    for (int i = 0; i < KINDS_OF_ANSWER && heard[i].times > 0; i++)
        printf("%ld %s\n", heard[i].times, heard[i].name);
    puts("took");
    for (int i = 0; i < calls; i++)
        printf("%" PRIu32 "\n", took[i]);
    sd_bus_flush_close_unref(bus);
    free(took);
    return EXIT_SUCCESS;
}
