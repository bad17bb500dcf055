"""Steps of a MongoDB store: stop it at one of its writes, or let something else happen there.

Every write goes to the real server. A store that was stopped makes no further call at all, as if
its process had been killed between two commands, or between a command and its answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from drumbeat.backends.mongo.connection.client import Collections
from drumbeat.backends.mongo.store import MongoStore
from servers import Mongo

COMMANDS = ("insert", "update", "delete", "findAndModify")
UNCONFIRMED = {"code": 64, "codeName": "WriteConcernTimeout", "errmsg": "waiting timed out"}
WRITES = frozenset(
    {
        "insert_one",
        "insert_many",
        "update_one",
        "update_many",
        "replace_one",
        "bulk_write",
        "delete_one",
        "delete_many",
        "find_one_and_update",
        "find_one_and_delete",
    }
)


class Moment(Enum):
    """When a store is stopped."""

    BEFORE = "before the command reaches the server"
    AFTER = "after the server has executed it"
    UNCONFIRMED = "after the server has executed it, and no majority has confirmed it"
    """The store is not stopped, but told so."""


class Stopped(Exception):
    """The store was stopped."""


class Steps:
    """Counts the writes of a store, and acts at one of them."""

    def __init__(self, store: MongoStore) -> None:
        self.count = 0
        self.names: list[str] = []
        self._at: int | None = None
        self._act: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]] | None = None
        self._dead = False
        calls = store.server.calls

        @contextmanager
        def stepped() -> Generator[Any]:
            with calls() as collections:
                yield _Collections(self, collections)

        store.server.calls = stepped  # type: ignore[method-assign]

    def stop_at(self, number: int, moment: Moment) -> None:
        """Stop the store at its so-and-so-manyth write from now on."""

        async def stop(write: Callable[[], Awaitable[Any]]) -> Any:
            if moment is Moment.AFTER:
                await write()
            self._dead = True
            raise Stopped(f"stopped {moment.value}: {self.names[-1]}")

        self._begin(number, stop)

    def leave_unconfirmed(self, number: int, server: Mongo) -> None:
        """Let the server report that no majority has confirmed the so-and-so-manyth write."""

        async def doubt(write: Callable[[], Awaitable[Any]]) -> Any:
            server.fail(COMMANDS, {"writeConcernError": UNCONFIRMED}, times=1)
            return await write()

        self._begin(number, doubt)

    def meanwhile(self, number: int, act: Callable[[], Awaitable[object]]) -> None:
        """Do something else right before the so-and-so-manyth write from now on."""

        async def then(write: Callable[[], Awaitable[Any]]) -> Any:
            await act()
            return await write()

        self._begin(number, then)

    @property
    def reached(self) -> bool:
        """Whether the write came."""
        return self._at is not None and self.count >= self._at

    def _begin(
        self, number: int, act: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
    ) -> None:
        self.count, self.names, self._at, self._act = 0, [], number, act

    async def write(self, name: str, write: Callable[[], Awaitable[Any]]) -> Any:
        self.check()
        self.count += 1
        self.names.append(name)
        if self._act is not None and self.count == self._at:
            return await self._act(write)
        return await write()

    def check(self) -> None:
        if self._dead:
            raise Stopped("it was stopped before")


class _Collections:
    def __init__(self, steps: Steps, collections: Collections) -> None:
        self._steps = steps
        self._collections = collections
        self.database = collections.database
        self.full_name = collections.full_name

    def __getitem__(self, name: str) -> Any:
        return _Collection(self._steps, self._collections[name], name)


class _Collection:
    def __init__(self, steps: Steps, collection: Any, name: str) -> None:
        self._steps = steps
        self._collection = collection
        self._name = name

    def __getattr__(self, method: str) -> Any:
        self._steps.check()
        call = getattr(self._collection, method)
        if method not in WRITES:
            return call

        def write(*arguments: Any, **options: Any) -> Awaitable[Any]:
            return self._steps.write(f"{self._name}.{method}", lambda: call(*arguments, **options))

        return write
