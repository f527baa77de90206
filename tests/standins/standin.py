"""What the stand-ins for `claude` and `codex` have in common, and how a test sets one up.

A stand-in checks its arguments as the real program does, and does what its scenario says. Its environment is
scrubbed, so the scenario comes as a file: a test links the program into a folder of its own, and beside the link stand

    PROGRAM.scenario.json   what to do, read at every start; without it, a plausible answer for each role
    PROGRAM.calls.jsonl     what happened, one line per call that was made to answer:
                            {"argv", "stdin", "role", "env", "cwd", "cwd_mode", "listing", "pid"}
    PROGRAM.pids            process ids, one a line, of everything that a misbehaving stand-in started
    PROGRAM.lock            locked as long as anything of it lives

`StandIn` writes and reads them. The scenario is one object; every key may be left out:

    "answer": TEXT           for every role; as it is, so prose, fenced JSON and "" are answers too
    "answers": {ROLE: TEXT}  for one role: coach, drift_judge, nudge, reviewer (known from its system prompt)
    "verdicts": {TITLE: V}   for the drift judge, by the title in the prompt. V: true, false, or an object as in ANSWERS
    "delay": SECONDS         before it answers
    "answer_bytes": N        an answer of N bytes in place of all these
    "fault": NAME            fails as the real program does: not_logged_in, rate_limited, offline, server_error,
                             unknown_model, out_of_credit, killed (by SIGKILL, after "delay")
    "logged_in": BOOL        what `auth status` and `login status` say; by default, whether "fault" says otherwise
    "exit": N                the exit status after an answer was given in full
    "version": [2, 1, 154]   which options there are, and the help; by default all that are known here
    "help_hangs": true       `--help` never ends
    "misbehave": [NAME...]   in this order, before it answers:
        never_reads          leaves standard input alone
        floods               writes "flood_bytes" (default 1 GB) to standard output
        floods_stderr        the same to standard error
        ignores_term         ignores SIGTERM
        starts_session       a child in a session of its own, which sleeps
        starts_group         a child in a process group of its own, which sleeps
        leaves_orphan        a grandchild without a parent, in a session of its own, which holds standard output
        leaves_bare_orphan   the same with an empty environment and nothing open
        leaves_free_orphan   the same, which has taken off every limit that it inherited, too
        leaves_unlimited_orphan  only that: with its environment, and holding standard output
        adopts               takes in orphans of its own
        traces               a child that is stopped by ptrace
        makes_zombies        twenty children that ended, not waited for
        breeds               a child in a session of its own, which starts a child every few milliseconds
        moves_on             an orphan that starts another process and ends, which does the same, and so on
        moves_away           the same, each in a session of its own
        moves_away_free      the same, and without environment and limits
        litters              a child in a session of its own, which makes one file after another in the working folder
        closes_output        closes standard output and error
        drips                writes a byte to standard output every few milliseconds; nothing follows it
        stops_itself         by SIGSTOP
        hangs                sleeps for ten minutes; nothing follows it
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, Self

# The form of the answer stands in each role's instruction; this word of it stands in no other.
_ROLE_WORDS = {"coach": "timebox_minutes", "drift_judge": "on_task", "nudge": "on_track", "reviewer": "recap"}

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_CLOSED_BY_ORPHANS = 64  # descriptors, from the first on
_PTRACE_TRACEME = 0  # linux/ptrace.h

_SLEEPS = "import time; time.sleep(600)"
_MOVES_ON = """
import os, time
ends = time.monotonic() + 30
while time.monotonic() < ends:
    if os.fork():
        os._exit(0)
