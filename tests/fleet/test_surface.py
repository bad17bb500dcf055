"""Everything that may be asked of a fleet can be asked everywhere, and is documented."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

from drumbeat import Client, Drumbeat, SyncClient
from drumbeat.api.table import TABLE
from drumbeat.cli.main import command
from drumbeat.fleet.endpoint import ATTRIBUTE, GUARD, REASON, REVISION, Endpoint, endpoint_of
from drumbeat.fleet.fleet import Fleet

ROOT = Path(__file__).parents[2]
PATHS_OF_OTHERS = {"events.follow": "/events", "health": "/health", "now": "/health"}
"""Operations whose route is written by hand: a stream, and what a node tells anybody."""
WITHOUT_A_COMMAND = {
    "jobs.create_many",
    "schedules.preview_rule",
    "overview.history",
    "overview.schedules",
    "overview.timeline",
    "overview.errors",
    "overview.backends",
}
"""A terminal submits one job at a time, `drumbeat cron` needs no fleet, and these pictures need a
screen: `drumbeat schedule` tells the same in words."""


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


def declared(operation: str) -> Any:
    """The method of the protocol."""
    noun, _, verb = operation.rpartition(".")
    owner = get_type_hints(vars(Fleet)[noun].fget)["return"] if noun else Fleet
    return getattr(owner, verb)


def path_of(operation: str) -> str | None:
    """The path under which HTTP has the operation."""
    found: Endpoint | None = getattr(declared(operation), ATTRIBUTE, None)
    return PATHS_OF_OTHERS.get(operation) if found is None else found.path


def test_the_protocol_has_all_nouns() -> None:
    nouns = {name.partition(".")[0] for name in OPERATIONS}
    assert len(OPERATIONS) > 50
    assert {"jobs", "schedules", "operations", "queues", "nodes", "tokens", "audit"} <= nouns


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_has_its_route(operation: str) -> None:
    assert path_of(operation) in {route.path for route in TABLE}


def sources(endpoint: Endpoint) -> Iterator[str]:
    """The parameters that the parts of a request give."""
    if endpoint.path_parameter is not None:
        yield endpoint.path_parameter
    if endpoint.query_type is not None:
        yield from endpoint.query_type().parameters()
    if endpoint.body_parameter is not None:
        yield endpoint.body_parameter
    elif endpoint.body_type is not None:
        yield from endpoint.body_type.__struct_fields__
    if endpoint.reason_in_header:
        yield REASON
    yield from {GUARD, REVISION} & endpoint.hints.keys()


@pytest.mark.parametrize("operation", sorted(set(OPERATIONS) - PATHS_OF_OTHERS.keys()))
def test_each_parameter_has_one_place_in_the_request(operation: str) -> None:
    method = declared(operation)
    named = [name for name, _ in parameters(method)]
    assert sorted(sources(endpoint_of(method))) == sorted(named)


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
    assert parameters(asked(fleet, operation)) == parameters(declared(operation))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_remote_fleet_takes_what_the_protocol_says(operation: str) -> None:
    fleet: Fleet = Client("http://localhost")
    assert parameters(asked(fleet, operation)) == parameters(declared(operation))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_synchronous_client_takes_what_the_protocol_says(operation: str) -> None:
    with SyncClient("http://localhost") as client:
        method = asked(client, operation)
    assert parameters(method) == parameters(declared(operation))
    assert not inspect.iscoroutinefunction(method)


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
        operation for each in commands(command) for operation in getattr(each, "operations", ())
    }
    assert named == set(OPERATIONS) - WITHOUT_A_COMMAND
