"""Lanes: the number of each task in a queue, which never changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from drumbeat.backends.postgres.connection.database import Database
from drumbeat.backends.postgres.connection.statements import Bound

Lane: TypeAlias = tuple[str, str]
"""A queue and a task."""


class Lanes:
    """A cache of the lanes."""

    def __init__(self, database: Database, sql: Bound) -> None:
        self._database = database
        self._sql = sql
        self.by_number: dict[int, Lane] = {}

    async def load(self, numbers: Iterable[int]) -> dict[int, Lane]:
        """The lanes by number, these among them."""
        if not self.by_number.keys() >= set(numbers):
            for number, queue, task in await self._database.fetch(self._sql.lanes):
                self.by_number[number] = (queue, task)
        return self.by_number
