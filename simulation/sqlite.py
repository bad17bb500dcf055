"""SQLite worlds: every simulated process runs the real SQLite store and coordinator on one file.

The code under test is all of `backends/sqlite` except its threads: SQL, transactions, caches of
each process, checkpoints and the schema. Each process has its own connections. The work of its
writer and reader threads runs in lanes of the process, which are paused and killed with it; each
call is one step of the virtual loop. Hints go through the loop instead of Unix sockets.

A process can be killed within a transaction: its connection is closed before the COMMIT. When the
disk is full, SQLite fails as soon as a transaction needs a new page.
"""

from __future__ import annotations

import contextvars
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

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
from simulation.network import run_step

if TYPE_CHECKING:
    from simulation.file_faults import FileFaults

T = TypeVar("T")

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the files are in a private folder within it
"""The place of the files, if it exists: simulated machines never lose power."""
BOOT = "simulated"
"""The boot id: simulated machines are never restarted."""
UNBOUNDED = 2**30
"""The maximum number of pages of a file while the disk is not full."""


class _Connected(Protocol):
    def disconnect(self) -> None: ...


class SqliteFile:
    """The file of one world, and the databases opened by its processes."""

    def __init__(self, loop: VirtualLoop, clock: Clock, seed: int, faults: FileFaults) -> None:
        in_memory = str(SHARED_MEMORY) if SHARED_MEMORY.is_dir() else None
        self._folder = TemporaryDirectory(prefix="drumbeat-simulation-", dir=in_memory)
        self.folder = self._folder.name
        self._path = Path(self.folder) / "drumbeat.db"
        self._clock = clock
        self._databases: dict[str, list[_Connected]] = {}
        self.loop = loop
        self.hints = Hints(loop)
        self.faults = faults
        self.witnessed = True
        """Whether the processes of this world have witnesses."""
        self.observer = self.store("observer")
        """Reads the file from outside the world."""
        run_step(self.observer.open())
        self._name_domain(f"sqlite-world-{seed}")

    def store(self, process: str) -> SqliteStore:
        store = SqliteStore(self._path, self._clock, database=partial(self._open, process))
        if not self.witnessed:
            store.witnesses = None
        return store

    def coordinator(self, process: str) -> SqliteCoordinator:
        return SqliteCoordinator(
            self._path, self._clock, boot=BOOT, database=partial(self._open, process)
        )

    def drop(self, process: str) -> None:
        """Close the connections of a process that has ended, as the kernel does."""
        for database in self._databases.pop(process, ()):
            database.disconnect()

    def close(self) -> None:
        """Close all connections and remove the file."""
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
        """Replace the random domain, since it is part of the history."""
        connection = sqlite3.connect(self._path, isolation_level=None)
        connection.execute("UPDATE identity SET value = ? WHERE name = 'domain'", (name,))
        connection.close()


class Hints:
    """The subscriptions to changes of the file, of all processes."""

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

    def send(self, topics: int) -> None:
        """Wake the subscribers of these topics."""
        for number, (wanted, _, context) in tuple(self._waiting.items()):
            if wanted & topics:
                self._loop.call_soon(self._wake, number, context=context)

    def _wake(self, number: int) -> None:
        if number in self._waiting:
            self._waiting[number][1]()


class LoopMessenger(Messenger):
    """Sends hints through the virtual loop instead of sockets."""

    def __init__(self, path: Path, hints: Hints) -> None:
        super().__init__(path)
        self._hints = hints

    def subscribe(self, topics: int, wake: Callable[[], None]) -> Callable[[], None]:
        return self._hints.add(topics, wake)

    def open(self) -> None:
        """Nothing to do: there is no socket."""

    def send(self, topics: int) -> None:
        self._hints.send(topics)

    def close(self) -> None:
        """Nothing to do: there is no socket."""


class _InlineCheckpointer(Checkpointer):
    """Checkpoints right after the commit that made the log too long, instead of in a thread."""

    def _wake(self) -> None:
        self._checkpoint()
        self._disconnect()


class SteppedDatabase(Database[S]):
    """The database of one process: each call is one step and is answered at once."""

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
        return self._run(Call(self._possibly_fatal(step), self._file.loop.create_future()))

    def write_unsynced(self, step: Callable[[S], T | DeferredResult[T]]) -> Awaitable[T]:
        return self.write(step)

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
        if self._limited is not self._file.faults.disk_is_full:
            self._limited = self._file.faults.disk_is_full  # SQLite raises 1 to the present size
            connection.execute(f"PRAGMA max_page_count = {1 if self._limited else UNBOUNDED}")
        return self._begin_session(connection)

    def _possibly_fatal(self, step: Callable[[S], T]) -> Callable[[S], T]:
        """The step, or a step that also kills the process before its commit."""
        if not self._file.faults.dies_writing(self._process):
            return step

        def die(session: S) -> T:
            step(session)
            session.flush()
            assert self._writing is not None
            self._writing.close()
            self._file.faults.kill_writing(self._process)
            raise Unavailable(f"{self._process} was killed within a transaction")

        return die
