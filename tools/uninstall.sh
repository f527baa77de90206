#!/bin/sh
# Takes away what install.sh has put in place, and nothing else. PURGE=1 takes the person's sessions and settings too.
set -eu
cd "$(dirname "$0")/.."
. tools/places.sh

say() { printf '%s\n' "$@"; }

stop() {
    systemctl --user disable --quiet --now antidrift.service 2>/dev/null || :
    # Where the bus has started it, not systemd. Asked once: it saves its state and goes.
    pid=$(running) || return 0
    if tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qF "$program/venv"; then
        kill "$pid"
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            running >/dev/null || return 0
            sleep 0.5
        done
        say "The service (process $pid) does not end; go on all the same."
    fi
}

prune() { # base folder; removes the folders from base/folder upwards that are empty, but never the base
    (cd "$1" 2>/dev/null && rmdir -p "$2" 2>/dev/null) || :
}

remove_extension() {
    [ -e "$extension" ] || [ -L "$extension" ] || return 0
    gnome-extensions uninstall "$uuid" >/dev/null 2>&1 || : # so that a running shell forgets it
    rm -rf "$extension"
}

remove_program() {
    for name in antidrift antidriftd; do
        case $(readlink "$bin/$name") in
            "$program"/*) rm -f "$bin/$name" ;;
        esac
    done
    rm -f "$activation" "$unit" "$no_ai" "$config/systemd/user/graphical-session.target.wants/antidrift.service" \
        "$man/antidrift.1" "$man/antidriftd.1" "$bash_completion" "$zsh_completion" "$fish_completion"
    rm -rf "$venv" "$program"/venv-*
}

remove_empty_folders() {
    prune "$data" antidrift
    prune "$data" dbus-1/services
    prune "$data" man/man1
    prune "$data" bash-completion/completions
    prune "$data" zsh/site-functions
    prune "$data" fish/vendor_completions.d
    prune "$data" gnome-shell/extensions
    prune "$config" systemd/user/antidrift.service.d
    prune "$config" systemd/user/graphical-session.target.wants
    prune "$config" systemd/user
    prune "$HOME" .local/bin
}

tell() {
    systemctl --user daemon-reload 2>/dev/null || :
    bus_call ReloadConfig || :
}

# The person's own

purge() {
    rm -rf "$state" "$settings"
    ! command -v dconf >/dev/null || dconf reset -f /org/gnome/shell/extensions/antidrift/ 2>/dev/null || :
    say "Your sessions and settings are gone too."
}

say_what_was_kept() {
    kept=
    for folder in "$state" "$settings"; do
        [ ! -e "$folder" ] || kept="$kept
  $folder"
    done
    [ -z "$kept" ] || say "Your sessions and settings were kept in:$kept" "To remove them too: make uninstall PURGE=1"
}

stop
remove_extension
remove_program
remove_empty_folders
tell
say "AntiDrift is not installed any more."
if [ "${PURGE:-}" = 1 ]; then
    purge
else
    say_what_was_kept
fi
[ -z "${ANTIDRIFT_HOME:-}" ] || say "What is in ANTIDRIFT_HOME ($ANTIDRIFT_HOME) was left alone."
