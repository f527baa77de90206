#!/bin/sh
# Writes what is handed to others into dist/: the wheel, and the zip that `gnome-extensions install` takes.
set -eu
cd "$(dirname "$0")/.."
. tools/wheel.sh

mkdir -p dist
rm -f dist/antidrift-*.whl dist/*.shell-extension.zip
build_wheel .venv/bin/python dist
if [ -e gnome-extension/metadata.json ]; then
    # Whoever installs for themselves can do without translations; what is handed to others cannot.
    command -v msgfmt >/dev/null || { echo "msgfmt is missing (on Debian and its relatives: apt install gettext)" >&2; exit 1; }
    .venv/bin/python tools/pack_extension.py gnome-extension dist >/dev/null
fi
ls -l dist
