"""Accounts: a change is written down before it is made, and its outcome after."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from drumbeat.api.answer import encode
from drumbeat.api.call import Call
from drumbeat.api.peer import text
from drumbeat.api.problem import Problem
from drumbeat.api.refusals import refusal
from drumbeat.api.resolver import AnyRoute
from drumbeat.model.audit import AuditNote
from drumbeat.model.errors import DrumbeatError
from drumbeat.ports.store import Store

log = logging.getLogger("drumbeat.api")

REASON = b"x-drumbeat-reason"
LONGEST_REASON = 500
LONGEST_DETAIL = 2_000
TOO_LONG = "[too long to be kept]"
DONE, BROKEN = "done", "error"
TOLD = frozenset(
    {
        *("filter", "all", "from", "to", "tick_at", "scope", "expires_at"),
        *("task", "when", "tz", "dst_gap", "dst_repeat", "policies", "description"),
        *("queue", "priority", "timeout", "retry", "tags"),
    }
)
"""What the log keeps of a body. Arguments and shared values are left out: they may be secret."""


class Accounts:
    """Keeps the audit log."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def accounted(
        self,
        route: AnyRoute,
        call: Call[Any, Any],
        handle: Callable[[Call[Any, Any]], Awaitable[Any]],
    ) -> Any:
        """What the handler answers. Nothing is changed that the log does not have."""
        if getattr(call.body, "dry_run", False):  # it only counts, and changes nothing
            return await handle(call)
        note = _note(route, call)
        if note.reason and getattr(call.body, "reason", None) == "":
            call.body.reason = note.reason  # it was given by the header, and is meant all the same
        entry = await self._store.audit.record(note)
        outcome: str | None = None  # as long as nobody knows what came of it
        try:
            answer = await handle(call)
        except Problem as problem:
            outcome = problem.kind
            raise
        except DrumbeatError as error:
            outcome = refusal(error).kind
            raise
        except Exception:
            outcome = BROKEN
            raise
        else:
            outcome = DONE
            return answer
        finally:
            if outcome is not None:
                await self._conclude(entry.id, outcome)

    async def _conclude(self, entry_id: int, outcome: str) -> None:
        try:
            await self._store.audit.conclude(entry_id, outcome)
        except DrumbeatError as error:  # the change is made or refused: that stands
            log.warning("The outcome of change %d was not noted: %s", entry_id, error)


def _note(route: AnyRoute, call: Call[Any, Any]) -> AuditNote:
    assert route.change is not None, "only changes are accounted for"
    body: object = call.body
    reason = getattr(body, "reason", None) or text(call.headers, REASON).strip()
    name = getattr(body, "name", None)
    return AuditNote(
        call.caller.name,
        route.change,
        "/".join(call.path.values()) or (name if isinstance(name, str) else route.path),
        reason.replace("\0", "")[:LONGEST_REASON] if isinstance(reason, str) else "",
        _details(body),
    )


def _details(body: object) -> dict[str, object]:
    """What exactly was asked for, as far as it was said."""
    if not isinstance(body, Struct):
        return {}
    given: dict[str, object] = {}
    for field in msgspec.structs.fields(body):
        value = getattr(body, field.name)
        if field.encode_name in TOLD and value is not UNSET and value not in (None, "", [], False):
            plain = msgspec.to_builtins(value)
            given[field.encode_name] = plain if len(encode(plain)) <= LONGEST_DETAIL else TOO_LONG
    return given
