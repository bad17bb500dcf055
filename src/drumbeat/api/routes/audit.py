"""The audit log: who changed what, and why."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from drumbeat.api.answer import Listed
from drumbeat.api.call import Call
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.model.audit import AuditFilter
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.model.token import Scope
from drumbeat.wire.audit import AuditView, audit_view
from drumbeat.wire.fields import NO_NUL, Instant, check_instants

Words = Annotated[str, Meta(min_length=1, max_length=500, pattern=NO_NUL)]


class AuditQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which entries are wanted, and which page of them."""

    actor: Words | None = None
    """Only changes that they asked for."""
    action: Words | None = None
    """Only changes of this kind, such as `queue.pause`."""
    target: Words | None = None
    """Only changes of this."""
    since: Instant | None = None
    """Only changes at or after it."""
    until: Instant | None = None
    """Only changes before it."""
    limit: Annotated[int, Meta(ge=1, le=LARGEST_PAGE)] = 100
    after: Annotated[str, Meta(max_length=500)] | None = None
    """Where the page before ended; the `Link` header of that page has it."""

    def __post_init__(self) -> None:
        check_instants(since=self.since, until=self.until)


async def list_audit(call: Call[AuditQuery, Any]) -> Listed:
    """A page of the log."""
    query = call.query
    wanted = AuditFilter(query.actor, query.action, query.target, query.since, query.until)
    page = await call.desk.store.audit.list(wanted, PageRequest(query.limit, query.after))
    return Listed([audit_view(entry) for entry in page.items], page.next)


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/audit",
        Scope.VIEWER,
        list_audit,
        "List the changes that were asked for, the newest first",
        list[AuditView],
        query=AuditQuery,
    ),
)
