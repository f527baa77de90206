"""Refusals: a command that the rules do not allow, or a value that they do not take.

Each is raised before anything changes, and each has one D-Bus name (`bus/errors.py`).
"""


class Refused(Exception):
    """A command was refused; the message says in which state and for which value, and nothing has changed."""


class IllegalTransition(Refused):
    """The command leads nowhere from the present phase."""


class NotPlanning(Refused):
    """The command is for the planning phase only."""


class NotActive(Refused):
    """The command is for a running session only."""


class NothingToJudge(Refused):
    """`OnTask` was called while no window has the focus and none drifted lately."""


class InvalidCommitment(Refused):
    """A commitment field is blank, too long or out of range."""


class InvalidArgument(Refused):
    """Any other argument is blank, too long or out of range."""
