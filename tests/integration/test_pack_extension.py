"""The zip of the GNOME Shell extension holds what runs, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

TREE = Path(__file__).parents[2]
UUID = "extension@example.org"


def pack(source: Path, into: Path, **environment: str) -> zipfile.ZipFile:
    into.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, TREE / "tools/pack_extension.py", source, into],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return zipfile.ZipFile(done.stdout.strip())


def extension(folder: Path, *files: str) -> Path:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"// {name}")
    (folder / "metadata.json").write_text(f'{{"uuid": "{UUID}", "gettext-domain": "example"}}')
    return folder


def test_what_is_for_development_only_is_left_out(tmp_path: Path) -> None:
    source = extension(
        tmp_path / "source",
        *("extension.js", "prefs.js", "stylesheet.css", "lib/deep/one.js", "ui/two.js", "icons/three-symbolic.svg"),
        *("schemas/org.example.gschema.xml", "schemas/gschemas.compiled", "po/example.pot", "lib/types.d.ts"),
        *(
            "package.json",
            "eslint.config.js",
            "tsconfig.json",
            "README.md",
            "node_modules/x/extension.js",
            "ui/two.js~",
        ),
    )
    with pack(source, tmp_path / "out") as archive:
        assert archive.filename is not None
        assert Path(archive.filename).name == f"{UUID}.shell-extension.zip"
        assert archive.namelist() == [
            "extension.js",
            "icons/three-symbolic.svg",
            "lib/deep/one.js",
            "metadata.json",
            "prefs.js",
            "schemas/org.example.gschema.xml",
            "stylesheet.css",
            "ui/two.js",
        ]


def test_translations_are_compiled_to_where_the_shell_looks(tmp_path: Path) -> None:
    source = extension(tmp_path / "source", "extension.js", "po/de.po")
    compiler = tmp_path / "bin/msgfmt"
    compiler.parent.mkdir()
    compiler.write_text('#!/bin/sh\n[ "$1 $2" = "--check -o" ] && { echo compiled; cat "$4"; } >"$3"\n')
    compiler.chmod(0o755)
    with pack(source, tmp_path / "out", PATH=f"{compiler.parent}:{os.environ['PATH']}") as archive:
        assert archive.read("locale/de/LC_MESSAGES/example.mo") == b"compiled\n// po/de.po"


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    source = extension(tmp_path / "source", "extension.js", "lib/one.js")
    first = pack(source, tmp_path / "first")
    (source / "extension.js").touch()
    (source / "extension.js").chmod(0o700)
    second = pack(source, tmp_path / "second")
    with first, second:
        assert Path(str(first.filename)).read_bytes() == Path(str(second.filename)).read_bytes()


def test_every_module_that_is_imported_is_in_the_zip(tmp_path: Path) -> None:
    with pack(TREE / "gnome-extension", tmp_path) as archive:
        names = set(archive.namelist())
        assert {"extension.js", "prefs.js", "metadata.json"} <= names
        for name in names:
            if name.endswith(".js"):
                text = archive.read(name).decode()
                for imported in re.findall(r"^(?:import|export)\b[^;]*?from '(\.[^']+)'", text, re.MULTILINE):
                    wanted = os.path.normpath(PurePosixPath(name).parent / imported)
                    assert wanted in names, f"{name} imports {imported}"