"""
_MOVES_AWAY = _MOVES_ON + "    os.setsid()\n"

ANSWERS: dict[str, dict[str, object]] = {
    "coach": {
        "next_action": "Write the outline",
        "success_condition": "The outline has five headings",
        "timebox_minutes": 25,
        "allowed_window_classes": ["org.gnome.TextEditor"],
    },
    "drift_judge": {"on_task": True, "reason": "It serves the plan"},
    "nudge": {"on_track": True, "message": ""},
    "reviewer": {"recap": "You wrote the outline.", "carry_forward": "Start with the headings again."},
}


class StandIn:
    """A stand-in as a test sees it: `program` is what to start or to put on PATH.

    `interpreter` is the Python that runs it and all that it starts; by default that of the system.
    """

    def __init__(self, name: str, folder: Path, interpreter: Path | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.program = folder / name
        here = os.path.dirname(os.path.realpath(__file__))
        if interpreter is None:
            self.program.symlink_to(os.path.join(here, name))
        else:
            with open(os.path.join(here, name)) as source:
                self.program.write_text(f"#!{interpreter} -S\n" + source.read().partition("\n")[2])
            self.program.chmod(0o700)
            folder.joinpath("standin.py").symlink_to(os.path.join(here, "standin.py"))

    def plays(self, **scenario: Any) -> Self:
        """Replaces the scenario; see the head of this file."""
        new = self.program.with_name(self.program.name + ".scenario.new")
        new.write_text(json.dumps(scenario))
        new.rename(_beside(self.program, "scenario.json"))
        return self

    def calls(self) -> list[dict[str, Any]]:
        """Every call so far that was made to answer something, oldest first."""
        try:
            with open(_beside(self.program, "calls.jsonl")) as lines:
                return [json.loads(line) for line in lines]
        except FileNotFoundError:
            return []

    def lives(self) -> bool:
        """Whether there is any process of it, be it another one at every moment."""
        try:
            with open(_beside(self.program, "lock")) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def pids(self) -> list[int]:
        """Every process that it said it started."""
        try:
            with open(_beside(self.program, "pids")) as lines:
                return [int(line) for line in lines]
        except FileNotFoundError:
            return []

    def told_at(self) -> float:
        """When it told of the last process that it started, in seconds of the wall clock."""
        return os.stat(_beside(self.program, "pids")).st_mtime


class Running:
    """The inside of a stand-in: one start of it, with its scenario."""

    def __init__(self) -> None:
        # As it was called, through the link.
        self._program = sys.argv[0]
        self.prompt = ""
        try:
            with open(_beside(self._program, "scenario.json")) as file:
                self.scenario: dict[str, Any] = json.load(file)
        except FileNotFoundError:
            self.scenario = {}

    def has(self, since: Sequence[int]) -> bool:
        """True if this version is `since` or a later one."""
        return list(self.scenario.get("version", [999])) >= list(since)

    @property
    def logged_in(self) -> bool:
        return bool(self.scenario.get("logged_in", self.scenario.get("fault") != "not_logged_in"))

    def show_help(self, usage: str, options: Mapping[str, tuple[str, Sequence[int]]]) -> None:
        """The options as both programs list them: a name, its value, and text that may wrap and name others."""
        if self.scenario.get("help_hangs"):
            time.sleep(600)
        print(f"Usage: {usage}\n\nOptions:")
        for names, (value, since) in options.items():
            if self.has(since):
                print(f"  {names} {value}".ljust(40) + "  What it does, other\n" + " " * 42 + "than --bare-words do.")
        print("  -h, --help".ljust(40) + "  Print help")

    def answer(self, role_text: str) -> str:
        """What to answer; reads standard input, writes the record, and misbehaves, as the scenario says."""
        self._lock()
        misbehaviour = self.scenario.get("misbehave", [])
        if "never_reads" not in misbehaviour:
            self.prompt = sys.stdin.buffer.read().decode()
        role = next((name for name, word in _ROLE_WORDS.items() if word in role_text), "")
        self._record(role)
        for name in misbehaviour:
            if name != "never_reads":
                getattr(self, f"_{name}")()
        time.sleep(self.scenario.get("delay", 0))
        if self.scenario.get("fault") == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if "answer_bytes" in self.scenario:
            return "x" * int(self.scenario["answer_bytes"])
        if role == "drift_judge" and (verdict := self._verdict()) is not None:
            return verdict
        default = json.dumps(ANSWERS.get(role, {"said": self.prompt[:40]}))
        return str(self.scenario.get("answers", {}).get(role, self.scenario.get("answer", default)))

    def end(self) -> None:
        """Ends with the status that the scenario gives."""
        sys.stdout.flush()
        sys.exit(self.scenario.get("exit", 0))

    def _verdict(self) -> str | None:
        verdicts = self.scenario.get("verdicts", {})
        for line in self.prompt.splitlines():
            if line.startswith("{") and (title := json.loads(line).get("title")) in verdicts:
                verdict = verdicts[title]
                if isinstance(verdict, bool):
                    verdict = {"on_task": verdict, "reason": "" if verdict else "Something else"}
                return json.dumps(verdict)
        return None

    def _record(self, role: str) -> None:
        record = {
            "argv": sys.argv[1:],
            "stdin": self.prompt,
            "role": role,
            "env": dict(os.environ),
            "cwd": os.getcwd(),
            "cwd_mode": oct(os.stat(".").st_mode & 0o777),
            "listing": sorted(os.listdir(".")),
            "pid": os.getpid(),
        }
        self._append("calls.jsonl", json.dumps(record) + "\n")
        self._started(os.getpid())

    def _lock(self) -> None:
        # Everything that it starts inherits the descriptor, which is far from those that a misbehaviour closes.
        descriptor = os.open(_beside(self._program, "lock"), os.O_RDONLY | os.O_CREAT, 0o600)
        lasting = fcntl.fcntl(descriptor, fcntl.F_DUPFD, _CLOSED_BY_ORPHANS)
        os.set_inheritable(lasting, True)
        os.close(descriptor)
        fcntl.flock(lasting, fcntl.LOCK_SH)

    def _append(self, suffix: str, line: str) -> None:
        # One write on a file opened for appending: calls may overlap.
        descriptor = os.open(_beside(self._program, suffix), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, line.encode())
        os.close(descriptor)

    def _started(self, pid: int) -> None:
        self._append("pids", f"{pid}\n")

    def _floods(self) -> None:
        self._flood(1)

    def _floods_stderr(self) -> None:
        self._flood(2)

    def _flood(self, descriptor: int) -> None:
        chunk = b"y" * (1 << 20)
        left = int(self.scenario.get("flood_bytes", 1 << 30))
        while left > 0:
            left -= os.write(descriptor, chunk[:left])

    def _ignores_term(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def _starts_session(self) -> None:
        if not os.fork():
            os.setsid()
            self._started(os.getpid())
            _sleep()

    def _starts_group(self) -> None:
        if not os.fork():
            os.setpgid(0, 0)
            self._started(os.getpid())
            _sleep()

    def _leaves_orphan(self) -> None:
        self._orphan(_SLEEPS, dict(os.environ))

    def _leaves_bare_orphan(self) -> None:
        self._orphan(_SLEEPS, {})

    def _leaves_free_orphan(self) -> None:
        self._orphan(_SLEEPS, {}, free=True)

    def _leaves_unlimited_orphan(self) -> None:
        self._orphan(_SLEEPS, dict(os.environ), free=True)

    def _moves_on(self) -> None:
        self._orphan(_MOVES_ON, dict(os.environ))

    def _moves_away(self) -> None:
        self._orphan(_MOVES_AWAY, dict(os.environ))

    def _moves_away_free(self) -> None:
        self._orphan(_MOVES_AWAY, {}, free=True)

    def _orphan(self, code: str, environ: dict[str, str], *, free: bool = False) -> None:
        before = self._count_pids()
        if not (child := os.fork()):
            os.setsid()
            if os.fork():
                os._exit(0)
            self._started(os.getpid())
            if not environ:
                os.closerange(0, _CLOSED_BY_ORPHANS)
            if free:
                resource.setrlimit(resource.RLIMIT_RTTIME, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            os.execve(sys.executable, [sys.executable, "-S", "-c", code], environ)
        os.waitpid(child, 0)
        # It has written its id, or is about to: nobody may end before that, or a test would look for nobody.
        self._await_pids(before + 1)

    def _adopts(self) -> None:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)

    def _traces(self) -> None:
        if not (child := os.fork()):
            ctypes.CDLL(None).ptrace(_PTRACE_TRACEME, 0, None, None)
            os.kill(os.getpid(), signal.SIGSTOP)
            _sleep()
        os.waitpid(child, os.WUNTRACED)
        self._started(child)

    def _breeds(self) -> None:
        before = self._count_pids()
        if not os.fork():
            os.setsid()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            self._started(os.getpid())
            for _ in _moments():
                if not os.fork():
                    time.sleep(0.05)
                    os._exit(0)
                time.sleep(0.005)
        self._await_pids(before + 1)

    def _litters(self) -> None:
        before = self._count_pids()
        if not os.fork():
            os.setsid()
            self._started(os.getpid())
            for number in _moments():
                os.mkdir(f"{number}")
                time.sleep(0.01)
        self._await_pids(before + 1)

    def _await_pids(self, count: int) -> None:
        before = time.monotonic()
        while self._count_pids() < count and time.monotonic() < before + 10:
            time.sleep(0.005)

    def _count_pids(self) -> int:
        with open(_beside(self._program, "pids")) as lines:
            return sum(1 for _ in lines)

    def _makes_zombies(self) -> None:
        for _ in range(20):
            if not (child := os.fork()):
                os._exit(0)
            self._started(child)

    def _closes_output(self) -> None:
        os.close(1)
        os.close(2)

    def _drips(self) -> None:
        while True:
            os.write(1, b".")
            time.sleep(0.005)

    def _stops_itself(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def _hangs(self) -> None:
        time.sleep(600)


def _sleep() -> None:
    time.sleep(600)
    os._exit(0)


def _moments() -> Iterator[int]:
    """Numbers for half a minute: what nobody ends comes to an end all the same. Then this process does."""
    ends = time.monotonic() + 30
    number = 0
    while time.monotonic() < ends:
        yield number
        number += 1
    os._exit(0)


def parse(arguments: Sequence[str], arity: Mapping[str, int]) -> tuple[list[tuple[str, str]], list[str], str | None]:
    """Options with their values, what is no option, and the first option that is not in `arity`."""
    found, rest = [], []
    words = list(arguments)
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            rest.append(word)
        elif word not in arity:
            return found, rest, word
        else:
            found.append((word, words.pop(0) if arity[word] and words else ""))
    return found, rest, None


def _beside(program: Path | str, suffix: str) -> str:
    return f"{program}.{suffix}"
