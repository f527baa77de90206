# Where an installation lies, for install.sh and uninstall.sh, which must agree. To be sourced, in the tree.
# shellcheck shell=sh disable=SC2034 # the variables are used where this is sourced

xdg() { # value default; a relative path counts as unset (XDG Base Directory Specification)
    case $1 in
        /*) printf '%s\n' "$1" ;;
        *) printf '%s\n' "$2" ;;
    esac
}

data=$(xdg "${XDG_DATA_HOME:-}" "$HOME/.local/share")
config=$(xdg "${XDG_CONFIG_HOME:-}" "$HOME/.config")
states=$(xdg "${XDG_STATE_HOME:-}" "$HOME/.local/state")

# What the program is made of. Every installation is a folder of its own, `venv-…`; `venv` is a link to the one in use.
program=$data/antidrift
venv=$program/venv
bin=$HOME/.local/bin

# What makes it known to others.
activation=$data/dbus-1/services/org.antidrift.Session.service
unit=$config/systemd/user/antidrift.service
no_ai=$config/systemd/user/antidrift.service.d/no-ai.conf
man=$data/man/man1
bash_completion=$data/bash-completion/completions/antidrift
zsh_completion=$data/zsh/site-functions/_antidrift
fish_completion=$data/fish/vendor_completions.d/antidrift.fish
uuid=antidrift@antidrift.org
extension=$data/gnome-shell/extensions/$uuid

# What is the person's.
state=$states/antidrift
settings=$config/antidrift

bus_call() { # method signature argument...
    busctl --user call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus "$@" 2>/dev/null
}

running() { # prints the process id of the service; fails if it does not run
    bus_call GetConnectionUnixProcessID s org.antidrift.Session | sed -n 's/^u //p' | grep .
}

runs_from() { # folder; whether any process does
    # shellcheck disable=SC2062 # the pattern comes by standard input, so that grep does not find itself
    printf '%s/\n' "$1" | grep -qsaF -f - /proc/[0-9]*/cmdline
}
