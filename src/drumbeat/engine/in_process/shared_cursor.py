"""SharedCursor: how far the ticks of a fleet have been claimed, visible to all instances.

In the in-process mode no store is shared, so the cursor is kept in the coordinator's configuration.
A leader claims ticks by moving the cursor with a compare-and-set, *before* it runs anything: of two
nodes that believe they lead only one can move it, so no tick is claimed twice.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime

from drumbeat.model.fleet.lease import Entry
from drumbeat.model.ids import NodeId
from drumbeat.ports.coordinator import Coordinator

KEY = "in-process/taken"
ONCE = "in-process/once/"


@dataclass(frozen=True, slots=True)
class CursorPosition:
    """Every tick up to an instant was claimed; the last by this holder in this term."""

    through: datetime | None
    """None: no tick was taken yet."""
    holder: NodeId
    token: int
    revision: int = 0

    def same_term(self, other: CursorPosition) -> bool:
        return (self.holder, self.token) == (other.holder, other.token)


class SharedCursor:
    """Reads, moves and watches the shared cursor of a fleet."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    async def read(self) -> CursorPosition | None:
        """The cursor; None if nobody has led yet."""
        await self._coordinator.open()  # the node may have started while it was out of reach
        entry = await self._coordinator.configuration.get(KEY)
        return None if entry is None else _position(entry)

    async def move(self, position: CursorPosition) -> CursorPosition | None:
        """Write the cursor if its revision is still current; None: it is not."""
        entry = await self._coordinator.configuration.compare_and_set(
            KEY, _text(position), position.revision
        )
        return None if entry is None else replace(position, revision=entry.revision)

    async def watch(self) -> AsyncIterator[CursorPosition]:
        """The cursor, and again after each move that is seen."""
        await self._coordinator.open()
        async for entry in self._coordinator.configuration.watch(KEY):
            if entry is not None:
                yield _position(entry)

    async def take_once(self, schedule: str, holder: NodeId) -> bool:
        """Claim the only tick of a schedule for the whole fleet. False: another instance has it."""
        configuration, key, ours = self._coordinator.configuration, ONCE + schedule, holder.encode()
        if await configuration.compare_and_set(key, ours, 0) is not None:
            return True
        entry = await configuration.get(key)  # perhaps it was us, and the answer got lost
        return entry is not None and entry.value == ours


def _text(position: CursorPosition) -> bytes:
    through = None if position.through is None else position.through.isoformat()
    return json.dumps(
        {"through": through, "holder": position.holder, "token": position.token},
        separators=(",", ":"),
    ).encode()


def _position(entry: Entry) -> CursorPosition:
    data = json.loads(entry.value)
    through = data["through"]
    return CursorPosition(
        None if through is None else datetime.fromisoformat(through),
        NodeId(data["holder"]),
        data["token"],
        entry.revision,
    )
