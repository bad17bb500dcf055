"""The SQLite coordinator: appoints among the processes of one machine, through one file.

A term is a row with a holder, a token and an end. It is acquired by one guarded statement under the
file's write lock: written if there is no row, or if the one that is there is over. It is renewed
and released by holder *and* token, and only while it lives.

**Time** is that since the machine was started, suspension included, as the injected clock tells it
by `elapsed()`. All processes that can share the file share that clock, and nobody can set it. It
begins anew with each start of the machine, so each row also names the start that it was written in,
by the kernel's boot id: what an earlier start wrote is over, since so is every process of it.

**Tokens** and revisions come from counters that are never reset, in the transaction that gives them
out; a row that is deleted takes nothing with it. The **domain** was given to the file when it was
made: a file that was deleted and made again is another coordinator.

**Hints** travel as those of the store do (`drumbeat.sqlite.messenger`). For what nobody will tell,
since its process was killed, whoever waits sets an alarm at the end of the present term.
"""

from drumbeat.coordinators.sqlite.coordinator import SqliteCoordinator

__all__ = ["SqliteCoordinator"]
