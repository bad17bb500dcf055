"""The PostgreSQL coordinator: appoints among all who reach one schema of one database.

A term is a row with a holder, a token and an end, not an advisory lock: such a lock has no token,
is lost at a failover, and belongs to a session, which behind a pooler is anybody's. The row is
written by one guarded statement: if there is none, or if the one that is there is over. It is
renewed and released by holder *and* token, and only while it lives. Each call is one statement, a
transaction of its own.

**Time** is the server's, by `clock_timestamp()`: `now()` would be the time before the statement
waited for the row. What is left of a term is told as a length of time, so that no clock of a node
matters.

**Tokens** come from a sequence, drawn while the row of the name is locked. The row outlives its
terms by an hour, so whoever takes the name next draws a later number. The **domain** was given to
the schema when it was made: one that was dropped and made again is another coordinator.

**Connections** are its own: a store that is busy with the same database, in the same process, keeps
no renewal waiting. **Hints** are notifications, sent with the commit of what they tell of; for what
nobody will tell, since its node was killed, whoever waits sets an alarm at the end of the term.
"""

from drumbeat.backends.postgres.coordinator.coordinator import PostgresCoordinator

__all__ = ["PostgresCoordinator"]
