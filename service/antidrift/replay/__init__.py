"""Replay: a trace, played through the real controller in virtual time.

run.py      play(trace, folder): what the day came to
clock.py    time that passes when it is told to
world.py    the stand-ins: sensors, AI program, disk
report.py   the same as text
"""

from antidrift.replay.report import text
from antidrift.replay.run import CannotReplay, Played, play

__all__ = ["CannotReplay", "Played", "play", "text"]
