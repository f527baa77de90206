"""dbus/state.schema.json, and the example states that front ends are tested on."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from antidrift import wire
from antidrift.domain import model
from antidrift.domain.model import Phase
from support.example_states import EXAMPLES, FIXTURES, example, text

SCHEMA = json.loads((Path(__file__).parents[2] / "dbus" / "state.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
ENUMERATIONS = [
    model.Phase,
    model.Outcome,
    model.FaultCode,
    model.Consent,
    model.Health,
    model.Source,
    model.AwayCause,
    model.DriftStatus,
    model.CallStatus,
    model.FetchStatus,
]

DEFINITIONS = {"the state": SCHEMA, **SCHEMA["$defs"]}
OBJECTS = [name for name, definition in DEFINITIONS.items() if definition["type"] == "object"]

State = dict[str, Any]


def state(name: str) -> State:
    found: State = json.loads((FIXTURES / f"{name}.json").read_text())
    return found


def holes(value: Any) -> Iterator[Any]:
    """`value` again and again, each time with another key missing somewhere in it."""
    places: list[tuple[Any, ...]] = []

    def find(inner: Any, path: tuple[Any, ...]) -> None:
        for key, item in inner.items() if isinstance(inner, dict) else enumerate(inner):
            if isinstance(inner, dict):
                places.append((*path, key))
            if isinstance(item, (dict, list)):
                find(item, (*path, key))

    find(value, ())
    for *path, last in places:
        spoiled = copy.deepcopy(value)
        where = spoiled
        for key in path:
            where = where[key]
        del where[last]
        yield spoiled


# The schema


def test_it_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", OBJECTS)
def test_every_key_of_every_object_is_required(name: str) -> None:
    definition = DEFINITIONS[name]

    assert definition["required"] == list(definition["properties"])


@pytest.mark.parametrize("enumeration", ENUMERATIONS, ids=lambda enumeration: enumeration.__name__)
def test_every_enumeration_is_closed_and_lists_all_its_values(enumeration: type[model.StrEnum]) -> None:
    definition = DEFINITIONS[enumeration.__name__]

    assert definition["type"] == "string"
    assert definition["enum"] == [item.value for item in enumeration]


def test_no_enumeration_is_left_out_above() -> None:
    listed = {name for name, definition in DEFINITIONS.items() if "enum" in definition}

    assert listed == {enumeration.__name__ for enumeration in ENUMERATIONS}


@pytest.mark.parametrize("name", DEFINITIONS)
def test_everything_is_explained(name: str) -> None:
    assert re.fullmatch(r"[A-Z`].*[.]", DEFINITIONS[name]["description"])


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_state_without_one_of_its_keys_is_invalid(name: str) -> None:
    spoiled = list(holes(state(name)))

    assert len(spoiled) > 20
    assert [hole for hole in spoiled if VALIDATOR.is_valid(hole)] == []


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        (None, "runtime_state", "paused"),
        (None, "outcome", "abandoned"),
        ("drift", "status", "suspicious"),
        ("drift", "since_ms", "yesterday"),
        ("evidence", "health", None),
        ("commitment", "remaining_ms", -1),
        ("commitment", "allowed_sites", "YouTube"),
        ("ai", "error", "broken"),
    ],
)
def test_a_value_of_another_kind_is_invalid(section: str | None, key: str, value: object) -> None:
    spoiled = state("drifting")
    (spoiled if section is None else spoiled[section])[key] = value

    assert not VALIDATOR.is_valid(spoiled)


def test_keys_of_a_later_version_are_no_fault() -> None:
    later = state("active")
    later["weather"] = "fine"
    later["commitment"]["colour"] = "blue"

    VALIDATOR.validate(later)


# The examples


def test_there_is_a_file_for_each_example_and_no_other() -> None:
    assert {file.stem for file in FIXTURES.iterdir()} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_what_the_service_would_send(name: str) -> None:
    assert (FIXTURES / f"{name}.json").read_text() == text(name), "run python -m support.example_states"
    assert state(name) == json.loads(wire.state_json(example(name)))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_valid(name: str) -> None:
    VALIDATOR.validate(state(name))
    wire.StateView.model_validate_json(json.dumps(state(name)))  # which knows every key


def test_there_is_an_example_of_every_phase_and_status() -> None:
    states = [state(name) for name in EXAMPLES]

    def shown(section: str, key: str) -> set[str]:
        return {one[section][key] for one in states if one[section] is not None}

    assert {one["runtime_state"] for one in states} == set(Phase)
    assert shown("drift", "status") >= {"idle", "ontask", "drifting"}
    assert shown("reflection", "status") == set(model.FetchStatus)
    assert shown("coach", "status") >= {"ready", "error"}
    assert shown("evidence", "source") == set(model.Source)
    assert shown("ai", "consent") == set(model.Consent)


def test_the_degraded_examples_have_an_error_wherever_there_can_be_one() -> None:
    degraded = [state(name) for name in EXAMPLES if name.startswith("degraded-")]
    sections = [name for name, view in wire.StateView.model_fields.items() if _can_fail(view.annotation)]

    assert sections == ["coach", "tasks", "knowledge", "evidence", "ai", "store"]
    for section in sections:
        assert any(one[section] is not None and one[section]["error"] is not None for one in degraded), section


@pytest.mark.parametrize(
    ("section", "phases"),
    [
        ("commitment", {"active", "review"}),
        ("coach", {"planning"}),
        ("tasks", {"planning"}),
        ("knowledge", {"planning"}),
        ("reflection", {"locked", "planning", "review"}),
        ("drift", {"active"}),
        ("away", {"active", "review"}),
        ("evidence", {"active", "review"}),
        ("outcome", {"review"}),
    ],
)
def test_a_section_is_there_in_its_phases_and_null_in_the_others(section: str, phases: set[str]) -> None:
    for name in EXAMPLES:
        shown = state(name)
        assert (shown[section] is not None) == (shown["runtime_state"] in phases), name


def test_the_profile_is_in_no_state() -> None:
    assert "noon" not in text("planning")


def _can_fail(annotation: Any) -> bool:
    views = getattr(annotation, "__args__", (annotation,))
    return any("error" in getattr(view, "model_fields", {}) for view in views)
