"""SQL: the statements of the store, by the file that they are in."""

from __future__ import annotations

from drumbeat.postgres.statements import Statements

PACKAGE = "drumbeat.stores.postgres.statements"

JOBS = Statements(PACKAGE, "jobs.sql")
SCHEDULES = Statements(PACKAGE, "schedules.sql")
NODES = Statements(PACKAGE, "nodes.sql")
RETENTION = Statements(PACKAGE, "retention.sql")
