"""Elections: who leads, who did, and how another is let."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from drumbeat.api.answer import Listed
from drumbeat.api.call import Call, Nothing
from drumbeat.api.paging import PageQuery
from drumbeat.api.problem import Problem
from drumbeat.api.resolver import AnyRoute
from drumbeat.api.route import Route
from drumbeat.api.showing import election_shown
from drumbeat.model.lease import SCHEDULER
from drumbeat.model.token import Scope
from drumbeat.wire.changes import ReasonView
from drumbeat.wire.election import (
    ElectionView,
    ResignedView,
    TermView,
    leader_view,
    term_view,
)


class ResignQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """How long to wait for another leader."""

    timeout: Annotated[float, Meta(ge=0, le=60)] = 15.0
    """In seconds."""


async def list_elections(call: Call[Nothing, Any]) -> list[ElectionView]:
    """The elections: that of the schedulers is the only one."""
    return [await election_shown(call.desk, SCHEDULER)]


async def show(call: Call[Nothing, Any]) -> ElectionView:
    """The election."""
    return await election_shown(call.desk, _name(call))


async def history(call: Call[PageQuery, Any]) -> Listed:
    """A page of terms."""
    page = await call.desk.store.fence.history(_name(call), call.query.page())
    return Listed([term_view(term) for term in page.items], page.next)


async def resign(call: Call[ResignQuery, ReasonView]) -> ResignedView:
    """Who led, and who leads now."""
    _name(call)
    before, after = await call.desk.resigning.ask(call.query.timeout)
    if before is None:
        raise Problem(409, "nobody-leads", "nobody leads, so nobody can resign")
    return ResignedView(before=leader_view(before), after=leader_view(after))


def _name(call: Call[Any, Any]) -> str:
    name = call.path["name"]
    if name != SCHEDULER:
        raise Problem(
            404, "unknown-election", f"there is no election {name!r}; there is {SCHEDULER!r}"
        )
    return name


ROUTES: tuple[AnyRoute, ...] = (
    Route(
        "GET",
        "/elections",
        Scope.VIEWER,
        list_elections,
        "List elections with their leader, epoch and lease",
        list[ElectionView],
    ),
    Route(
        "GET",
        "/elections/{name}",
        Scope.VIEWER,
        show,
        "Show an election",
        ElectionView,
        refuses=(404,),
    ),
    Route(
        "GET",
        "/elections/{name}/history",
        Scope.VIEWER,
        history,
        "List the terms of an election, the latest first",
        list[TermView],
        refuses=(404,),
        query=PageQuery,
    ),
    Route(
        "POST",
        "/elections/{name}/resign",
        Scope.OPERATOR,
        resign,
        "Ask the leader to let another lead, and wait for it",
        ResignedView,
        refuses=(404, 409, 504),
        query=ResignQuery,
        body=ReasonView,
        change="election.resign",
    ),
)
