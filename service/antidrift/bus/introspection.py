"""What dbus-next leaves out of introspection: names of returned and signalled values, and properties that are const."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar
from xml.etree.ElementTree import Element, SubElement

from dbus_next.introspection import Arg, Property
from dbus_next.service import ServiceInterface

I = TypeVar("I", bound=type[ServiceInterface])  # noqa: E741 - the interface

_EMITS_CHANGED = "org.freedesktop.DBus.Property.EmitsChangedSignal"


def describe(*, values: Mapping[str, Sequence[str]], const: Collection[str] = ()) -> Callable[[I], I]:
    """Class decorator that completes the introspection of a D-Bus interface.

    `values` names, by member, what a method returns or a signal carries, in order. `const` lists the properties that
    never change while the service runs: without the annotation a property is taken to announce its changes (D-Bus
    specification, "Introspection Data Format"). Raises ValueError for a member that is not there or has another
    number of values, so a slip shows at import.
    """

    def complete(interface: I) -> I:
        for member, names in values.items():
            args = _values_of(interface, member)
            if len(args) != len(names):
                raise ValueError(f"{member} has {len(args)} values, not {len(names)}")
            for arg, name in zip(args, names, strict=True):
                arg.name = name
        for member in const:
            prop: Any = getattr(interface, member, None)
            described = getattr(prop, "introspection", None)
            if not isinstance(described, Property):
                raise ValueError(f"{interface.__name__} has no property {member}")
            prop.introspection = _ConstProperty(described.name, described.signature, described.access)
        return interface

    return complete


def _values_of(interface: type[ServiceInterface], member: str) -> list[Arg]:
    attributes: Mapping[str, Any] = getattr(getattr(interface, member, None), "__dict__", {})
    if "__DBUS_METHOD" in attributes:
        returned: list[Arg] = attributes["__DBUS_METHOD"].introspection.out_args
        return returned
    if "__DBUS_SIGNAL" in attributes:
        signalled: list[Arg] = attributes["__DBUS_SIGNAL"].introspection.args
        return signalled
    raise ValueError(f"{interface.__name__} has no method or signal {member}")


class _ConstProperty(Property):
    def to_xml(self) -> Element:
        element = super().to_xml()
        SubElement(element, "annotation", name=_EMITS_CHANGED, value="const")
        return element
