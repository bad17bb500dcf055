"""The PostgreSQL coordinator: coordinates all nodes that share one schema of a database.

A term is a row with a holder, a token and an end. An advisory lock would not do: it has no token,
is lost at a failover, and belongs to a session, which a pooler shares. One guarded statement writes
the row, if there is none or its term is over. It is renewed and released by holder *and* token, and
only before its end. Each call is one statement, a transaction of its own.

**Time** is the server's, by `clock_timestamp()`: `now()` would be the time before the statement
waited for the row. The rest of a term is returned as a duration, so the clocks of nodes do not
matter.

**Tokens** come from a sequence, while the row of the name is locked. The row outlives its terms by
an hour, so the next term of the name has a higher token. The **domain** is created with the schema:
a schema that was dropped and created again is another coordinator.

**Connections** are its own, so a busy store in the same process does not delay a renewal.
**Hints** are notifications, sent with the commit. A node that is killed sends none, so waiters set
an alarm at the end of the term.
"""

from drumbeat.backends.postgres.coordinator.coordinator import PostgresCoordinator

__all__ = ["PostgresCoordinator"]
