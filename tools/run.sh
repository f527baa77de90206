#!/bin/sh
# Runs the service in the foreground: on the session bus where there is one, else on a private bus that ends with it.
set -eu
cd "$(dirname "$0")/.."

if [ -n "${DBUS_SESSION_BUS_ADDRESS:-}" ] || [ -S "${XDG_RUNTIME_DIR:-}/bus" ]; then
    exec .venv/bin/antidriftd "$@"
fi

# The bus and the service each get a session of their own, so that a Ctrl-C reaches neither: the service is asked to stop,
# once, while the bus that it says goodbye on still lives.
started=$(dbus-daemon --session --fork --print-address=1 --print-pid=1)
DBUS_SESSION_BUS_ADDRESS=$(echo "$started" | sed -n 1p)
export DBUS_SESSION_BUS_ADDRESS
bus=$(echo "$started" | sed -n 2p)

cat <<END
There is no session bus here, so this is a private one. In another terminal:

    export DBUS_SESSION_BUS_ADDRESS='$DBUS_SESSION_BUS_ADDRESS'

END

setsid .venv/bin/antidriftd "$@" &
service=$!
trap 'trap "" INT TERM HUP; kill "$service"' INT TERM HUP
status=0
wait "$service" || status=$?
if kill -0 "$service" 2>/dev/null; then # a signal ended the wait, not the service
    status=0
    wait "$service" || status=$?
fi
kill "$bus" 2>/dev/null || :
exit "$status"
