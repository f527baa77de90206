"""Everything that speaks D-Bus.

dbus-next takes `no_type_check_decorator` from `typing` when it is imported. Python 3.13 warns at every use of that
function and 3.15 no longer has it, so an equal one is put in its place here: this package is always imported before
any of its modules can import dbus-next.
"""

from __future__ import annotations

import typing

# An identity function will do: the mark that the original sets is for type checkers alone.
vars(typing)["no_type_check_decorator"] = lambda decorator: decorator
