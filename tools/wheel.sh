# Builds the wheel, for install.sh and dist.sh. To be sourced, in the tree.
# shellcheck shell=sh

build_wheel() { # python folder
    # From a copy: setuptools leaves folders in the tree, and what it finds in them from last time would get into the
    # wheel. The date makes the same wheel of the same commit.
    sources=$(mktemp -d)
    cp -R pyproject.toml README.md LICENSE service "$sources"
    rm -rf "$sources"/service/*.egg-info
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 315532800)} \
        "$1" -m pip wheel --quiet --no-deps --wheel-dir "$2" "$sources" || wheel_status=$?
    rm -rf "$sources"
    return "${wheel_status:-0}"
}
