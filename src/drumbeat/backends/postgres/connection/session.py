"""Session: one connection that keeps a session of the server, for what ends with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from drumbeat.backends.postgres.connection.address import Address
from drumbeat.backends.postgres.connection.client import Connection, socket_of
from drumbeat.backends.postgres.connection.failures import translated
from drumbeat.forks import leave_to_parent, renew_in_children


class Session:
    """A connection with one user. `on_lost` is called when it ends without being closed here."""

    def __init__(
        self, connection: Connection, address: Address, on_lost: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._address = address
        self._closed = False
        self._on_lost = on_lost
        self._socket = socket_of(connection)
        connection.add_termination_listener(self._ended)
        renew_in_children(self._renew)

    async def value(self, text: str, *values: object) -> Any:
        """The first value of a statement. Errors are those for callers."""
        try:
            return await self._connection.fetchval(text, *values)
        except Exception as error:
            meant = translated(error, self._address, self._connection)
            if meant is None:
                raise
            raise meant from error

    def close(self) -> None:
        self._closed = True
        self._connection.terminate()

    def _ended(self, _connection: object) -> None:
        if not self._closed:
            self._on_lost()

    def _renew(self) -> None:
        """In a forked child: give the copy of the socket up, or the session would outlive the
        parent. Its number stays in use here, since objects of the parent would close it again.
        """
        leave_to_parent(self._connection)
        with suppress(OSError):
            nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            os.dup2(nothing, self._socket, inheritable=False)
            os.close(nothing)
