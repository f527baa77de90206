"""Traces: a recorded day that can be played again, and that a bug report can carry.

    format.py       one line each, strictly read
    recorder.py     TraceFile: the port, over one new file
    hidden.py       what of a value goes into a trace
    pseudonyms.py   other words of the same form

`replay` plays them.
"""

from antidrift.trace.format import BadTrace, Trace, read
from antidrift.trace.recorder import CannotRecord, TraceFile

__all__ = ["BadTrace", "CannotRecord", "Trace", "TraceFile", "read"]
