"""The route for the audit log."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from drumbeat.api.http.route import AnyRoute, read_route
from drumbeat.model.fleet.audit import AuditFilter
from drumbeat.model.page import LARGEST_PAGE, PageRequest
from drumbeat.wire.audit import AuditView
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

    def filter(self) -> AuditFilter:
        return AuditFilter(self.actor, self.action, self.target, self.since, self.until)

    def page(self) -> PageRequest:
        return PageRequest(self.limit, self.after)


ROUTES: tuple[AnyRoute, ...] = (
    read_route(
        "/audit",
        "List the audit log, the newest entry first",
        list[AuditView],
        lambda call: call.fleet.audit.list(call.query.filter(), call.query.page()),
        query=AuditQuery,
    ),
)
