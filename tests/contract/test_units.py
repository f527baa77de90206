"""What makes the service known to systemd, to the bus and to a reader agrees with the service."""

from __future__ import annotations

import configparser
import os
import re
import subprocess
from pathlib import Path

import pytest

from antidrift.bus.names import BUS_NAME
from antidrift.cli.arguments import make_parser
from antidrift.cli.completion import places_of

TREE = Path(__file__).parents[2]
UNIT = TREE / "systemd/antidrift.service"
NO_AI = TREE / "systemd/antidrift-no-ai.conf"
ACTIVATION = TREE / "dbus/org.antidrift.Session.service.in"


def read(file: Path) -> configparser.ConfigParser:
    # Keys may come again, as in any unit; the last one counts here.
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign] # the name of an option is not in lower case
    parser.read_string(file.read_text())
    return parser


@pytest.fixture(params=[False, True], ids=["the unit", "the unit without AI programs"])
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A home in which the unit lies as `make install` puts it, with or without its drop-in."""
    units = tmp_path / ".config/systemd/user"
    (units / "antidrift.service.d").mkdir(parents=True)
    (units / UNIT.name).write_text(UNIT.read_text())
    if request.param:
        (units / "antidrift.service.d/no-ai.conf").write_text(NO_AI.read_text())
    program = tmp_path / ".local/bin/antidriftd"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def analyze(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "DBUS_"))}
    return subprocess.run(
        ["systemd-analyze", "--user", *arguments],
        env={**environment, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )


def test_systemd_finds_no_fault_in_it(installed: Path) -> None:
    verified = analyze(installed, "verify", "--man=no", "antidrift.service")
    assert (verified.returncode, verified.stdout) == (0, "")


def test_it_is_as_closed_as_the_documentation_says(installed: Path) -> None:
    documented = re.findall(r"^\| .*\*\*(\d\.\d)\*\*", (TREE / "docs/SYSTEMD.md").read_text(), re.MULTILINE)
    unit, no_ai = (float(figure) for figure in documented)
    limit = no_ai if any(installed.glob(".config/systemd/user/*.d/*.conf")) else unit
    file = installed / ".config/systemd/user/antidrift.service"
    said = analyze(installed, "security", "--offline=true", "--no-pager", str(file)).stdout
    found = re.search(r"Overall exposure level .*: (\d+\.\d+)", said)
    assert found is not None, said
    assert float(found[1]) <= limit + 0.3, "the scale moves a little from version to version"


def test_every_restriction_has_its_reason() -> None:
    reasons = (TREE / "docs/SYSTEMD.md").read_text()
    options = {*read(UNIT)["Service"], *read(NO_AI)["Service"]}
    assert {option for option in options if f"`{option}" not in reasons} == set()


def test_bus_systemd_and_service_mean_the_same_name() -> None:
    activation = read(ACTIVATION)["D-BUS Service"]
    assert activation["Name"] == BUS_NAME
    assert ACTIVATION.name == f"{BUS_NAME}.service.in", "dbus-daemon expects a file to be called as what it starts"
    assert activation["SystemdService"] == UNIT.name
    assert read(UNIT)["Service"]["BusName"] == BUS_NAME


def test_a_service_whose_bus_has_gone_is_started_again_but_not_for_ever() -> None:
    """It exits with 1 then, which `on-failure` is for (systemd.service(5)); told to stop, it exits with 0."""
    unit = read(UNIT)
    assert unit["Service"]["Restart"] == "on-failure"
    burst, interval = int(unit["Unit"]["StartLimitBurst"]), int(unit["Unit"]["StartLimitIntervalSec"])
    assert burst * int(unit["Service"]["RestartSec"]) < interval


def test_the_manual_page_names_every_command_and_option() -> None:
    page = (TREE / "man/antidrift.1").read_text().replace("\\-", "-")
    said = {word for place in places_of(make_parser()) for word in (*place.words, *place.options)}
    assert {word for word in said if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", page)} == set()


@pytest.mark.parametrize("page", sorted(TREE.glob("man/*.1")), ids=lambda page: page.name)
def test_a_manual_page_can_be_found_by_what_it_is_for(page: Path) -> None:
    assert re.search(rf"^\.SH NAME\n{page.stem} \\- \S", page.read_text(), re.MULTILINE), "as whatis(1) reads it"
