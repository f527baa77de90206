"""`antidriftd`: the service, until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import tempfile
from pathlib import Path

from antidrift import __version__


def main(argv: list[str] | None = None) -> int:
    """Runs the service, or replays a trace.

    0: it was told to stop, or has replayed. 1: there is no bus, it is gone, another instance runs, or a file cannot be
    used.
    """
    parser = argparse.ArgumentParser(
        prog="antidriftd",
        description="The AntiDrift service on the session bus. See antidrift(1) for the command line.",
    )
    parser.add_argument("--verbose", action="store_true", help="log every step (never titles, plans or answers)")
    parser.add_argument(
        "--record",
        metavar="FILE",
        type=Path,
        help="write down what happens, with all words replaced by others, into a new file for a bug report",
    )
    parser.add_argument(
        "--replay",
        metavar="TRACE",
        type=Path,
        help="instead of serving, play such a file and print what came of it; touches no bus and none of your files",
    )
    parser.add_argument(
        "--into", metavar="FOLDER", type=Path, help="keep the files that a replay writes in this new or empty folder"
    )
    parser.add_argument("--version", action="version", version=f"antidriftd {__version__}")
    arguments = parser.parse_args(argv)
    if arguments.into is not None and arguments.replay is None:
        parser.error("--into is for --replay")
    if arguments.record is not None and arguments.replay is not None:
        parser.error("--record is for a live session, not for --replay")
    usual = logging.INFO if arguments.replay is None else logging.WARNING
    logging.basicConfig(
        level=logging.DEBUG if arguments.verbose else usual,
        format="antidriftd: %(levelname)s: %(message)s",
        stream=sys.stderr,
    )
    if arguments.replay is not None:
        return _replay(arguments.replay, arguments.into)
    return asyncio.run(_serve(arguments.record))


async def _serve(record: Path | None) -> int:
    from antidrift.app import serve
    from antidrift.bus.connection import BusLost, NameTaken, NoSessionBus
    from antidrift.ports import PortError

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(signum, stop.set)
    try:
        await serve(os.environ, stop, record)
    except (NoSessionBus, BusLost, NameTaken, PortError) as error:
        logging.getLogger(__name__).error("%s", error)
        return 1
    return 0


def _replay(trace: Path, folder: Path | None) -> int:
    from antidrift.replay import CannotReplay, play, text
    from antidrift.trace import BadTrace, read

    try:
        with tempfile.TemporaryDirectory(prefix="antidrift-replay-") as temporary:
            print(text(play(read(trace), folder or Path(temporary))), end="")
    except (BadTrace, CannotReplay) as error:
        logging.getLogger(__name__).error("%s", error)
        return 1
    except OSError as error:
        logging.getLogger(__name__).error("%s: %s", error.filename, error.strerror)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
