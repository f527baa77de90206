"""What the service may say to a client: any text is a state that every view can show, or refused by name."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example
from hypothesis import strategies as st

from antidrift.bus.client import NewerService, NotAState, State
from antidrift.cli import explain, render, watch
from antidrift.cli.failures import explained
from antidrift.cli.output import Output
from antidrift.cli.terminal import Terminal
from antidrift.domain.session import Policy
from support.fuzzing import any_text, fuzzed, nearly

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "dbus" / "state.schema.json").read_text())
EXAMPLES = {file.stem: json.loads(file.read_text()) for file in (ROOT / "tests" / "fixtures" / "state").glob("*.json")}


def shown(state: State) -> str:
    """All that the programs for the terminal make of a state."""
    terminal, out = Terminal(width=40), Output(io.StringIO(), io.StringIO(), Terminal())
    lines = render.status(state.view, state.remaining_secs(), terminal)
    lines += [line for line, _ in render.headline(state.view, state.remaining_secs())]
    lines.append(render.ai_line(state.view))
    if state.phase == "planning" and state.view["coach"]["status"] == "ready":
        lines += render.proposal_lines(state.view["coach"]["proposal"], terminal)
    screen = watch._Block(out)
    screen.show(state)
    screen.pause(state)
    watch._Log(out).show(state)
    explain.explained(state.view, Policy())
    return "\n".join(lines)


@fuzzed("state JSON", examples=80, text=st.sampled_from(list(EXAMPLES.values())).flatmap(nearly) | any_text)
@example(text="[" * 1_000_000)
@example(text='{"schema":' * 100_000)
@example(text='{"schema":1,"instance":"i","seq":' + "9" * 5000 + "}")
@example(text=json.dumps(EXAMPLES["active"]).replace('"schema": 1', '"schema": 2'))
@example(text=json.dumps(EXAMPLES["away"]).replace('"lock"', "null"))
@example(text=json.dumps(EXAMPLES["away"]).replace('"lock"', '"lunch"'))
@example(text=json.dumps(EXAMPLES["away"] | {"away": EXAMPLES["away"]["away"] | {"since_ms": None}}))
@example(text=json.dumps(EXAMPLES["review"]).replace('"completed"', '"abandoned"'))
@example(text=json.dumps(EXAMPLES["planning"]).replace('"ready"', '"error"'))
def test_any_text_is_a_state_that_can_be_shown_or_refused_by_name(text: str) -> None:
    try:
        state = State.read(text)
        lines = shown(state)
    except (NewerService, NotAState) as refusal:
        sentence, status = explained(refusal)
        assert sentence.isascii()
        assert len(sentence) < 250
        assert status == 1
    else:
        assert all(
            line.isprintable() or not any(c < " " or "\x7f" <= c < "\xa0" for c in line) for line in lines.split("\n")
        )
        assert state.replaces(None)


@pytest.mark.parametrize("answer", [None, 5, b"{}", ["{}"], {}])
def test_an_answer_that_is_no_text_is_no_state(answer: Any) -> None:
    with pytest.raises(NotAState, match="it is no text"):
        State.read(answer)


# Held against the schema, as lib/state.js is


def alternatives(node: dict[str, Any]) -> list[dict[str, Any]]:
    """What a value of the schema may be: itself, or one of its alternatives, with references followed."""
    if reference := node.get("$ref"):
        return alternatives(SCHEMA["$defs"][reference.rpartition("/")[2]])
    return [one for each in node["anyOf"] for one in alternatives(each)] if "anyOf" in node else [node]


def places(value: Any, node: dict[str, Any], path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], list[Any]]]:
    """Every place in `value` that the schema describes, and what it may be there."""
    kinds = alternatives(node)
    if path:
        yield path, kinds
    for kind in kinds:
        if isinstance(value, dict) and kind.get("type") == "object":
            for key in kind["required"]:
                yield from places(value[key], kind["properties"][key], (*path, key))
        if isinstance(value, list) and kind.get("type") == "array":
            for index, item in enumerate(value):
                yield from places(item, kind["items"], (*path, index))


def changed(name: str, path: tuple[Any, ...], *new: Any) -> str:
    """The example with another value, or none, in one place."""
    value = copy.deepcopy(EXAMPLES[name])
    *parents, last = path
    holder = value
    for key in parents:
        holder = holder[key]
    if new:
        holder[last] = new[0]
    else:
        del holder[last]
    return json.dumps(value)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_comes_through_unchanged_and_without_the_keys_that_are_new(name: str) -> None:
    assert State.read(json.dumps(EXAMPLES[name] | {"mood": "fine"})).view == EXAMPLES[name]


@pytest.mark.parametrize("name", EXAMPLES)
def test_whatever_the_schema_requires_is_required_and_of_the_type_and_the_values_that_it_says(name: str) -> None:
    for path, kinds in places(EXAMPLES[name], SCHEMA):
        wrong = "text" if any(kind.get("type") == "object" for kind in kinds) else {}
        texts = [changed(name, path, wrong)]
        if isinstance(path[-1], str):
            texts.append(changed(name, path))
        values = [value for kind in kinds for value in kind.get("enum", ())]
        if values and path[-1] != "code":
            texts.append(changed(name, path, "surprising"))
        for text in texts:
            with pytest.raises(NotAState):
                State.read(text)
        if path[-1] not in ("runtime_state", "status"):  # which ask for more than themselves
            for value in values:
                State.read(changed(name, path, value))


def test_of_a_later_version_enough_is_understood_to_say_so() -> None:
    state = State.read('{"schema": 2, "instance": "i", "seq": 1, "mood": "fine"}')
    assert not state.understood
    assert state.replaces(None)
    with pytest.raises(NewerService):
        _ = state.phase
    for screen in (watch._Block, watch._Log):  # go on when the state is understood again
        out = Output(io.StringIO(), io.StringIO(), Terminal())
        screen(out).show(state)
        assert screen(out).pause(state) is None
        assert "newer than this program" in out.stdout.getvalue()
