"""A task and its arguments as a person types them: `order_id=42 name=Anna`, or a JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from drumbeat.cli.session.session import Session
from drumbeat.fleet.fleet import Fleet
from drumbeat.model.encoding.json_depth import MOST_DEPTH, is_deeper
from drumbeat.model.errors import InvalidArguments, InvalidInput, UnknownTask


def read_arguments(pairs: Sequence[str], text: str | None = None) -> dict[str, Any]:
    """The arguments by name. A value that is JSON is read as such; any other is text."""
    named: dict[str, Any] = {} if text is None else _object(text)
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator or not name.isidentifier():
            raise InvalidInput(
                f"{pair!r} is not an argument; write NAME=VALUE, such as order_id=42, "
                f"or give all of them as one object with --json"
            )
        named[name] = _value(value)
    return named


def _value(text: str) -> Any:
    _refuse_deep("an argument", text)
    try:
        return json.loads(text)
    except ValueError:
        return text


def _object(text: str) -> dict[str, Any]:
    _refuse_deep("--json", text)
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"--json is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidInput(
            "--json must be an object of the arguments by name, such as '{\"n\": 1}'"
        )
    return {str(name): value for name, value in found.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - of whatever it is


def _refuse_deep(what: str, text: str) -> None:
    if is_deeper(text.encode(errors="replace")):
        raise InvalidArguments(f"{what} is nested more than {MOST_DEPTH} levels deep")


async def is_known(session: Session, fleet: Fleet, task: str) -> bool:
    """Whether the task is known where its jobs are created.

    Raises `UnknownTask` if it is not, and --app says which tasks there are.
    """
    known = tuple(name for each in await fleet.tasks() for name in each.names)
    if task not in known and session.app_path is not None:
        raise UnknownTask(task, known)
    return task in known
