"""SQL: the statements of the store, by the file that they are in."""

from __future__ import annotations

from drumbeat.postgres.statements import Statements

PACKAGE = "drumbeat.stores.postgres.statements"

JOBS = Statements(PACKAGE, "jobs.sql")
LISTS = Statements(PACKAGE, "lists.sql")
SCHEDULES = Statements(PACKAGE, "schedules.sql")
NODES = Statements(PACKAGE, "nodes.sql")
RETENTION = Statements(PACKAGE, "retention.sql")
QUEUES = Statements(PACKAGE, "queues.sql")
AUDIT = Statements(PACKAGE, "audit.sql")
TOKENS = Statements(PACKAGE, "tokens.sql")
