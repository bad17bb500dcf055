"""SQLite worlds: every simulated process runs the real SQLite store and coordinator on one file.

The code under test is all of `backends/sqlite` but its threads: SQL, transactions, caches of each
process, checkpoints and the schema. Each process has connections of its own. What its writer and
reader threads do in production happens here in lanes of the process, which are paused and killed
with it, as one step of the virtual loop. Hints go through the loop in place of Unix sockets.

A process can be killed within a transaction: its connection is closed before the COMMIT. The disk
can be full: SQLite then fails as soon as a transaction needs a new page.
"""

from __future__ import annotations

import contextvars
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

from drumbeat.backends.sqlite.connection.calls import Call, DeferredResult, JoinedCalls
from drumbeat.backends.sqlite.connection.connections import connect_checkpointer
from drumbeat.backends.sqlite.connection.database import Access, Database, transactions
from drumbeat.backends.sqlite.connection.hints.messenger import Messenger
from drumbeat.backends.sqlite.connection.log.checkpointer import Checkpointer
from drumbeat.backends.sqlite.connection.reader import Reader
from drumbeat.backends.sqlite.connection.transactions import S
from drumbeat.backends.sqlite.connection.writer import Request
from drumbeat.backends.sqlite.coordinator.coordinator import SqliteCoordinator
from drumbeat.backends.sqlite.store.store import SqliteStore
from drumbeat.model.errors import Unavailable
from drumbeat.ports.clock import Clock
from simulation.loop import VirtualLoop
from simulation.network import driven

T = TypeVar("T")

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a temporary folder of its own is made in it
"""Where the files lie if it exists: no world loses power, so nothing has to reach a disk."""
BOOT = "simulated"
"""The machine is never restarted in a world."""
UNBOUNDED = 2**30
"""Pages that a file may have while the disk is not full."""

Dies = Callable[[str], bool]
"""Asked before each transaction: kill this process within it?"""


class _Connected(Protocol):
    def disconnect(self) -> None: ...


class SqliteFile:
    """The file of one world, and the databases that its processes have opened."""

    def __init__(self, loop: VirtualLoop, clock: Clock, seed: int) -> None:
        in_memory = str(SHARED_MEMORY) if SHARED_MEMORY.is_dir() else None
        self._folder = TemporaryDirectory(prefix="drumbeat-simulation-", dir=in_memory)
        self._path = Path(self._folder.name) / "drumbeat.db"
        self._clock = clock
        self._databases: dict[str, list[_Connected]] = {}
        self.loop = loop
        self.hints = Hints(loop)
        self.full = False
        """Whether the disk is full."""
        self.dies: Dies = lambda _: False
        self.kill: Callable[[str], None] = lambda _: None
        """Kills a process, whose connection is closed by then."""
        self.observer = self.store("observer")
        """For looking into the file from outside the world."""
        driven(self.observer.open())
        self._name_domain(f"sqlite-world-{seed}")

    def store(self, process: str) -> SqliteStore:
        """The store as one process opens it."""
        return SqliteStore(self._path, self._clock, database=partial(self._open, process))

    def coordinator(self, process: str) -> SqliteCoordinator:
        """The coordinator as one process opens it."""
        return SqliteCoordinator(
            self._path, self._clock, boot=BOOT, database=partial(self._open, process)
        )

    def drop(self, process: str) -> None:
        """A process has ended: the kernel closes its connections."""
        for database in self._databases.pop(process, ()):
            database.disconnect()

    def close(self) -> None:
        """At the end of the world, remove the file."""
        for process in tuple(self._databases):
            self.drop(process)
        self._folder.cleanup()

    def _open(
        self, process: str, access: Access, clock: Clock, begin: Callable[[sqlite3.Connection], S]
    ) -> Database[S]:
        database = SteppedDatabase(self, process, access, clock, begin)
        self._databases.setdefault(process, []).append(database)
        return database

    def _name_domain(self, name: str) -> None:
        """The domain is random in production, and part of the history here."""
        connection = sqlite3.connect(self._path, isolation_level=None)
        connection.execute("UPDATE identity SET value = ? WHERE name = 'domain'", (name,))
        connection.close()


