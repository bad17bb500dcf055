"""What the deployment may speak of: commands, variables, probes and the app of the example."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from drumbeat import Drumbeat
from drumbeat.api.table import OF_WORKERS, TABLE
from drumbeat.cli.main import command
from drumbeat.cli.session.app_path import load_app
from drumbeat.config import SETTINGS, CommandLine, Config

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
EXAMPLE = ROOT / "examples" / "cluster"
STOP_LEEWAY = 20.0
"""Seconds beyond the grace in which a node ends its last requests and says goodbye."""
GRACE = Config().seconds("grace")
ROLES = ("scheduler", "worker", "api")
SECRET = "postgres://user:password@db:5432/taskdb?sslmode=disable"
TOKEN = "0123456789abcdef0123456789abcdef"


def parse(arguments: Sequence[str]) -> click.Context:
    """The command that `drumbeat` with these arguments runs; raises click's error if none."""
    name, *rest = arguments
    context = click.Context(command, info_name="drumbeat")
    found = command.get_command(context, name)
    assert found is not None, f"there is no command {name!r}"
    return found.make_context(name, list(rest), parent=context)


def settings_from(variables: Mapping[str, str]) -> Config:
    """The settings of a process with these variables; all of them are settings, and valid.

    The values of secrets that are read from files are made up.
    """
    known = {
        name + ending
        for setting in SETTINGS
        for name in setting.variables
        for ending in ("", *(["_FILE"] if setting.row.secret else []))
    }
    assert variables.keys() <= known, f"unknown: {variables.keys() - known}"
    given: dict[str, str] = {}
    for name, value in variables.items():
        if name.endswith("_FILE"):
            given[name.removesuffix("_FILE")] = TOKEN if "TOKEN" in name else SECRET
        else:
            given[name] = value
    config = Config.load(environment=given)
    assert config.default_task is None or config.default_task in example_app().tasks
    return config


def example_app() -> Drumbeat:
    """The app of the example, as a node loads it."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        return load_app("jobs:app", CommandLine({"store": "memory://"}))
    finally:
        sys.path.remove(str(EXAMPLE))


def check_node(arguments: Sequence[str], variables: Mapping[str, str]) -> Config:
    """Check the command of a node: its role, its app and its settings."""
    assert arguments[0] in ROLES
    assert parse(arguments).params["path"] == "jobs:app"
    example_app()
    return settings_from(variables)


def port_of(role: str, config: Config) -> int:
    """The port at which a node of this role serves its probes to other machines."""
    address = config.worker_http_addr if role == "worker" else config.http_addr
    assert address is not None
    assert address.startswith(":"), f"{address} is not reachable from elsewhere"
    return int(address.removeprefix(":"))


def serves(role: str, path: str) -> bool:
    """Whether a node of this role serves this path."""
    table = OF_WORKERS if role == "worker" else TABLE
    return any(route.method == "GET" and route.path == path for route in table)
