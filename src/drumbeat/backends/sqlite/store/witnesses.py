"""Witnesses: the SQLite store's, by locks of bytes in a file beside the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime

from drumbeat.backends.sqlite.connection.database import Database
from drumbeat.backends.sqlite.connection.times import moment, to_instant, to_number
from drumbeat.backends.sqlite.connection.witness_file import FileWitness, WitnessFile
from drumbeat.backends.sqlite.store.session import StoreSession
from drumbeat.backends.sqlite.store.sql import NODES
from drumbeat.model.fleet.node import Vanished, WitnessCheck
from drumbeat.model.ids import NodeId
from drumbeat.ports.clock import Clock


class SqliteWitnesses:
    """The witnesses of all processes that use the file."""

    freed_together = False  # the deletion of the file is noticed by every holder

    def __init__(self, database: Database[StoreSession], clock: Clock, file: WitnessFile) -> None:
        self._database = database
        self._clock = clock
        self._file = file

    def session(self, on_lost: Callable[[], None]) -> FileWitness:
        """A session in this process; nobody tells it that its file is gone, so it has to look."""
        del on_lost
        return FileWitness(self._file)

    async def check_all(self, at: datetime | None = None) -> WitnessCheck:
        now = moment(self._clock, at).number

        def question(connection: sqlite3.Connection) -> WitnessCheck:
            expected = [
                Vanished(NodeId(node), number, to_instant(beat_at))
                for node, number, beat_at in connection.execute(NODES.witnesses, (now,))
            ]
            free = self._file.free([each.witness for each in expected]) if expected else ()
            vanished = tuple(each for each in expected if each.witness in free)
            return WitnessCheck(len(expected), vanished)

        return await self._database.read(question)

    async def declare_dead(self, vanished: Vanished) -> bool:
        values = (vanished.node, to_number(vanished.beat_at))
        return await self._database.write(
            lambda session: bool(session.execute(NODES.declare_dead, values).fetchall())
        )
