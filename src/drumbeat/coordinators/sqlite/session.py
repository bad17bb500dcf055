"""The session: what the steps of one transaction of the coordinator share."""

from __future__ import annotations

import sqlite3

from drumbeat.sqlite.messenger import Messenger


class CoordinatorSession:
    """One transaction. Every step writes at once; only the news are kept until the commit."""

    def __init__(self, connection: sqlite3.Connection, messenger: Messenger) -> None:
        self.connection = connection
        self.execute = connection.execute
        self.news = 0
        self._messenger = messenger

    def start(self) -> None:
        """Nothing to make ready."""

    def flush(self) -> None:
        """Nothing is kept back."""

    def forget(self) -> None:
        """Nothing was remembered."""

    def committed(self) -> None:
        """Tell whoever waits for news of this kind."""
        if self.news:
            self._messenger.tell(self.news)
