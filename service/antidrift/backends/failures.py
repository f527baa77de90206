"""Why an AI program failed, as far as its own words tell.

The words are looked at in memory and dropped: they can quote the prompt, so they are neither logged nor shown.
"""

from __future__ import annotations

import re

from antidrift.domain.model import FaultCode

# The first that matches counts. codex tells of lost connections also on its way to a refusal, so OFFLINE is last.
_SIGNS = {
    FaultCode.RATE_LIMITED: re.compile(
        r"\b429\b|\b529\b|rate.?limit|too many requests|usage limit|limit reached|hit your [\w -]{0,20}limit|quota"
        r"|credit balance|overloaded"
    ),
    FaultCode.NOT_LOGGED_IN: re.compile(
        r"not logged in|\"loggedin\": ?false|/login\b|\b401\b|unauthorized|authentication|invalid (x-)?api.?key"
        r"|oauth token|refresh token"
    ),
    FaultCode.OFFLINE: re.compile(
        r"unable to connect|connection (failed|error|refused|reset|closed|timed out)|connect(ion)? timeout"
        r"|error sending request|failed to lookup|getaddrinfo|dns error|network is unreachable|fetch failed"
        r"|request timed out|stream disconnected|enotfound|eai_again|econnrefused|econnreset|etimedout"
    ),
}
_REFUSED_OPTION = re.compile(r"unknown option|unexpected argument|unrecognized option|invalid value .{0,300} for '--")
_REFUSED_MODEL = re.compile(r"selected model|model.{0,60}(not found|not exist|not supported|not available)")


def classify(text: str, quoted: str) -> FaultCode:
    """The code that `text`, everything a failed program wrote, stands for; FAILED where nothing in it is known.

    Lines that are also lines of `quoted`, the prompt, say nothing: a window may be titled "429 Too Many Requests".
    """
    said = _said(text, quoted)
    return next((code for code, sign in _SIGNS.items() if sign.search(said)), FaultCode.FAILED)


def refuses_option(text: str, quoted: str) -> bool:
    """True if the program did not take its arguments."""
    return _REFUSED_OPTION.search(_said(text, quoted)) is not None


def refuses_model(text: str, quoted: str) -> bool:
    """True if the program or its service does not have the model that was asked for."""
    return _REFUSED_MODEL.search(_said(text, quoted)) is not None


def _said(text: str, quoted: str) -> str:
    theirs = {line.strip() for line in quoted.splitlines()}
    return "\n".join(line for line in text.splitlines() if line.strip() not in theirs).lower()
