"""D-Bus types as annotations that both dbus-next and a type checker understand.

dbus-next reads annotations as signature strings; a type checker reads them as types. So each alias is the type for the
one and the signature for the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dbus_next.signature import Variant

    String = str
    Strings = list[str]
    Int64 = int
    UInt32 = int
    Bool = bool
    Dict = dict[str, Variant]
else:
    String: Any = "s"
    Strings: Any = "as"
    Int64: Any = "x"
    UInt32: Any = "u"
    Bool: Any = "b"
    Dict: Any = "a{sv}"
