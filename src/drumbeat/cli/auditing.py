"""Auditing: what a person changes at a terminal is written down before it is done."""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from drumbeat.app import Drumbeat
from drumbeat.cli.reasons import reason_given
from drumbeat.model.audit import AuditNote
from drumbeat.model.errors import DrumbeatError

T = TypeVar("T")

DONE = "done"


def actor() -> str:
    """Who sits at the terminal, as the machine knows them."""
    try:
        return f"{getpass.getuser()} (terminal)"
    except (KeyError, OSError):  # a container without a name for its user
        return "somebody (terminal)"


def done(change: Callable[[], Awaitable[T]]) -> Callable[[], Awaitable[tuple[T, str]]]:
    """A change that is done once it has returned."""

    async def changed() -> tuple[T, str]:
        return await change(), DONE

    return changed


async def audited(
    app: Drumbeat, note: AuditNote, change: Callable[[], Awaitable[tuple[T, str]]]
) -> T:
    """Record, change, conclude. The change gives what came of it, and that in words."""
    log = app.store.audit
    entry = await log.record(note if note.reason else replace(note, reason=reason_given()))
    try:
        answer, outcome = await change()
    except DrumbeatError as error:
        await log.conclude(entry.id, f"refused: {error}")
        raise
    await log.conclude(entry.id, outcome)
    return answer
