"""What an app in memory imports before it is started: every process waits for it."""

from __future__ import annotations

import subprocess
import sys

FORBIDDEN = (
    "aiohttp",
    "asyncpg",
    "click",
    "dotenv",
    "drumbeat.api",
    "drumbeat.backends.postgres",
    "drumbeat.backends.sqlite",
    "drumbeat.cli",
    "drumbeat.engine.executing",
    "drumbeat.engine.lifecycle",
    "drumbeat.engine.maintenance",
    "drumbeat.fleet.remote",
    "drumbeat.telemetry.metrics",
    "drumbeat.wiring.lifecycle",
    "drumbeat.wiring.node",
    "email",
    "httptools",
    "importlib.metadata",
    "opentelemetry",
    "prometheus_client",
    "redis",
    "rich",
    "sqlite3",
    "uvicorn",
    "uvloop",
    "watchfiles",
)
MOST = {"drumbeat": 215, "everything": 440}
"""Modules; there were 384 and 636."""
ONLY_FOR_AN_APP = (
    "drumbeat.backends.memory",
    "drumbeat.model.events.job",
    "drumbeat.model.events.leadership",
    "drumbeat.model.events.node",
    "drumbeat.model.events.schedule",
    "drumbeat.model.jobs.ending",
    "drumbeat.model.schedules.plan",
    "drumbeat.ports.administration",
    "drumbeat.telemetry",
)
"""Not needed before an app is made. The classes of events and plans take a quarter of the time."""
IMPORT = """
from drumbeat import Drumbeat
import sys

print(*sys.modules, sep="\\n")
"""
PROGRAM = """
from drumbeat import Drumbeat

app = Drumbeat("memory://", environment={})


@app.task
def greet(name: str) -> str:
    return name


import sys

print(*sys.modules, sep="\\n")
"""


def imported(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def among(modules: list[str], names: tuple[str, ...]) -> list[str]:
    return [
        module
        for module in modules
        if any(module == name or module.startswith(f"{name}.") for name in names)
    ]


def test_an_import_brings_only_what_declarations_use() -> None:
    assert not among(imported(IMPORT), FORBIDDEN + ONLY_FOR_AN_APP)


def test_an_app_that_is_not_started_imports_what_it_uses() -> None:
    modules = imported(PROGRAM)
    assert not among(modules, FORBIDDEN)
    ours = [module for module in modules if module.partition(".")[0] == "drumbeat"]
    assert len(ours) <= MOST["drumbeat"]
    assert len(modules) <= MOST["everything"]