class Hints:
    """Who waits for changes of the file, in all processes."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._numbers = count()
        self._waiting: dict[int, tuple[int, Callable[[], None], contextvars.Context]] = {}

    def add(self, topics: int, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` in the caller's lane after a change of these topics."""
        number = next(self._numbers)
        self._waiting[number] = topics, wake, contextvars.copy_context()

        def remove() -> None:
            self._waiting.pop(number, None)

        return remove

    def tell(self, topics: int) -> None:
        """Wake everyone who waits for any of these topics."""
        for number, (wanted, _, context) in tuple(self._waiting.items()):
            if wanted & topics:
                self._loop.call_soon(self._wake, number, context=context)

    def _wake(self, number: int) -> None:
        if number in self._waiting:
            self._waiting[number][1]()


class LoopMessenger(Messenger):
    """Brings hints through the virtual loop, in place of sockets."""

    def __init__(self, path: Path, hints: Hints) -> None:
        super().__init__(path)
        self._hints = hints

    def subscribe(self, topics: int, wake: Callable[[], None]) -> Callable[[], None]:
        return self._hints.add(topics, wake)

    def open(self) -> None:
        """There is no socket."""

    def send(self, topics: int) -> None:
        self._hints.tell(topics)

    def close(self) -> None:
        """There is no socket."""


class _InlineCheckpointer(Checkpointer):
    """Checkpoints after the commit that made the log too long, in place of a thread."""

    def _wake(self) -> None:
        self._checkpoint()
        self._disconnect()


class SteppedDatabase(Database[S]):
    """The database of one process: each call is one step, with an answer at once."""

    def __init__(
        self,
        file: SqliteFile,
        process: str,
        access: Access,
        clock: Clock,
        begin: Callable[[sqlite3.Connection], S],
    ) -> None:
        super().__init__(access, clock, begin)
        self.messenger = LoopMessenger(access.path, file.hints)
        self._file = file
        self._process = process
        self._begin_session = begin
        self._writing: sqlite3.Connection | None = None
        self._limited = False
        checkpointer = _InlineCheckpointer(access.path, connect_checkpointer)
        self._transactions = transactions(access, clock, self._begin_step, checkpointer)
        self._reader = Reader(access.path, access.patience, "reader")
        self._is_open = False

    def write(self, step: Callable[[S], T | DeferredResult[T]]) -> Awaitable[T]:
        return self._run(Call(self._fatal(step), self._file.loop.create_future()))

    def write_jointly(
        self,
        together: Callable[[S, Sequence[Request]], DeferredResult[Sequence[T]]],
        request: Request,
    ) -> Awaitable[T]:
        call: JoinedCalls[S] = JoinedCalls(together, self._file.loop.create_future())
        call.join(request, call.future)
        return self._run(call)

    async def read(self, question: Callable[[sqlite3.Connection], T]) -> T:
        await self.open()
        call = Call(question, self._file.loop.create_future())
        self._reader.serve(call)
        call.resolve()
        answer: T = await call.future
        return answer

    async def view(self, question: Callable[[sqlite3.Connection], T]) -> T:
        return await self.read(question)

    async def open(self) -> None:
        if not self._is_open:
            await self._run(Call[S](lambda _: None, self._file.loop.create_future()))
            self._is_open = True

    async def close(self) -> None:
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections; what was not committed is rolled back."""
        self._transactions.disconnect()
        self._reader.disconnect()

    def _run(self, call: Call[S]) -> Awaitable[Any]:
        for done in self._transactions.run((call,)):
            done.build_result()
            done.resolve()
        return call.future

    def _begin_step(self, connection: sqlite3.Connection) -> S:
        if connection is not self._writing:
            self._writing, self._limited = connection, False
        if self._limited is not self._file.full:
            self._limited = self._file.full  # fewer pages than it has now are not possible
            connection.execute(f"PRAGMA max_page_count = {1 if self._limited else UNBOUNDED}")
        return self._begin_session(connection)

    def _fatal(self, step: Callable[[S], T]) -> Callable[[S], T]:
        """The step; or the step and the death of the process, before its commit."""
        if not self._file.dies(self._process):
            return step

        def die(session: S) -> T:
            step(session)
            session.flush()
            assert self._writing is not None
            self._writing.close()
            self._file.kill(self._process)
            raise Unavailable(f"{self._process} was killed within a transaction")

        return die
