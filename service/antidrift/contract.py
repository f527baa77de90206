"""Writes the files that are generated from the code: `python -m antidrift.contract`. With --check it only compares.

They are checked in, so that the author of a front end reads them without running anything, and a change of the contract
shows in a review.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from antidrift import wire

_WIDTH = 110


def state_schema(root: Path) -> str:
    """The JSON Schema (draft 2020-12) of the state, from the docstrings and fields of `wire.StateView`."""
    schema = wire.StateView.model_json_schema(by_alias=True, mode="serialization")
    definitions = schema.pop("$defs")
    state = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The state of org.antidrift.Session",
        **_tidied(schema),
        "$defs": {name: _tidied(definitions[name]) for name in sorted(definitions)},
    }
    return _formatted(state) + "\n"


GENERATED: Mapping[str, Callable[[Path], str]] = {
    "dbus/state.schema.json": state_schema,
}
"""What each generated file holds. Paths are relative to the source tree, whose root is handed to the generator."""


class NotASourceTree(Exception):
    """The package is an installed one, and there is nothing to write to."""


def source_tree(package: Path) -> Path:
    """The root of the source tree that `package` (its folder) lies in. Raises NotASourceTree."""
    root = package.parents[1]
    if package != root / "service" / "antidrift" or not (root / "pyproject.toml").is_file():
        raise NotASourceTree(
            f"{package} is an installed package, and the generated files belong to the source tree: "
            "run `make contract` in a checkout of it"
        )
    return root


def stale(root: Path) -> dict[str, str]:
    """The unified difference between what each generated file says and what it should say, if there is any."""
    found = {}
    for name, generate in GENERATED.items():
        file = root / name
        # Not read_text(): it would make one of two kinds of line endings.
        present = file.read_bytes().decode() if file.exists() else ""
        if present != (wanted := generate(root)):
            before, after = present.splitlines(keepends=True), wanted.splitlines(keepends=True)
            found[name] = "".join(difflib.unified_diff(before, after, name, f"{name} (generated)"))
    return found


def write(root: Path) -> list[str]:
    """Writes the generated files that are stale, and returns their names."""
    names = list(stale(root))
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(GENERATED[name](root).encode())
    return names


def main(argv: list[str] | None = None) -> int:
    """0: the files are as they should be; 1: with --check, some are not; 2: there is no source tree."""
    parser = argparse.ArgumentParser(prog="python -m antidrift.contract", description="Write the generated files.")
    parser.add_argument("--check", action="store_true", help="write nothing: print what would change, and exit 1")
    arguments = parser.parse_args(argv)
    try:
        root = source_tree(Path(__file__).resolve().parent)
    except NotASourceTree as error:
        print(error, file=sys.stderr)
        return 2
    if not arguments.check:
        for name in write(root):
            print(f"{name} was written")
        return 0
    differences = stale(root)
    sys.stdout.writelines(differences.values())
    if differences:
        print(f"out of date: {', '.join(differences)}; run `make contract`", file=sys.stderr)
    return 1 if differences else 0


def _tidied(schema: Any) -> Any:
    """`schema` as a reader wants it: what it is first, docstrings as flowing text, and no noise.

    The titles that pydantic makes up repeat the names. `additionalProperties: false` holds for what this version sends,
    but keys are added without notice, and a client that checks what it gets must not fall over them.
    """
    if isinstance(schema, list):
        return [_tidied(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidied: dict[str, Any] = {}
    for key in sorted(schema, key=_place):
        value = schema[key]
        if key == "additionalProperties" or (key == "title" and isinstance(value, str)):
            continue
        if key == "properties":
            tidied[key] = {name: _tidied(property_) for name, property_ in value.items()}
        elif key == "description":
            tidied[key] = " ".join(value.split())
        else:
            tidied[key] = _tidied(value)
    return tidied


def _place(key: str) -> tuple[int, str]:
    first = ("description", "type", "required", "properties")
    return (first.index(key) if key in first else len(first), key)


def _formatted(value: Any, indent: int = 0, column: int = 0) -> str:
    """JSON, with everything on one line that fits there. `column`: where on its line it begins."""
    line = json.dumps(value, ensure_ascii=False)
    if column + len(line) <= _WIDTH or not isinstance(value, (dict, list)):
        return line
    inner = indent + 2
    if isinstance(value, list):
        brackets = "[]"
        parts = [_formatted(item, inner, inner) for item in value]
    else:
        brackets = "{}"
        names = {name: f"{json.dumps(name)}: " for name in value}
        parts = [text + _formatted(value[name], inner, inner + len(text)) for name, text in names.items()]
    lines = ",\n".join(" " * inner + part for part in parts)
    return f"{brackets[0]}\n{lines}\n{' ' * indent}{brackets[1]}"


if __name__ == "__main__":
    sys.exit(main())
