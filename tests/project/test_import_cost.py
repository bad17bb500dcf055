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
PROGRAM = """
from drumbeat import Drumbeat

app = Drumbeat("memory://", environment={})


@app.task
def greet(name: str) -> str:
    return name


import sys

print(*sys.modules, sep="\\n")
"""


def imported() -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_an_app_that_is_not_started_imports_what_it_uses() -> None:
    modules = imported()
    unwanted = [
        module
        for module in modules
        if any(module == name or module.startswith(f"{name}.") for name in FORBIDDEN)
    ]
    assert not unwanted
    ours = [module for module in modules if module.partition(".")[0] == "drumbeat"]
    assert len(ours) <= MOST["drumbeat"]
    assert len(modules) <= MOST["everything"]
