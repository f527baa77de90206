"""Packs the GNOME Shell extension as `gnome-extensions install` takes it: `pack_extension.py FOLDER INTO`.

Not by `gnome-extensions pack`, since that is found only beside a GNOME Shell, and its zips differ from run to run. What
belongs in it is listed here, so that nothing meant for development gets in: extensions.gnome.org refuses that.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

SHIPPED = (
    "metadata.json",
    "extension.js",
    "prefs.js",
    "stylesheet*.css",
    "lib/**/*.js",
    "ui/**/*.js",
    "generated/**/*.js",
    "icons/**/*.svg",
    "schemas/*.gschema.xml",  # compiled by whoever installs it, since GNOME 45
)

EARLIEST = 315532800
"""The first second that a zip can name, 1980-01-01, as Unix time."""


def main() -> int:
    """Writes the zip and prints its path. Translations need msgfmt; without it they are left out, and that is said."""
    source, into = Path(sys.argv[1]), Path(sys.argv[2])
    metadata = json.loads((source / "metadata.json").read_text())
    path = into / f"{metadata['uuid']}.shell-extension.zip"
    with tempfile.TemporaryDirectory() as made:
        catalogs = dict(_catalogs(source / "po", Path(made), metadata.get("gettext-domain", metadata["uuid"])))
        _write(path, _shipped(source) | catalogs)
    print(path)
    return 0


def _shipped(source: Path) -> dict[str, Path]:
    found = (file for pattern in SHIPPED for file in source.glob(pattern))
    return {str(file.relative_to(source)): file for file in found}


def _catalogs(po: Path, made: Path, domain: str) -> Iterator[tuple[str, Path]]:
    sources = sorted(po.glob("*.po"))
    msgfmt = shutil.which("msgfmt")
    if sources and msgfmt is None:
        print("Without translations: there is no msgfmt here (package gettext).", file=sys.stderr)
        return
    for source in sources:
        compiled = made / f"{source.stem}.mo"
        subprocess.run([str(msgfmt), "--check", "-o", compiled, source], check=True)  # noqa: S603 # a program we looked up
        yield f"locale/{source.stem}/LC_MESSAGES/{domain}.mo", compiled


def _write(path: Path, files: dict[str, Path]) -> None:
    # Order, date and rights do not depend on where this runs, so the same tree gives the same bytes.
    date = time.gmtime(max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST))))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name].read_bytes())


if __name__ == "__main__":
    sys.exit(main())
