"""What can be said on the command line."""

from __future__ import annotations

import argparse
import re
from typing import Any

from antidrift import __version__
from antidrift.domain import limits

EXIT_STATUS = """\
exit status:
  0    fine
  1    refused by the service, or something is wrong: the audit chain is broken,
       the coach has no proposal, doctor found a fault that stops the work
  2    the command line is not understood, or something is missing on it
  3    the service does not run or does not answer, or there is no session bus
  130  interrupted with Ctrl-C

status, watch, audit, doctor, explain, "ai status" and "ai sent" never start the
service; the other commands do, where its D-Bus activation is installed.
"""

_MOST_MINUTES = limits.TIMEBOX_MAX_SECS // 60
_TIMEBOX = re.compile(r"(?:(?P<h>\d{1,4})h)?(?:(?P<m>\d{1,6})m(?:in)?)?(?:(?P<s>\d{1,6})s)?")


def arguments_of(argv: list[str]) -> argparse.Namespace:
    """The arguments as values; `command` is the name of the command. Exits after help, and with 2 after a complaint."""
    parser = make_parser()
    if not argv:
        parser.print_help()
        parser.exit(2)
    arguments = parser.parse_args(argv)
    if isinstance(getattr(arguments, "text", None), list):
        arguments.text = " ".join(arguments.text).strip()
    return arguments


def make_parser() -> argparse.ArgumentParser:
    """The parser, from which the completions of shells are made too."""
    parser = argparse.ArgumentParser(
        prog="antidrift",
        description="One commitment, one timebox, and a soft word when you drift: the command line of AntiDrift.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"antidrift {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)

    def add(name: str, summary: str, more: str = "") -> argparse.ArgumentParser:
        return _command(commands, name, summary, more)

    _json(add("status", "show the session, the time that is left, and where it went"), "the state of the service")
    _json(
        add(
            "watch",
            "show the session as it changes, until Ctrl-C",
            "On a terminal the time runs in place; elsewhere there is a line for each change. It waits for a service "
            "that is not there, and goes on when it comes back.",
        ),
        "each state",
    )
    add("plan", "enter planning; show today's tasks and last time's takeaway")
    sharpen = add(
        "sharpen",
        "have the coach turn a rough intent into a plan",
        "The words are sent to the AI program that is configured. `antidrift start` takes what it proposes.",
    )
    sharpen.add_argument("text", metavar="TEXT", nargs="+", type=_text, help="what you roughly want to do")
    _start(add)
    extend = add("extend", "move the end of the running session", "`antidrift extend -5` shortens it.")
    later = "how many minutes later, negative: earlier; at most 1440"
    extend.add_argument("minutes", metavar="MINUTES", type=_minutes_more, help=later)
    add("complete", "the work is done: end the running session and look back")
    add("end", "close the session under review")
    add("ontask", 'say "this is on task" of the window that drifted, or else of the focused one')
    add("refocus", 'say "back to task": take back the verdict on the window that drifted')
    add("cancel", "leave planning")
    _ai(add("ai", "say whether an AI may see window titles, and see what was sent"))
    _json(
        add(
            "explain",
            "show what an AI would be sent about the window in focus, or why nothing",
            "The instruction and the prompt, byte for byte; only the mark around the data is a new one each time.",
        ),
        "an object",
    )
    _audit(add("audit", "verify or list the chain of ended sessions; needs no service"))
    _json(
        add("doctor", "check what is needed here, and say what to do about what is missing"), "an object of findings"
    )
    completion = add("completion", "print the completions for a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")
    return parser


def _start(add: Any) -> None:
    start = add(
        "start",
        "start a session",
        "From locked, one line is enough. While planning, what is not said is taken from the coach's proposal if "
        "there is one and TEXT is left out.",
    )
    start.add_argument("text", metavar="TEXT", nargs="*", type=_text, help="the next action")
    start.add_argument("--done", metavar="CONDITION", type=_text, help="how you know that it is done; by default TEXT")
    time = start.add_mutually_exclusive_group()
    time.add_argument(
        "--minutes", metavar="N", dest="secs", type=_minutes, help="how long, 1 to 1440; by default 25"
    )
    time.add_argument(
        "--timebox", metavar="TIME", dest="secs", type=_timebox, help="the same as a time: 25m, 1h, 1h30m, 90s"
    )
    start.add_argument(
        "--app",
        metavar="CLASS",
        action="append",
        type=_text,
        help="a window class that is on task as a whole; may be given again",
    )


def _ai(ai: argparse.ArgumentParser) -> None:
    answers = ai.add_subparsers(title="actions", dest="answer", metavar="ACTION", required=True)
    _command(answers, "allow", "let the AI see window titles; the answer is kept")
    _command(answers, "refuse", "do not let it; the answer is kept")
    _command(answers, "status", "show what is set")
    sent = _command(
        answers,
        "sent",
        "list what was sent to an AI, the newest last; needs no service",
        "Of each prompt the time, the program, the role, the size and the SHA-256. The texts themselves are kept only "
        "with `keep_prompts = true` below [privacy] in the config file.",
    )
    sent.add_argument("-n", metavar="N", dest="count", type=_count, default=10, help="how many; by default 10")
    _json(sent, "an array of objects")


def _audit(audit: argparse.ArgumentParser) -> None:
    actions = audit.add_subparsers(title="actions", dest="action", metavar="ACTION", required=True)
    verify = _command(
        actions,
        "verify",
        "check every line, and that none is missing at the end",
        "Prints the last line's number and hash, or the first bad line and what is wrong with it.",
    )
    _json(verify, "the result")
    tail = _command(actions, "tail", "list the last sessions, the newest last")
    tail.add_argument("-n", metavar="N", dest="count", type=_count, default=10, help="how many; by default 10")
    _json(tail, "an array of summaries")


def _command(commands: Any, name: str, summary: str, more: str = "") -> argparse.ArgumentParser:
    text = f"{summary[:1].upper()}{summary[1:]}." + (f" {more}" if more else "")
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=text, allow_abbrev=False)
    return parser


def _json(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON, on one line")


def _text(value: str) -> str:
    # Bytes that are no text in this locale cannot go over the bus.
    return value.encode(errors="surrogateescape").decode(errors="replace")


def _minutes(value: str) -> int:
    return _whole(value, 1, _MOST_MINUTES) * 60


def _minutes_more(value: str) -> int:
    if value == "0":
        raise argparse.ArgumentTypeError("0 minutes change nothing")
    return _whole(value, -_MOST_MINUTES, _MOST_MINUTES)


def _timebox(value: str) -> int:
    parts = _TIMEBOX.fullmatch(value)
    if parts is None or not any(parts.groups()):
        raise argparse.ArgumentTypeError(f"{value!r} is not a time such as 25m, 1h30m or 90s")
    secs = sum(int(parts[unit] or 0) * size for unit, size in (("h", 3600), ("m", 60), ("s", 1)))
    if not limits.TIMEBOX_MIN_SECS <= secs <= limits.TIMEBOX_MAX_SECS:
        raise argparse.ArgumentTypeError(f"{value} is not from 1 second to 24 hours")
    return secs


def _count(value: str) -> int:
    return _whole(value, 1, 1_000_000)


def _whole(value: str, least: int, most: int) -> int:
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise argparse.ArgumentTypeError(f"{value!r} is not a whole number from {least} to {most}")
    return number
