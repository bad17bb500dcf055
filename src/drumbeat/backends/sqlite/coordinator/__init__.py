"""The SQLite coordinator: appoints among the processes of one machine, through one file.

A term is a row with a holder, a token and an end. One guarded statement under the file's write lock
grants it, if there is no row or the row's term has ended. It is renewed and released by holder
*and* token, and only while it is live.

**Time** is the time since the machine was booted, suspension included, by the injected clock's
`elapsed()`. All processes that can share the file share that clock, and nobody can set it. It
starts again at each boot, so each row also has the kernel's boot id: a row of an earlier boot is
over, since every process of that boot is gone.

**Tokens** and revisions come from counters that are never reset, in the transaction that gives them
out; a row that is deleted takes nothing with it. The **domain** was given to the file when it was
made: a file that was deleted and made again is another coordinator.

**Hints** are sent as those of the store (`backends.sqlite.connection.hints`). A process that was
killed sends none, so waiters also wake up at the end of the present term.
"""

from drumbeat.backends.sqlite.coordinator.coordinator import SqliteCoordinator

__all__ = ["SqliteCoordinator"]
