"""The session: what the steps of one transaction of the coordinator share."""

from __future__ import annotations

import sqlite3

from drumbeat.backends.sqlite.connection.hints.messenger import Messenger


class CoordinatorSession:
    """One transaction. Every step writes at once; hints are sent after the commit."""

    def __init__(self, connection: sqlite3.Connection, messenger: Messenger) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.hints = 0
        self._messenger = messenger

    def start(self) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing: every step writes at once."""

    def forget(self) -> None:
        """Do nothing: nothing is cached."""

    def committed(self) -> None:
        if self.hints:
            self._messenger.send(self.hints)
