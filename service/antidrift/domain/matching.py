"""Local matching: which app a window belongs to, what a verdict on it holds for, and whether it is allowed already."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from antidrift.domain.model import Key, Window
from antidrift.domain.session import Commitment, Policy
from antidrift.domain.titles import fold, page_title, site_of

# Names under which one app is met on X11, Wayland, as Flatpak or Snap. The canonical name maps to itself by default.
_ALIASES = {
    alias: canonical
    for canonical, aliases in {
        "firefox": "navigator org.mozilla.firefox firefox-esr firefox_firefox firefox-bin",
        "google-chrome": "google-chrome-stable com.google.chrome chrome",
        "chromium": "chromium-browser org.chromium.chromium chromium_chromium",
        "brave-browser": "brave com.brave.browser",
        "microsoft-edge": "com.microsoft.edge microsoft-edge-stable msedge",
        "vivaldi": "vivaldi-stable com.vivaldi.vivaldi",
        "opera": "com.opera.opera",
        "epiphany": "org.gnome.epiphany gnome-web",
        "tor-browser": "torbrowser org.torproject.torbrowser-launcher",
        "zen": "app.zen_browser.zen zen-browser zen-alpha zen-beta",
        "code": "com.visualstudio.code code-oss visual-studio-code vscode",
        "terminal": "org.gnome.terminal gnome-terminal gnome-terminal-server",
        "console": "org.gnome.console kgx",
        "nautilus": "org.gnome.nautilus",
        "telegram": "org.telegram.desktop org.telegram telegramdesktop telegram-desktop",
        "thunderbird": "org.mozilla.thunderbird mail thunderbird-esr",
    }.items()
    for alias in aliases.split()
}

BROWSERS = frozenset(
    "firefox google-chrome chromium brave-browser microsoft-edge vivaldi opera epiphany librewolf tor-browser zen "
    "waterfox floorp falkon qutebrowser".split()
)
# What plays in them matters more than that they run.
_PLAYERS = frozenset(["mpv", "vlc", "totem", "celluloid", "showtime"])

# The shell itself and lock screens: neither work nor drift.
_NEUTRAL = frozenset(
    "gnome-shell mutter mutter-x11-frames org.gnome.shell.extensions plasmashell gnome-screensaver xscreensaver i3lock "
    "light-locker cinnamon-screensaver".split()
)

# "org.gnome.evince". The name of a web app ("chrome-mail.google.com__-default") has another form: it is its own app,
# and not the browser.
_REVERSE_DNS = re.compile(r"[a-z]{2,4}(?:\.[a-z0-9_-]+){2,}")
_GENERIC = frozenset(["app", "application", "browser", "client", "desktop", "editor", "gui", "main", "viewer"])
_DOMAIN = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}")


def canonical_class(name: str, aliases: Mapping[str, str]) -> str:
    """One name for an app, however its window spells it; "" for a blank name. `aliases` are the person's own."""
    text = name.strip().casefold().removesuffix(".desktop")
    if text in aliases:
        return aliases[text]
    canonical = _canonical(text)
    return aliases.get(canonical, canonical)


@lru_cache(maxsize=512)
def _canonical(text: str) -> str:
    if text in _ALIASES:
        return _ALIASES[text]
    if _REVERSE_DNS.fullmatch(text):
        last = text.rpartition(".")[2]
        if last not in _GENERIC:
            return _ALIASES.get(last, last)
    return text


def app_of(window: Window, policy: Policy) -> str:
    """The canonical name of the window's app, "" where it has neither class nor app id."""
    return canonical_class(window.wm_class or window.app_id, policy.aliases)


def is_neutral(window: Window | None, policy: Policy) -> bool:
    """Whether there is nothing to judge: no window, the shell itself, a lock screen, or a window without any name."""
    if window is None:
        return True
    app = app_of(window, policy)
    return app in _NEUTRAL or window.wm_class.casefold() in _NEUTRAL or not (app or window.title.strip())


def is_browser(app: str) -> bool:
    """Whether the title of this app's windows names a page and perhaps its site."""
    return app in BROWSERS


def is_many_purpose(app: str, policy: Policy) -> bool:
    """Whether what matters is in the titles of this app's windows: browsers, players, and what the person named."""
    return is_browser(app) or app in _PLAYERS or app in policy.many_purpose


def key_of(window: Window, policy: Policy) -> Key:
    """What a verdict on this window holds for."""
    app = app_of(window, policy)
    if not app:
        return Key("", fold(window.title), window.window_id)
    if window.private:
        return Key(app, window.title)  # whatever the app is, a private window of it is a thing of its own
    if is_browser(app):
        return Key(app, page_title(window.title))
    return Key(app, fold(window.title)) if is_many_purpose(app, policy) else Key(app)


def site_in(window: Window, policy: Policy) -> str:
    """The site that the window shows, as far as the title tells; "" for anything but a browser."""
    return site_of(window.title) if is_browser(app_of(window, policy)) else ""


def is_allowed(window: Window, commitment: Commitment, policy: Policy) -> bool:
    """Whether the window is on task without asking anybody."""
    always = policy.always_allowed
    site = site_in(window, policy)
    return (
        class_allowed(window, (*commitment.allowed_window_classes, *always.classes), policy)
        or title_allowed(window.title, always.titles)
        or (bool(site) and site.casefold() in {s.casefold() for s in commitment.allowed_sites})
        or domain_allowed(site, always.domains)
        or command_allowed(window.command, always.commands)
        or key_of(window, policy) in commitment.allowed_keys
    )


def class_allowed(window: Window, classes: Iterable[str], policy: Policy) -> bool:
    """Exact match of the canonical class."""
    app = app_of(window, policy)
    return bool(app) and any(canonical_class(name, policy.aliases) == app for name in classes)


def title_allowed(title: str, substrings: Iterable[str]) -> bool:
    """Case-folded substring; a blank substring matches nothing."""
    folded = title.casefold()
    return any(part.strip() and part.strip().casefold() in folded for part in substrings)


def domain_allowed(site: str, domains: Iterable[str]) -> bool:
    """The site is the domain or below it ("docs.github.com" for "github.com").

    Titles seldom spell a domain out, so a site's name also stands for the domain that it is the main label of:
    "Stack Overflow" for "stackoverflow.com".
    """
    name = site.strip().rstrip(".").casefold()
    if not name:
        return False
    for domain in domains:
        wanted = domain.strip().rstrip(".").casefold()
        if not wanted:
            continue
        if _DOMAIN.fullmatch(name):
            if name == wanted or name.endswith("." + wanted):
                return True
        elif wanted.count(".") == 1 and re.sub(r"[\s_-]", "", name) == wanted.partition(".")[0].replace("-", ""):
            return True
    return False


def command_allowed(command: str, commands: Iterable[str]) -> bool:
    """Base name of the executable, case-folded."""
    base = command.strip().rpartition("/")[2].casefold()
    return bool(base) and any(name.strip().rpartition("/")[2].casefold() == base for name in commands)
