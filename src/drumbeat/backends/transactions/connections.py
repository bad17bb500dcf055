"""Connections of callers: runs our statement over them, and explains why one cannot be used."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from drumbeat.backends.transactions.drivers import (
    Asynchronous,
    Synchronous,
    driver_of,
    kind_of_database,
)
from drumbeat.model.errors import ConfigurationError, InvalidOption
from drumbeat.model.jobs.job import Duplicate, Inserted
from drumbeat.ports.caller_transaction import Insertion

NO_SUCH = frozenset({"3F000", "42883", "42P01"})
"""SQL states for a schema, a function or a table that does not exist."""


class CallersTransactions:
    """Runs statements over connections of psycopg, asyncpg, SQLAlchemy and Django."""

    async def run(self, connection: object, insertion: Insertion) -> Sequence[Inserted | Duplicate]:
        driver = _known(connection)
        if isinstance(driver, Synchronous):
            raise InvalidOption(
                f"{_named(connection)} would block the event loop; "
                "call submit_sync(...) with it, or use an asynchronous connection"
            )
        with _explained(connection):
            rows = await driver.run(connection, insertion)
        return insertion.verdicts(rows)

    def run_sync(self, connection: object, insertion: Insertion) -> Sequence[Inserted | Duplicate]:
        driver = _known(connection)
        if isinstance(driver, Asynchronous):
            raise InvalidOption(
                f"{_named(connection)} is asynchronous; await submit(...) with it, "
                "or use a synchronous connection"
            )
        with _explained(connection):
            rows = driver.run(connection, insertion)
        return insertion.verdicts(rows)


def _known(connection: object) -> Synchronous | Asynchronous:
    driver = driver_of(connection)
    if driver is None:
        raise InvalidOption(
            "connection must be one of psycopg, asyncpg, SQLAlchemy or Django, "
            f"not {_named(connection)}"
        )
    return driver


def _named(connection: object) -> str:
    kind = type(connection)
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


@contextmanager
def _explained(connection: object) -> Generator[None]:
    """Replace an error of the database by one that says what to do."""
    try:
        yield
    except Exception as error:
        _explain(error, connection)
        raise


def _explain(error: Exception, connection: object) -> None:
    kind = kind_of_database(connection)
    if kind not in (None, "postgresql"):
        raise ConfigurationError(
            f"the connection leads to {kind}, and the store is a PostgreSQL database: "
            "connect to the store's own database"
        ) from error
    cause: object = getattr(error, "orig", None) or error.__cause__ or error
    states = (
        getattr(each, name, None) for each in (error, cause) for name in ("sqlstate", "pgcode")
    )
    if any(state in NO_SUCH for state in states):
        raise ConfigurationError(
            "the connection's database does not hold the store, or holds an older version of it: "
            "connect to the store's own database, and run `drumbeat db migrate`"
        ) from error
