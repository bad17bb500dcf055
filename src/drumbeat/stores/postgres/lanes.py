"""Lanes: a task in a queue has a number, which is never given to another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from drumbeat.postgres.database import Database
from drumbeat.postgres.statements import Bound

Lane: TypeAlias = tuple[str, str]
"""A queue and a task."""


class Lanes:
    """The lanes that this process has met."""

    def __init__(self, database: Database, sql: Bound) -> None:
        self._database = database
        self._sql = sql
        self.by_number: dict[int, Lane] = {}

    async def load(self, numbers: Iterable[int]) -> dict[int, Lane]:
        """The lanes by number; at least these."""
        if not self.by_number.keys() >= set(numbers):
            for number, queue, task in await self._database.fetch(self._sql.lanes):
                self.by_number[number] = (queue, task)
        return self.by_number
