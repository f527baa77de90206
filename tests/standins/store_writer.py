"""A process that only writes the store, to be killed; and the records that it writes.

For each order on standard input, one JSON object a line, it forks a writer, so that two hundred of them cost no two
hundred starts of Python. A writer says what it has been told, after it has been told: what stands on standard output
must be on disk, whatever happens next.

    {"folder": "/…", "first": 1, "file_limit": null}

    pid 4711            the writer lives
    appended 1          append() has returned for session 1
    saved 1             save() has returned
    refused disk_full   one of them has raised StoreError
    gone                the writer is dead
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from pathlib import Path

from antidrift.domain.model import Bucket, Consent, FetchStatus, Instant, Key, Outcome, Phase, SessionSummary
from antidrift.domain.session import Commitment, SavedSession
from antidrift.ports import StoreError
from antidrift.store import FileStore

MOST_SESSIONS = 2000  # an orphan stops by itself
MOST_REFUSALS = 5


def a_summary(n: int, title: str = "Bericht – “Entwurf” · Editor") -> SessionSummary:
    """The summary of the n-th session."""
    return SessionSummary(
        session_id=f"session-{n:06}",
        next_action="Write the report",
        success_condition="It is sent",
        outcome=Outcome.COMPLETED,
        timebox_secs=1500,
        started_at_ms=1_700_000_000_000 + n,
        ended_at_ms=1_700_001_500_000 + n,
        active_secs=1400,
        away_secs=100,
        switch_count=n,
        buckets=(Bucket("org.gnome.TextEditor", title, 1300.25), Bucket("(none)", "", 99.75)),
    )


def a_saved(n: int) -> SavedSession:
    """The state after the n-th session."""
    return SavedSession(
        saved=Instant(1000.5 + n, 1_700_001_500_000 + n),
        boot_id="6b1f9a52-6a3c-4f0e-9d47-0c8a9be0a001",
        phase=Phase.REVIEW,
        consent=Consent.GIVEN,
        commitment=Commitment(
            id=f"session-{n:06}",
            next_action="Write the report",
            success_condition="It is sent",
            timebox_secs=1500,
            started=Instant(1000.25, 1_700_000_000_000 + n),
            deadline=2500.25,
            allowed_window_classes=("org.gnome.texteditor",),
            allowed_sites=("example.org",),
            allowed_keys=(Key("firefox", "report"),),
        ),
        outcome=Outcome.EXPIRED,
        ended=Instant(2500.25, 1_700_001_500_000 + n),
        buckets=(Bucket("org.gnome.TextEditor", "Bericht", 1300.25),),
        away_secs=100.0,
        switch_count=n,
        reflection_status=FetchStatus.READY,
        recap="Steady.",
        carry_forward="Start with the title.",
    )


def say(text: str) -> None:
    """One line, by one write(2): all of it arrives, or nothing."""
    os.write(1, f"{text}\n".encode())


def write_sessions(folder: Path, first: int, file_limit: int | None) -> None:
    """Ends one session after another, as fast as the disk allows."""
    if file_limit is not None:
        # Python ignores SIGXFSZ, so a write beyond the limit fails with EFBIG.
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    say(f"pid {os.getpid()}")
    store = FileStore(folder)
    store.load()
    refusals = 0
    for n in range(first, first + MOST_SESSIONS):
        try:
            store.append(a_summary(n))
            say(f"appended {n}")
            store.save(a_saved(n))
            say(f"saved {n}")
        except StoreError as error:
            say(f"refused {error.fault.code}")
            refusals += 1
            if refusals == MOST_REFUSALS:
                return


def live_once(folder: Path) -> None:
    """Writes and reads everything there is to write and read."""
    for _ in range(2):
        store = FileStore(folder)
        store.load()
        store.append(a_summary(1))
        store.save(a_saved(1))
        store.close()


def main() -> None:
    """Serves orders until standard input ends."""
    with tempfile.TemporaryDirectory() as rehearsal:
        live_once(Path(rehearsal))  # what is imported when first needed is imported now, once for all writers
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            write_sessions(Path(order["folder"]), order["first"], order["file_limit"])
            os._exit(0)
        os.waitpid(pid, 0)
        say("gone")


if __name__ == "__main__":
    main()
