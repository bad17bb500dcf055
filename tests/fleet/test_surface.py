"""Everything that may be asked of a fleet can be asked everywhere, and is documented."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any, get_type_hints

import click
import pytest

from drumbeat import Client, Drumbeat
from drumbeat.api.table import TABLE
from drumbeat.cli.main import command
from drumbeat.fleet.fleet import Fleet

ROOT = Path(__file__).parents[2]
ROUTE_OF_ANOTHER_NAME = {"events.follow": "/events", "health": "/health", "now": "/health"}
"""Operations that no row of the table calls by name: a stream, and what a node tells anybody."""
WITHOUT_A_COMMAND = {"jobs.create_many", "schedules.preview_rule"}
"""A terminal submits one job at a time, and `drumbeat cron` needs no fleet."""


def operations() -> Iterator[str]:
    """All operations of the protocol, such as `schedules.pause`."""
    for name, member in vars(Fleet).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            noun: type = get_type_hints(member.fget)["return"]
            yield from (f"{name}.{verb}" for verb in vars(noun) if not verb.startswith("_"))
        elif inspect.isfunction(member):
            yield name


OPERATIONS = sorted(operations())


def called(code: CodeType) -> Iterator[str]:
    """The operations of `call.fleet` that a handler calls, such as `schedules.pause`."""
    names = code.co_names
    for place, name in enumerate(names):
        if name == "fleet":
            yield names[place + 1]
            yield ".".join(names[place + 1 : place + 3])


def routed() -> dict[str, str]:
    """The path of a route for each operation that one calls."""
    found: dict[str, str] = {}
    for route in TABLE:
        code = getattr(route.handle, "__code__", None)
        if code is not None:
            found |= dict.fromkeys(called(code), f"{route.method} {route.path}")
    return found


def test_the_protocol_has_all_nouns() -> None:
    nouns = {name.partition(".")[0] for name in OPERATIONS}
    assert len(OPERATIONS) > 50
    assert {"jobs", "schedules", "operations", "queues", "nodes", "tokens", "audit"} <= nouns


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_has_its_route(operation: str) -> None:
    paths = {route.path for route in TABLE}
    assert operation in routed() or ROUTE_OF_ANOTHER_NAME.get(operation) in paths


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_is_documented(operation: str) -> None:
    noun, _, verb = operation.rpartition(".")
    reference = (ROOT / "docs" / "reference.md").read_text()
    rows = re.findall(rf"^\| `fleet{f'.{noun}' if noun else ''}` \|.*$", reference, re.MULTILINE)
    assert any(f"`{verb}`" in row for row in rows), f"{operation} is not in docs/reference.md"


def asked(fleet: Any, operation: str) -> object:
    found = fleet
    for name in operation.split("."):
        found = getattr(found, name)
    return found


def parameters(function: Any) -> list[tuple[str, object]]:
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.default) for each in found if each.name != "self"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_local_fleet_takes_what_the_protocol_says(operation: str) -> None:
    fleet: Fleet = Drumbeat("memory://", environment={}).fleet
    noun, _, verb = operation.rpartition(".")
    owner = get_type_hints(vars(Fleet)[noun].fget)["return"] if noun else Fleet
    assert parameters(asked(fleet, operation)) == parameters(getattr(owner, verb))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_remote_fleet_takes_what_the_protocol_says(operation: str) -> None:
    fleet: Fleet = Client("http://localhost")
    noun, _, verb = operation.rpartition(".")
    owner = get_type_hints(vars(Fleet)[noun].fget)["return"] if noun else Fleet
    names = [name for name, _ in parameters(asked(fleet, operation))]
    assert names == [name for name, _ in parameters(getattr(owner, verb))]


def commands(group: click.Group) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield found
        if isinstance(found, click.Group):
            yield from commands(found)


def test_every_operation_has_its_command() -> None:
    named = {
        operation
        for each in commands(command)
        for operation in getattr(each.callback, "operations", ())
    }
    assert named == set(OPERATIONS) - WITHOUT_A_COMMAND
