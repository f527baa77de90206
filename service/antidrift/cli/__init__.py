"""`antidrift`: the command line, a client of the service.

    arguments.py   what can be said
    session.py     the commands that talk to the service once
    watch.py       the one that goes on listening
    audit.py       the chain of ended sessions; needs no service
    sent.py        what was sent to an AI; needs no service
    explain.py     what would be sent about the window in focus
    doctor.py      what is found here, and what to do about it
    completion.py  for shells
    render.py      the state as lines; text.py, terminal.py, output.py below it
    failures.py    what goes wrong, and the exit status

A command imports what it needs when it is run, since a status line may ask once a second.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys

from antidrift.cli.arguments import arguments_of
from antidrift.cli.output import Output


def main(argv: list[str] | None = None) -> int:
    """Runs one command and returns its exit status: see `antidrift --help`."""
    # The libraries of the service tell its log what they see; here their results are printed instead.
    logging.getLogger("antidrift").addHandler(logging.NullHandler())
    arguments = arguments_of(sys.argv[1:] if argv is None else argv)
    out = Output.standard(os.environ)
    try:
        return _run(arguments, out)
    except KeyboardInterrupt:
        return 0 if arguments.command == "watch" else 130
    except BrokenPipeError:
        # `| head` has seen enough. Nothing may be left to be written when the interpreter flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: argparse.Namespace, out: Output) -> int:
    match arguments.command:
        case "audit":
            from antidrift.cli import audit

            return audit.run(arguments, out)
        case "ai" if arguments.answer == "sent":
            from antidrift.cli import sent

            return sent.run(arguments, out)
        case "completion":
            from antidrift.cli import completion

            return completion.run(arguments, out)
        case _:
            return _run_on_bus(arguments, out)


def _run_on_bus(arguments: argparse.Namespace, out: Output) -> int:
    import asyncio

    from antidrift.cli import failures, session
    from antidrift.cli.text import clean

    try:
        match arguments.command:
            case "doctor":
                from antidrift.cli import doctor

                return asyncio.run(doctor.run(arguments, out))
            case "explain":
                from antidrift.cli import explain

                return asyncio.run(explain.run(arguments, out))
            case "watch":
                from antidrift.cli import watch

                return asyncio.run(watch.run(arguments, out))
            case _:
                return asyncio.run(session.run(arguments, out))
    except session.Incomplete as missing:
        out.complain(str(missing))
        return failures.USAGE
    except session.Unsuccessful as reason:
        out.complain(str(reason))
        return failures.REFUSED
    except failures.FAILURES as failure:
        sentence, status = failures.explained(failure)
        out.complain(clean(sentence))
        return status
