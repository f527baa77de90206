"""The generated files that are checked in, and the command that writes them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from antidrift import contract

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "service" / "antidrift"


class Tree:
    """A source tree that may be spoiled."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(PACKAGE, root / "service" / "antidrift", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "dbus", root / "dbus")
        shutil.copy(ROOT / "pyproject.toml", root)
        for name in contract.GENERATED:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        self.schema = root / "dbus" / "state.schema.json"

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run(self.root / "service", *arguments)


def run(packages: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", "-m", "antidrift.contract", *arguments],
        env={"PYTHONPATH": str(packages)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_the_generated_files_are_those_that_the_code_makes() -> None:
    assert contract.stale(ROOT) == {}, "run `make contract`"


def test_a_check_of_what_is_up_to_date_says_nothing(tree: Tree) -> None:
    done = tree.run("--check")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_check_shows_what_would_change_and_changes_nothing(tree: Tree) -> None:
    spoiled = tree.schema.read_text().replace('"planning", ', "")
    tree.schema.write_text(spoiled)

    done = tree.run("--check")

    assert done.returncode == 1
    assert done.stdout.startswith("--- dbus/state.schema.json\n+++ dbus/state.schema.json (generated)\n@@")
    assert '-      "enum": ["locked", "active", "review"]\n' in done.stdout
    assert '+      "enum": ["locked", "planning", "active", "review"]\n' in done.stdout
    assert done.stderr == "out of date: dbus/state.schema.json; run `make contract`\n"
    assert tree.schema.read_text() == spoiled


def test_a_check_notices_a_file_that_is_missing_and_one_with_other_line_endings(tree: Tree) -> None:
    wanted = tree.schema.read_bytes()
    tree.schema.write_bytes(wanted.replace(b"\n", b"\r\n"))
    assert contract.stale(tree.root).keys() == {"dbus/state.schema.json"}

    tree.schema.unlink()
    assert contract.stale(tree.root).keys() == {"dbus/state.schema.json"}


def test_a_change_of_the_models_shows(tree: Tree) -> None:
    wire = tree.root / "service" / "antidrift" / "wire.py"
    wire.write_text(wire.read_text().replace("    runtime_state: Phase\n", "    runtime_state: str\n"))

    done = tree.run("--check")

    assert done.returncode == 1
    assert '+    "runtime_state": {"type": "string"},\n' in done.stdout


def test_writing_names_what_it_wrote_and_is_the_same_in_another_process(tree: Tree) -> None:
    tree.schema.unlink()

    first, second = tree.run(), tree.run()

    assert (first.returncode, first.stdout) == (0, "dbus/state.schema.json was written\n")
    assert (second.returncode, second.stdout) == (0, "")
    assert tree.schema.read_bytes() == (ROOT / "dbus" / "state.schema.json").read_bytes()


def test_an_installed_package_says_that_it_has_no_source_tree(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    shutil.copytree(PACKAGE, packages / "antidrift", ignore=shutil.ignore_patterns("__pycache__"))

    done = run(packages)

    assert done.returncode == 2
    assert f"{packages / 'antidrift'} is an installed package" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == [packages]
