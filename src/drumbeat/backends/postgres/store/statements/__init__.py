"""The SQL statements of the store, by the file that they are in."""

from __future__ import annotations

from drumbeat.backends.postgres.connection.statements import Statements

JOBS = Statements(__name__, "jobs.sql")
LISTS = Statements(__name__, "lists.sql")
SCHEDULES = Statements(__name__, "schedules.sql")
NODES = Statements(__name__, "nodes.sql")
RETENTION = Statements(__name__, "retention.sql")
QUEUES = Statements(__name__, "queues.sql")
AUDIT = Statements(__name__, "audit.sql")
TOKENS = Statements(__name__, "tokens.sql")
