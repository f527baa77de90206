"""What the XML of an interface says, in a form that can be compared: the file in dbus/, or introspection."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Comment, Element, TreeBuilder, XMLParser, fromstring

from antidrift.bus.names import ERROR_PREFIX, INTERFACE

ROOT = Path(__file__).parents[2]
XML = (ROOT / "dbus" / f"{INTERFACE}.xml").read_text()

_EMITS_CHANGED = "org.freedesktop.DBus.Property.EmitsChangedSignal"


@dataclass(frozen=True)
class Shape:
    """All that a program can tell of an interface."""

    methods: dict[str, tuple[tuple[str | None, str | None, str], ...]]  # the name, type and direction of each argument
    signals: dict[str, tuple[tuple[str | None, str | None], ...]]
    properties: dict[str, tuple[str | None, str | None, str]]  # type, access, and whether changes are announced
    annotations: dict[str, dict[str, str]]  # of methods and signals


def shape(xml: str) -> Shape:
    """The shape of the contract's interface in `xml`. What is left out there has its default (D-Bus specification)."""
    interface = _interface(fromstring(xml))
    return Shape(
        {
            _name(method): tuple(
                (arg.get("name"), arg.get("type"), arg.get("direction", "in")) for arg in method.iter("arg")
            )
            for method in interface.iter("method")
        },
        {
            _name(signal): tuple((arg.get("name"), arg.get("type")) for arg in signal.iter("arg"))
            for signal in interface.iter("signal")
        },
        {
            _name(prop): (prop.get("type"), prop.get("access"), _annotations(prop).get(_EMITS_CHANGED, "true"))
            for prop in interface.iter("property")
        },
        {_name(member): _annotations(member) for kind in ("method", "signal") for member in interface.iter(kind)},
    )


def comments(xml: str) -> dict[str, str]:
    """For each member the comment right before it, "" where there is none."""
    said = {}
    before = ""
    for child in _interface(fromstring(xml, XMLParser(target=TreeBuilder(insert_comments=True)))):
        is_comment = child.tag is Comment
        if not is_comment:
            said[_name(child)] = before
        before = " ".join((child.text or "").split()) if is_comment else ""
    return said


def possible_errors(comment: str) -> set[str]:
    """The names in the last sentence of a method's comment."""
    _, _, listed = comment.partition("Possible errors: ")
    return set(re.findall(rf"{re.escape(ERROR_PREFIX)}\w+", listed))


def _interface(node: Element) -> Element:
    [interface] = [found for found in node.iter("interface") if found.get("name") == INTERFACE]
    return interface


def _annotations(member: Element) -> dict[str, str]:
    return {_name(annotation): annotation.get("value", "") for annotation in member.iter("annotation")}


def _name(element: Element) -> str:
    return element.get("name", "")
