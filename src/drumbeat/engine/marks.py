"""Marks: how far the ticks of a fleet have been taken, kept where all instances can see it.

In the in-process mode no store is shared, so the coordinator's configuration takes the place of the
cursor. A leader takes ticks by moving the mark with a compare-and-set, *before* it runs anything:
of two who believe that they lead only one can move it, so no tick is taken twice.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime

from drumbeat.model.ids import NodeId
from drumbeat.model.lease import Entry
from drumbeat.ports.coordinator import Coordinator

KEY = "in-process/taken"
ONCE = "in-process/once/"


@dataclass(frozen=True, slots=True)
class Mark:
    """Every tick up to an instant was taken; the last of them by this holder in this term."""

    through: datetime | None
    """None: no tick was taken yet."""
    holder: NodeId
    token: int
    revision: int = 0

    def same_term(self, other: Mark) -> bool:
        """Whether both were written in one term."""
        return (self.holder, self.token) == (other.holder, other.token)


class Marks:
    """Reads, moves and watches the mark of a fleet."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    async def read(self) -> Mark | None:
        """The mark; None if nobody has led yet."""
        await self._coordinator.open()  # the node may have started while it was out of reach
        entry = await self._coordinator.configuration.get(KEY)
        return None if entry is None else _mark(entry)

    async def move(self, mark: Mark) -> Mark | None:
        """Write the mark, if the one of its revision still stands. None: it does not."""
        entry = await self._coordinator.configuration.compare_and_set(
            KEY, _text(mark), mark.revision
        )
        return None if entry is None else replace(mark, revision=entry.revision)

    async def watch(self) -> AsyncIterator[Mark]:
        """The mark as it stands, and again after each move that is seen."""
        await self._coordinator.open()
        async for entry in self._coordinator.configuration.watch(KEY):
            if entry is not None:
                yield _mark(entry)

    async def take_once(self, schedule: str, holder: NodeId) -> bool:
        """Take the only tick of a schedule, for the whole fleet. False: another instance has."""
        configuration, key, ours = self._coordinator.configuration, ONCE + schedule, holder.encode()
        if await configuration.compare_and_set(key, ours, 0) is not None:
            return True
        entry = await configuration.get(key)  # perhaps it was us, and the answer got lost
        return entry is not None and entry.value == ours


def _text(mark: Mark) -> bytes:
    through = None if mark.through is None else mark.through.isoformat()
    return json.dumps(
        {"through": through, "holder": mark.holder, "token": mark.token}, separators=(",", ":")
    ).encode()


def _mark(entry: Entry) -> Mark:
    data = json.loads(entry.value)
    through = data["through"]
    return Mark(
        None if through is None else datetime.fromisoformat(through),
        NodeId(data["holder"]),
        data["token"],
        entry.revision,
    )
