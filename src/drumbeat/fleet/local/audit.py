"""The audit log: changes are recorded before they are made, and their outcome after."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager

import msgspec
from msgspec import UNSET, Struct

from drumbeat.fleet.actor import Actor
from drumbeat.fleet.local.services import Services
from drumbeat.model.errors import DrumbeatError
from drumbeat.model.fleet.audit import AuditFilter, AuditNote
from drumbeat.model.page import Page, PageRequest
from drumbeat.ports.store import Store
from drumbeat.wire.audit import AuditView, audit_view

log = logging.getLogger("drumbeat.fleet")

LONGEST_REASON = 500
LONGEST_DETAIL = 2_000
TOO_LONG = "[too long to be kept]"
DONE = "done"
RECORDED = frozenset(
    {
        *("filter", "all", "from", "to", "tick_at", "scope", "expires_at"),
        *("task", "when", "tz", "dst_gap", "dst_repeat", "policies", "description"),
        *("queue", "priority", "timeout", "retry", "tags"),
    }
)
"""The parts of a request that are recorded. Arguments and shared values may be secret."""
NO_DETAILS: Mapping[str, object] = {}


class AuditTrail:
    """Records the changes of one actor."""

    def __init__(self, store: Store, actor: Actor) -> None:
        self._store = store
        self._actor = actor

    @asynccontextmanager
    async def change(
        self,
        action: str,
        target: str,
        reason: str = "",
        request: Struct | Mapping[str, object] = NO_DETAILS,
    ) -> AsyncGenerator[str]:
        """Record a change before its body makes it, and its outcome after.

        Yields the reason for the change: its own, else the actor's. The outcome is `done`, or the
        `kind` of the error that the body raises; it stays open if the body is cancelled.
        """
        because = reason or self._actor.reason.replace("\0", "")[:LONGEST_REASON]
        kept = because.replace("\0", "")[:LONGEST_REASON]
        note = AuditNote(self._actor.name, action, target, kept, _details(request))
        entry = await self._store.audit.record(note)
        try:
            yield because
        except Exception as error:
            kind = error.kind if isinstance(error, DrumbeatError) else DrumbeatError.kind
            await self._conclude(entry.id, kind)
            raise
        await self._conclude(entry.id, DONE)

    async def _conclude(self, entry_id: int, outcome: str) -> None:
        try:
            await self._store.audit.conclude(entry_id, outcome)
        except DrumbeatError as error:  # the change is made or rejected: that stands
            log.warning("The outcome of change %d was not recorded: %s", entry_id, error)


class LocalAudit:
    """Implements `FleetAudit`."""

    def __init__(self, services: Services) -> None:
        self._store = services.store

    async def list(
        self, wanted: AuditFilter | None = None, page: PageRequest | None = None
    ) -> Page[AuditView]:
        found = await self._store.audit.list(wanted or AuditFilter(), page or PageRequest())
        return Page(tuple(audit_view(entry) for entry in found.items), found.next)


def _details(request: Struct | Mapping[str, object]) -> dict[str, object]:
    """The recorded parts of a request, as far as they were given."""
    details: dict[str, object] = {}
    for name, value in _fields(request):
        if name in RECORDED and value is not UNSET and value not in (None, "", [], False):
            plain = msgspec.to_builtins(value)
            fits = len(msgspec.json.encode(plain)) <= LONGEST_DETAIL
            details[name] = plain if fits else TOO_LONG
    return details


def _fields(request: Struct | Mapping[str, object]) -> Iterable[tuple[str, object]]:
    if isinstance(request, Struct):
        fields = msgspec.structs.fields(request)
        return ((field.encode_name, getattr(request, field.name)) for field in fields)
    return request.items()
