"""A watcher of the focused window as many are: it looks once a second.

It says "ready", then for each change that it sees one line: nanoseconds on CLOCK_MONOTONIC, a space, the title.
"""

from __future__ import annotations

import time

from Xlib import X
from Xlib.display import Display

PERIOD_SECS = 1.0


def main() -> None:
    display = Display()
    root = display.screen().root
    active, name = display.intern_atom("_NET_ACTIVE_WINDOW"), display.intern_atom("_NET_WM_NAME")
    print("ready", flush=True)
    last = ""
    while True:
        found = root.get_full_property(active, X.AnyPropertyType)
        if found and found.value[0]:
            window = display.create_resource_object("window", found.value[0])
            title = window.get_full_property(name, X.AnyPropertyType).value.decode()
            if title != last:
                print(time.clock_gettime_ns(time.CLOCK_MONOTONIC), title, flush=True)
            last = title
        time.sleep(PERIOD_SECS)


if __name__ == "__main__":
    main()
