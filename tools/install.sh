#!/bin/sh
# Installs AntiDrift for the person who runs this, without root.
#
# Everything new is made and tried beside what is there before anything is replaced, so a failure on the way (no network,
# a full disk) leaves the installation that was there as it was. PYTHON=python3.12 chooses the interpreter; NO_AI=1 adds
# the stricter settings of systemd/antidrift-no-ai.conf, and NO_AI=0 takes them away again.
set -eu
cd "$(dirname "$0")/.."
. tools/places.sh
. tools/wheel.sh
unset PYTHONPATH PYTHONHOME
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '%s\n' "$@"; }
fail() { printf 'Not installed: %s\n' "$*" >&2; exit 1; }

check_home() {
    # With sudo, HOME may still be the person's: root's files in it could not be replaced or removed later.
    [ -O "$HOME" ] || fail "$HOME belongs to somebody else. Run this as yourself, without sudo."
}

check_links() {
    for name in antidrift antidriftd; do
        if [ -e "$bin/$name" ] || [ -L "$bin/$name" ]; then
            [ "$(readlink "$bin/$name")" = "$venv/bin/$name" ] || fail "$bin/$name is not of this installation. Move it away."
        fi
    done
}

find_python() {
    for python in ${PYTHON:-python3 python3.15 python3.14 python3.13 python3.12 python3.11}; do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            "$python" -c 'import ensurepip, venv' 2>/dev/null ||
                fail "$python has no venv module (on Debian and its relatives: apt install python3-venv)."
            return
        fi
    done
    fail "${PYTHON:-python3}, version 3.11 or later, is not here."
}

clean_up() {
    rm -rf "$work"
    [ "$(readlink "$venv")" = "$generation" ] || rm -rf "$generation"
    rmdir "$program" 2>/dev/null || :
}

make_program() {
    "$python" -m venv "$generation"
    build_wheel "$generation/bin/python" "$work"
    "$generation/bin/python" -m pip install --quiet "$work"/antidrift-*.whl
    version=$("$generation/bin/antidriftd" --version)
    "$generation/bin/python" -c 'import antidrift.app'
    for shell in bash zsh fish; do
        "$generation/bin/antidrift" completion "$shell" >"$work/completion.$shell"
    done
}

make_activation() {
    # Quoted for a shell, as the D-Bus Specification has it for Exec, and that again as a value in a desktop entry;
    # then once more for the right-hand side of sed.
    quoted=$(printf '%s' "$venv/bin/antidriftd" |
        sed -e "s/'/'\\\\''/g" -e "s/^/'/" -e "s/\$/'/" -e 's/\\/\\\\/g' -e 's/[\\&|]/\\&/g')
    sed "s|@antidriftd@|$quoted|" dbus/org.antidrift.Session.service.in >"$work/activation"
}

put() { # file destination; nobody ever sees half of it
    mkdir -p "${2%/*}"
    cp "$1" "$2.new"
    chmod 644 "$2.new"
    mv -f "$2.new" "$2"
}

link() { # target name; -T because a link to a folder is not to be followed
    mkdir -p "${2%/*}"
    ln -sfn "$1" "$2.new"
    mv -fT "$2.new" "$2"
}

replace() {
    link "$generation" "$venv"
    link "$venv/bin/antidrift" "$bin/antidrift"
    link "$venv/bin/antidriftd" "$bin/antidriftd"
    put "$work/activation" "$activation"
    put systemd/antidrift.service "$unit"
    case ${NO_AI:-} in
        1)
            put systemd/antidrift-no-ai.conf "$no_ai"
            mkdir -p "$state" && chmod 700 "$state" # here, since the service will not be able to
            ;;
        0)
            rm -f "$no_ai"
            rmdir "${no_ai%/*}" 2>/dev/null || :
            ;;
    esac
    put man/antidrift.1 "$man/antidrift.1"
    put man/antidriftd.1 "$man/antidriftd.1"
    put "$work/completion.bash" "$bash_completion"
    put "$work/completion.zsh" "$zsh_completion"
    put "$work/completion.fish" "$fish_completion"
}

tell_systemd() {
    if ! systemctl --user daemon-reload 2>/dev/null; then
        say "No systemd user manager answers here, so the unit is not enabled. Where there is one:" \
            "systemctl --user daemon-reload && systemctl --user enable antidrift.service"
        return
    fi
    # Only once: who has disabled it since does not want it enabled.
    [ "$is_new" = no ] || systemctl --user enable --quiet antidrift.service || say "The unit could not be enabled."
    if [ -e "$no_ai" ] && ! systemd-run --user --wait --quiet -p PrivateUsers=yes -p ProtectSystem=strict true; then
        say "The settings of NO_AI=1 cannot work here: this system forbids user namespaces." \
            "Take them away again: make install NO_AI=0"
    fi
    systemctl --user try-restart antidrift.service ||
        say "The new version does not start. See why: journalctl --user -u antidrift.service"
}

tell_bus() {
    if ! bus_call ReloadConfig; then
        say "No session bus answers here; the next one that is started finds the service."
    elif ! bus_call ListActivatableNames | grep -qF '"org.antidrift.Session"'; then
        say "The session bus does not look into $data. Log out and in, with XDG_DATA_HOME set for the whole desktop."
    elif pid=$(running) && ! tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qF "$generation/"; then
        say "The service that runs is still the one from before. End it with: kill $pid" \
            "The next command starts the new one, and the session goes on."
    fi
}

remove_old_programs() {
    for old in "$program"/venv-*; do
        [ "$old" = "$generation" ] || runs_from "$old" || rm -rf "$old"
    done
}

install_extension() {
    if [ ! -e gnome-extension/metadata.json ]; then
        say "There is no GNOME Shell extension in this tree."
    elif ! command -v gnome-extensions >/dev/null; then
        say "There is no gnome-extensions command here, so the GNOME Shell extension is left out."
    elif "$generation/bin/python" tools/pack_extension.py gnome-extension "$work" >/dev/null &&
        gnome-extensions install --force "$work/$uuid.shell-extension.zip"; then
        has_extension=yes
    else
        say "The GNOME Shell extension could not be installed; the rest works without it."
    fi
}

say_what_is_next() {
    say "" "$version is installed."
    case ":$PATH:" in
        *":$bin:"*) command=antidrift ;;
        *)
            command=$bin/antidrift
            say "- $bin is not on your PATH. Put it there, or log out and in, for the short name: antidrift"
            ;;
    esac
    if [ "$has_extension" = yes ]; then
        say "- Log out and in, so that GNOME Shell sees the new extension. Then, once: gnome-extensions enable $uuid"
    fi
    case ${SHELL:-} in
        */zsh) say "- For completion in zsh, before compinit in ~/.zshrc: fpath+=('${zsh_completion%/*}')" ;;
    esac
    say "- See whether everything is there that is needed: $command doctor" \
        "- Start a session: $command start --minutes 25 'what you want to get done'"
}

check_home
check_links
find_python
say "Installing AntiDrift for $(id -un) in $program"
is_new=yes has_extension=no
[ ! -e "$unit" ] || is_new=no
mkdir -p "$program"
generation=$(mktemp -d "$program/venv-XXXXXX")
work=$(mktemp -d)
trap clean_up EXIT
trap 'exit 1' HUP INT PIPE TERM
make_program
make_activation
replace
tell_systemd
tell_bus
install_extension
remove_old_programs
say_what_is_next
