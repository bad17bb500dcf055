"""The session: what the steps of one transaction share."""

from __future__ import annotations

import sqlite3

from drumbeat.backends.sqlite.connection.hints.messenger import Messenger


class Session:
    """One transaction, in the writer's thread. The steps of this one write at once."""

    def __init__(self, connection: sqlite3.Connection, messenger: Messenger) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.hints = 0
        """The topics to send hints about after the commit."""
        self._messenger = messenger

    def start(self) -> None:
        """The transaction has begun, or has gone back to where a step began."""

    def flush(self) -> None:
        """Write all that is still only in memory."""

    def forget(self) -> None:
        """The transaction was rolled back: trust nothing that it wrote or read."""

    def committed(self) -> None:
        """The transaction is durable: send its hints."""
        if self.hints:
            self._messenger.send(self.hints)
