"""The check that a store exists, so that a command that only looks creates nothing."""

from __future__ import annotations

from contextlib import AsyncExitStack

from drumbeat.app import Drumbeat
from drumbeat.cli.exit_codes import Exit, Problem
from drumbeat.config import Config
from drumbeat.config.backends import NONE
from drumbeat.model.text import counted
from drumbeat.ports.coordinator import Coordinator
from drumbeat.ports.migrations import Migrating, Migrations, waits
from drumbeat.ports.store import Store

STORE, COORDINATOR = "store", "coordinator"


async def check_exists(app: Drumbeat) -> None:
    """Raise a `Problem` if the tables of the store or of the coordinator would have to be created.

    This creates and changes nothing.
    """
    services, config = app.fleet.services, app.settings
    backends: dict[str, Store | Coordinator] = {STORE: services.store}
    if config.coordinator not in (None, NONE, config.store):
        backends[COORDINATOR] = services.coordinator
    async with AsyncExitStack() as on_failure:
        for part, backend in backends.items():
            on_failure.push_async_callback(backend.close)
            if isinstance(backend, Migrating):
                await _check(backend.migrations, part, config)
        on_failure.pop_all()


async def _check(migrations: Migrations, part: str, config: Config) -> None:
    applied = await migrations.applied()
    if not applied:
        by_hand = ", or create its tables with `drumbeat db migrate`" if part == STORE else ""
        raise Problem(
            f"nothing is at {config.shown(part)} yet for the namespace {config.namespace!r}: "
            f"start a node with `drumbeat run APP`{by_hand}",
            Exit.NOT_FOUND,
        )
    missing = [
        step for step in migrations.known() if step.version not in applied and not waits(step)
    ]
    if missing:
        raise Problem(
            f"{config.shown(part)} was made by an older version of Drumbeat: "
            f"{counted(len(missing), 'migration')} not applied; `drumbeat db migrate` does it"
        )
