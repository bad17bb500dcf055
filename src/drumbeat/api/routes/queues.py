"""Queues: how full they are, how fast they go, and whether they are paused."""

from __future__ import annotations

from typing import Any

from drumbeat.api.call import Call, Nothing
from drumbeat.api.desk import Desk
from drumbeat.api.problem import Problem
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.api.showing import queue_shown
from drumbeat.model.queue import QueueRecord
from drumbeat.model.token import Scope
from drumbeat.wire.changes import ReasonView
from drumbeat.wire.queue import QueueView

LONGEST_NAME = 200


async def list_queues(call: Call[Nothing, Any]) -> list[QueueView]:
    """All queues by name."""
    return await _queues(call.desk)


async def show(call: Call[Nothing, Any]) -> QueueView:
    """The queue."""
    name, rates = call.path["name"], call.desk.rates
    seen = await call.desk.store.queues.list()
    for record in seen.queues:
        if record.name == name:
            view = queue_shown(record, seen.as_of, rates)
            rates.note(seen)
            return view
    raise Problem(404, "unknown-queue", f"no job was ever in a queue {name!r}")


async def pause(call: Call[Nothing, ReasonView]) -> QueueView:
    """The queue, paused."""
    name = _name(call)
    await call.desk.store.queues.pause(name, call.body.reason)
    return await _one(call.desk, name)


async def resume(call: Call[Nothing, ReasonView]) -> QueueView:
    """The queue, which is worked on again."""
    name = _name(call)
    await call.desk.store.queues.resume(name)
    return await _one(call.desk, name)


async def _queues(desk: Desk) -> list[QueueView]:
    seen = await desk.store.queues.list()
    views = [queue_shown(record, seen.as_of, desk.rates) for record in seen.queues]
    desk.rates.note(seen)
    return views


async def _one(desk: Desk, name: str) -> QueueView:
    seen = await desk.store.queues.list()
    found = next((each for each in seen.queues if each.name == name), QueueRecord(name))
    return queue_shown(found, seen.as_of, desk.rates)


def _name(call: Call[Any, Any]) -> str:
    name = call.path["name"]
    if len(name) > LONGEST_NAME:
        rule = f"at most {LONGEST_NAME} characters"
        raise Problem(422, "invalid-input", f"a queue's name has {rule}", field="name", rule=rule)
    return name


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/queues",
        Scope.VIEWER,
        list_queues,
        "List queues with their depth, oldest age and rates",
        list[QueueView],
    ),
    Route(
        "GET",
        "/queues/{name}",
        Scope.VIEWER,
        show,
        "Show a queue",
        QueueView,
        refuses=(404,),
    ),
    Route(
        "POST",
        "/queues/{name}/pause",
        Scope.OPERATOR,
        pause,
        "Let no worker take jobs of a queue; those that run go on",
        QueueView,
        body=ReasonView,
        change="queue.pause",
    ),
    Route(
        "POST",
        "/queues/{name}/resume",
        Scope.OPERATOR,
        resume,
        "Let workers take jobs of a queue again",
        QueueView,
        body=ReasonView,
        change="queue.resume",
    ),
)
