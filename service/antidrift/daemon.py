"""`antidriftd`: the service, until it is told to stop."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys

from antidrift import __version__


def main(argv: list[str] | None = None) -> int:
    """Runs the service. 0: it was told to stop; 1: there is no bus, it is gone, or another instance runs."""
    parser = argparse.ArgumentParser(
        prog="antidriftd",
        description="The AntiDrift service on the session bus. See antidrift(1) for the command line.",
    )
    parser.add_argument("--verbose", action="store_true", help="log every step (never titles, plans or answers)")
    parser.add_argument("--version", action="version", version=f"antidriftd {__version__}")
    arguments = parser.parse_args(argv)
    logging.basicConfig(
        level=logging.DEBUG if arguments.verbose else logging.INFO,
        format="antidriftd: %(levelname)s: %(message)s",
        stream=sys.stderr,
    )
    return asyncio.run(_serve())


async def _serve() -> int:
    from antidrift.app import serve
    from antidrift.bus.connection import BusLost, NameTaken, NoSessionBus
    from antidrift.ports import StoreError

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(signum, stop.set)
    try:
        await serve(os.environ, stop)
    except (NoSessionBus, BusLost, NameTaken, StoreError) as error:
        logging.getLogger(__name__).error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
