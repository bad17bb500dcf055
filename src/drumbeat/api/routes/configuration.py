"""Configuration: values that the fleet shares, and what this server was told and knows."""

from __future__ import annotations

import re
from typing import Any

from drumbeat.api.answer import Answer, encode, json_answer
from drumbeat.api.call import Call, Nothing
from drumbeat.api.problem import Problem
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.api.tasks import task_shown
from drumbeat.config import SETTINGS
from drumbeat.model.errors import Contended
from drumbeat.model.lease import Entry
from drumbeat.model.token import Scope
from drumbeat.ports.coordinator import Configuration
from drumbeat.wire.entry import EntryView, NewEntryView, SettingView, entry_view
from drumbeat.wire.task import TaskView

LARGEST_VALUE = 64 * 1024
LONGEST_KEY = 200
OURS = ("drumbeat/", "in-process/", "resign/")
"""What keys begin with that only Drumbeat itself writes."""
REVISION = re.compile(r'(?:W/)?"?(\d{1,18})"?')
TRIES = 20
IF_MATCH = {"If-Match": 'Only if this revision still stands, such as "7"; * is any.'}
IF_NONE = {"If-None-Match": "* writes only if nothing is there."}
ETAG = {"ETag": "The revision."}


async def show(call: Call[Nothing, Any]) -> Answer:
    """The value, with its revision as an ETag."""
    key, configuration = await _asked(call)
    return _answer(await _found(configuration, key))


async def put(call: Call[Nothing, NewEntryView]) -> Answer:
    """The value as it was written."""
    key, configuration = await _asked(call)
    value = encode(call.body.value)
    if len(value) > LARGEST_VALUE:
        rule = f"at most {LARGEST_VALUE:,} bytes as JSON"
        raise Problem(413, "value-too-large", f"a value has {rule}", field="value", rule=rule)
    revision = _expected(call)
    if revision is None:
        return _answer(await configuration.put(key, value))
    written = await configuration.compare_and_set(key, value, revision)
    if written is None:
        raise _changed(key, revision)
    return _answer(written)


async def delete(call: Call[Nothing, Any]) -> None:
    """Nothing is left of it."""
    key, configuration = await _asked(call)
    revision = _expected(call)
    if revision is not None:
        await _found(configuration, key)
        if await configuration.compare_and_set(key, None, revision) is None:
            raise _changed(key, revision)
        return
    for _ in range(TRIES):
        entry = await _found(configuration, key)
        if await configuration.compare_and_set(key, None, entry.revision) is not None:
            return
    raise Contended(f"{key!r} kept changing")


async def settings(call: Call[Nothing, Any]) -> dict[str, SettingView]:
    """Every setting by name."""
    config = call.desk.config
    return {
        each.name: SettingView(
            value=value
            if isinstance(value := getattr(config, each.name), int | None)
            else config.shown(each.name),
            origin=str(config.origins[each.name]) if each.name in config.origins else "default",
            variable=each.variables[0],
        )
        for each in SETTINGS
    }


async def tasks(call: Call[Nothing, Any]) -> list[TaskView]:
    """The tasks by name."""
    registry = call.desk.registry
    return [task_shown(registry.get(name)) for name in sorted(registry.names)]


async def _asked(call: Call[Any, Any]) -> tuple[str, Configuration]:
    key = call.path["key"]
    if len(key) > LONGEST_KEY or key.startswith(OURS):
        raise Problem(
            404,
            "unknown-key",
            f"a key has at most {LONGEST_KEY} characters, and those that begin with "
            f"{', '.join(OURS)} are Drumbeat's own",
            field="key",
        )
    await call.desk.coordinator.open()
    return key, call.desk.coordinator.configuration


async def _found(configuration: Configuration, key: str) -> Entry:
    entry = await configuration.get(key)
    if entry is None:
        raise Problem(404, "unknown-key", f"nothing is kept under {key!r}", field="key")
    return entry


def _answer(entry: Entry) -> Answer:
    return json_answer(entry_view(entry), 200, {"etag": f'"{entry.revision}"'})


def _expected(call: Call[Any, Any]) -> int | None:
    """The revision that the caller takes for the present one; 0: none is there yet."""
    if call.headers.get(b"if-none-match", b"").strip() == b"*":
        return 0
    text = call.headers.get(b"if-match", b"").decode("latin-1").strip()
    if not text or text == "*":
        return None
    found = REVISION.fullmatch(text)
    if found is None:
        raise Problem(
            422,
            "invalid-input",
            f'If-Match has to be a revision such as "7", not {text!r}',
            field="if-match",
        )
    return int(found[1])


def _changed(key: str, revision: int) -> Problem:
    if revision == 0:
        return Problem(412, "changed-meanwhile", f"something is kept under {key!r} already")
    return Problem(
        412, "changed-meanwhile", f"{key!r} is no longer at revision {revision}; look again"
    )


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/configuration/{key}",
        Scope.VIEWER,
        show,
        "Show a value that the fleet shares",
        EntryView,
        refuses=(404,),
        answers=ETAG,
    ),
    Route(
        "PUT",
        "/configuration/{key}",
        Scope.ADMIN,
        put,
        "Share a value; with If-Match only if its revision still stands",
        EntryView,
        refuses=(404, 412),
        body=NewEntryView,
        change="configuration.put",
        headers={**IF_MATCH, **IF_NONE},
        answers=ETAG,
    ),
    Route(
        "DELETE",
        "/configuration/{key}",
        Scope.ADMIN,
        delete,
        "Delete a shared value; with If-Match only if its revision still stands",
        None,
        status=204,
        refuses=(404, 409, 412),
        change="configuration.delete",
        headers=IF_MATCH,
    ),
    Route(
        "GET",
        "/settings",
        Scope.VIEWER,
        settings,
        "Show the settings of this server, with secrets masked",
        dict[str, SettingView],
    ),
    Route(
        "GET",
        "/tasks",
        Scope.VIEWER,
        tasks,
        "List the tasks that this server knows, with what they take",
        list[TaskView],
    ),
)
