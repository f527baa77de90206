#!/bin/sh
# Makes .venv and brings what it needs from the system: `setup.sh run` to use AntiDrift, `setup.sh test` to work on it.
#
# Every need is tested by what it is for (a command, a header), not by a package's name, so that a Python or a compiler
# from elsewhere counts too. What is missing is installed on Debian and its relatives, and only named anywhere else.
# With nothing to do it ends in some hundredths of a second. PYTHON=python3.12 chooses the interpreter of a new .venv.
set -eu

purpose=${1:-run}
cd "$(dirname "$0")/.."
here=$(pwd -P)

# One need a line: kind, name, and the Debian package that brings it.
needs_to_run='
python   venv            python3-venv
command  dbus-daemon     dbus
'
needs_to_test='
python   Python.h        python3-dev
command  cc              gcc
header   stdio.h         libc6-dev
command  pkg-config      pkg-config
library  dbus-1          libdbus-1-dev
library  glib-2.0        libglib2.0-dev
library  libsystemd      libsystemd-dev
command  busctl          systemd
unit     dbus.socket     dbus-user-session
command  gdbus           libglib2.0-bin
command  Xvfb            xvfb
command  openbox         openbox
command  xterm           xterm
command  xdotool         xdotool
command  xprop           x11-utils
command  node            nodejs
command  npm             npm
command  xgettext        gettext
'

case $purpose in
    run) needs=$needs_to_run extras= ;;
    test) needs=$needs_to_run$needs_to_test extras='[dev]' ;;
    *) echo "usage: $0 run|test" >&2; exit 2 ;;
esac

# `set-up-test` stands for both purposes, since whoever may test may also run.
fingerprint() {
    echo "$here" && .venv/bin/python --version && cksum pyproject.toml tools/setup.sh
}
is_set_up() {
    [ -x .venv/bin/python ] && fingerprint 2>/dev/null | cmp -s - ".venv/set-up-$1"
}
if is_set_up test || is_set_up "$purpose"; then
    exit 0
fi

find_python() {
    for candidate in ${PYTHON:-python3 python3.15 python3.14 python3.13 python3.12 python3.11}; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
}

is_there() { # kind name
    case $1 in
        command) command -v "$2" ;;
        header) echo "#include <$2>" | cc -E - ;;
        library) pkg-config --exists "$2" ;;
        unit) test -e "/usr/lib/systemd/user/$2" ;;
        python)
            [ -n "$python" ] && case $2 in
                venv) "$python" -c 'import ensurepip, venv' ;;
                Python.h) test -e "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ;;
            esac
            ;;
    esac >/dev/null 2>&1
}

missing() { # prints the lines of $needs that are not met
    echo "$needs" | while read -r kind name package; do
        [ -z "$kind" ] || is_there "$kind" "$name" || echo "$kind $name $package"
    done
}

packages() { # of the lines on standard input; those of another Python than Debian's own carry its name
    while read -r kind _ package; do
        case $kind:$python in
            python:python3.*) echo "$python-${package#python3-}" ;;
            *) echo "$package" ;;
        esac
    done | sort -u | tr '\n' ' '
}

is_debian() {
    command -v apt-get >/dev/null && grep -qE '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "This needs root, and there is no sudo here. As root: $*" >&2
        exit 1
    fi
}

require_python() {
    if [ -z "$python" ]; then
        echo "Missing: ${PYTHON:-python3}, version 3.11 or later" >&2
        exit 1
    fi
}

python=$(find_python)
[ -z "${PYTHON:-}" ] || require_python
lacking=$(missing)
if [ -n "$lacking" ] && is_debian; then
    wanted=$(echo "$lacking" | packages)
    echo "Installing: $wanted"
    as_root apt-get update -q
    # shellcheck disable=SC2086 # one argument for each package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $wanted
    python=$(find_python)
    lacking=$(missing)
fi
require_python
if [ -n "$lacking" ]; then
    echo "Missing, with the name of the Debian package that would bring it:" >&2
    echo "$lacking" | while read -r kind name package; do
        echo "  $kind $name ($package)" >&2
    done
    exit 1
fi

# A .venv holds its own absolute path, and its interpreter may have been replaced by a system upgrade.
is_sound() {
    [ -x .venv/bin/python ] && grep -qF -- "$here/.venv" .venv/pyvenv.cfg && .venv/bin/python -m pip --version
} >/dev/null 2>&1

if ! is_sound; then
    echo "Making .venv with $("$python" --version)"
    "$python" -m venv --clear "$here/.venv"
fi
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".$extras"
fingerprint >".venv/set-up-$purpose"
