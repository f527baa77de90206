"""`antidrift explain`: what an AI would be sent about the window in focus, or why nothing.

It is worked out here, from the state of the service, by the very code that the service sends with; the config file is
read as the service reads it, with its environment.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from antidrift.bus.client import Client
from antidrift.cli.doctor.service import environment_of
from antidrift.cli.output import Output
from antidrift.cli.render import View
from antidrift.cli.session import Unsuccessful
from antidrift.cli.text import clean
from antidrift.config import Paths, load_config
from antidrift.domain import drift, privacy
from antidrift.domain.matching import app_of, is_allowed, key_of
from antidrift.domain.model import Instant, Window
from antidrift.domain.private_windows import PRIVATE_TITLE
from antidrift.domain.requests import JudgeRequest
from antidrift.domain.session import Commitment, Policy
from antidrift.roles.drift_judge import DRIFT_JUDGE


@dataclass(frozen=True, slots=True)
class Explanation:
    """`because`: why nothing is sent now; "" if it is. `request`: what a judgement would be asked, None: none is made.

    `also` says where else the title may turn up.
    """

    because: str = ""
    request: JudgeRequest | None = None
    also: str = ""


async def run(arguments: argparse.Namespace, out: Output) -> int:
    """Prints the explanation. Raises what `bus.client` raises."""
    async with Client.connect() as client:
        view = (await client.state(start=False)).view
        pid = await client.process_id()
    environ = environment_of(pid) or os.environ
    paths = Paths.from_environment(environ)
    if _changed_since(pid, paths.config_file):
        raise Unsuccessful(
            f"{paths.config_file} was changed after the service had started, which still goes by what it was: "
            "`antidrift doctor` says how to restart it."
        )
    found = explained(view, load_config(paths, environ).config.policy(environ))
    _print(found, view["ai"]["backend"], arguments.json, out)
    return 0


def _changed_since(pid: int | None, file: Path) -> bool:
    """Whether a file was changed after a process had started."""
    try:
        # proc(5): the time after boot, in ticks, is the 20th field behind the name of the program.
        ticks = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
        changed = file.stat().st_ctime
    except (OSError, ValueError, LookupError):
        return False
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    # A tick more, since they are counted whole. It takes Python longer than that to get to the file.
    return changed > booted + (ticks + 1) / os.sysconf("SC_CLK_TCK")


def explained(view: View, policy: Policy) -> Explanation:
    """What follows from the state of the service."""
    if view["runtime_state"] != "active":
        return Explanation("no session is running, and outside of one no window is judged")
    if view["evidence"]["window"] is None:
        return Explanation("no window has the focus, or none that counts")
    shown = view["evidence"]["window"]
    window = Window(shown["class"], shown["title"], private=shown["title"] == PRIVATE_TITLE)
    if window.private:
        return Explanation("it is a private window, of which nobody sees more than the class")
    if nobody := _nobody_is_asked(view):
        return Explanation(nobody)

    commitment = _commitment(view)
    also = _also(window, policy)
    if not privacy.may_be_judged(window, policy):
        return Explanation(_untold(window, policy), also=also)
    status = view["drift"]["status"]
    if is_allowed(window, commitment, policy):
        return Explanation("it is on task, by what you allowed", also=also)
    request = privacy.for_ai(drift.judge_request(commitment, window, key_of(window, policy)), policy)
    assert isinstance(request, JudgeRequest)
    if view["away"]["active"]:
        return Explanation("you count as away", request, also)
    match status:
        case "pending":
            return Explanation("", request, also)
        case "ontask" | "drifting":
            return Explanation("there is an answer about it already", request, also)
        case _:
            return Explanation("it was asked about just now, and is not again before it is seen anew", request, also)


def _nobody_is_asked(view: View) -> str:
    ai = view["ai"]
    if ai["backend"] == "none":
        return "no AI program is set up"
    if ai["consent"] != "given":
        return "you have not allowed an AI to see window titles; `antidrift ai allow` would"
    if not ai["available"]:
        return f"{ai['backend']} cannot be asked" + (f": {clean(ai['error']['message'])}" if ai["error"] else "")
    if ai["retry_at_ms"] is not None:
        again = datetime.fromtimestamp(ai["retry_at_ms"] / 1000).astimezone()
        return f"{ai['backend']} failed too often, and is not asked before {again:%H:%M}"
    return ""


def _untold(window: Window, policy: Policy) -> str:
    excluded = app_of(window, policy) in policy.exclude_apps
    setting = f"exclude_apps holds {clean(window.wm_class)}" if excluded else 'titles = "never" is set'
    return f"{setting}, and without its title it cannot be judged"


def _also(window: Window, policy: Policy) -> str:
    title = clean(privacy.title_for_nudge(window, policy))
    if not title:
        return f"When the session ends, the look-back is sent its class, {clean(window.wm_class)}, and for how long."
    return f"A nudge, and the look-back when the session ends, may be sent the title as: {title}"


def _commitment(view: View) -> Commitment:
    seen = view["commitment"]
    return Commitment(
        seen["id"],
        seen["next_action"],
        seen["success_condition"],
        seen["timebox_secs"],
        Instant(0.0, seen["started_at_ms"]),
        0.0,
        tuple(seen["allowed_window_classes"]),
        tuple(seen["allowed_sites"]),
    )


def _print(found: Explanation, backend: str, as_json: bool, out: Output) -> None:
    instruction = prompt = None
    if found.request is not None:
        instruction, prompt = DRIFT_JUDGE.instruction, DRIFT_JUDGE.prompt(found.request)
    if as_json:
        explanation: Mapping[str, object] = {
            "sent": not found.because,
            "because": found.because or None,
            "backend": backend,
            "role": DRIFT_JUDGE.name,
            "instruction": instruction,
            "prompt": prompt,
            "also": found.also or None,
        }
        out.data(json.dumps(explanation))
        return
    if found.because:
        out.say(f"Nothing would be sent about it now, because {found.because}.")
    if instruction is not None and prompt is not None:
        lead = "If it were judged as it looks now, this would go" if found.because else "This goes"
        out.say(f"{lead} to {backend}. The mark before and after the data is a new one each time.")
        out.lines(["", "--- instruction", instruction, "--- prompt", prompt, "---", ""])
    if found.also:
        out.say(found.also)
