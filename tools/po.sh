#!/bin/sh
# Gathers the texts of the extension into po/antidrift.pot and brings the translations up to them; `po.sh --check` only
# says whether that is so, and whether every text has been translated.
set -eu
cd "$(dirname "$0")/../gnome-extension"

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

find . -name '*.js' | LC_ALL=C sort | sed 's|^\./||' >"$made/sources"
xgettext --files-from="$made/sources" --output="$made/antidrift.pot" --language=JavaScript --from-code=UTF-8 \
    --keyword --keyword=_ --keyword=ngettext:1,2 --add-comments=Translators --add-location=file \
    --package-name=AntiDrift --copyright-holder='The AntiDrift authors'
sed -i '1,4s/^# SOME DESCRIPTIVE TITLE\./# The texts of the AntiDrift extension/
    1,6s/^# Copyright (C) YEAR/# Copyright (C) 2026/
    1,6s/same license as the AntiDrift package/same license as AntiDrift, GPL-3.0-or-later/
    1,20s/charset=CHARSET/charset=UTF-8/' "$made/antidrift.pot"

if [ "${1:-}" = --check ]; then
    # By their texts, since how the files are laid out differs from one version of gettext to another.
    if ! msgcmp --use-untranslated po/antidrift.pot "$made/antidrift.pot" >"$made/new" 2>&1; then
        grep -v '^msgcmp:' "$made/new" >&2
        echo 'po/antidrift.pot is out of date; run `make po`' >&2
        exit 1
    fi
    for translation in po/*.po; do
        msgfmt --check --output-file=/dev/null "$translation"
        msgcmp "$translation" "$made/antidrift.pot"
    done
    exit
fi

undated() { grep -v '^"POT-Creation-Date: ' "$1"; }
if ! [ -e po/antidrift.pot ] || [ "$(undated po/antidrift.pot)" != "$(undated "$made/antidrift.pot")" ]; then
    cp "$made/antidrift.pot" po/antidrift.pot
fi
for translation in po/*.po; do
    [ -e "$translation" ] || continue
    msgmerge --quiet --update --backup=none --no-fuzzy-matching --add-location=file "$translation" po/antidrift.pot
    echo "$translation: $(LC_ALL=C msgfmt --statistics --output-file=/dev/null "$translation" 2>&1)"
done
