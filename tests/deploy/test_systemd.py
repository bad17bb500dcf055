"""The units name what the product has; systemd itself verifies them where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from .product import DEPLOY, GRACE, STOP_LEEWAY, check_node

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
PROGRAM = "/opt/drumbeat/bin/drumbeat"


def settings(unit: Path) -> dict[str, list[str]]:
    """All values of each setting; the names are unique over the sections."""
    found: dict[str, list[str]] = defaultdict(list)
    for line in unit.read_text(encoding="utf-8").splitlines():
        name, separator, value = line.partition("=")
        if separator and not line.startswith("#"):
            found[name].append(value)
    return found


def test_there_is_a_unit_for_each_role() -> None:
    names = [unit.name.removeprefix("drumbeat-") for unit in UNITS]
    assert names == ["api.service", "scheduler.service", "worker@.service"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_its_command_and_its_variables_exist(unit: Path) -> None:
    said = settings(unit)
    (command,) = said["ExecStart"]
    program, *arguments = command.split()
    assert program == PROGRAM
    assert arguments[0] == re.sub(r"drumbeat-|@|\.service", "", unit.name)
    variables = dict(value.replace("%i", "9091").split("=", 1) for value in said["Environment"])
    check_node(arguments, variables)
    credentials = {value.partition(":")[0] for value in said["LoadCredential"]}
    files = {value for name, value in variables.items() if name.endswith("_FILE")}
    assert files == {f"%d/{name}" for name in credentials}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_it_may_finish_its_jobs(unit: Path) -> None:
    said = settings(unit)
    assert said["KillSignal"] == ["SIGTERM"]
    assert said["KillMode"] == ["mixed"], "processes of handlers must not be told"
    assert float(said["TimeoutStopSec"][0]) >= GRACE + STOP_LEEWAY


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_it_does_not_promise_to_notify(unit: Path) -> None:
    assert settings(unit)["Type"] == ["exec"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_no_fault(unit: Path, tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("NOT TESTED by systemd: systemd-analyze is missing; apt-get install systemd")
    here = tmp_path / unit.name
    text = unit.read_text(encoding="utf-8")
    here.write_text(text.replace(PROGRAM, sys.executable), encoding="utf-8")
    done = subprocess.run(
        [program, "verify", "--man=no", str(here)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    ours = [line for line in done.stderr.splitlines() if unit.name.partition("@")[0] in line]
    assert (done.returncode, ours) == (0, [])
