"""Routes for elections."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from drumbeat.api.http.page_query import PageQuery
from drumbeat.api.http.route import AnyRoute, change_route, read_route
from drumbeat.wire.election import ElectionView, ResignedView, TermView


class ResignQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """How long to wait for another leader."""

    timeout: Annotated[float, Meta(ge=0, le=60)] = 15.0
    """In seconds."""


ROUTES: tuple[AnyRoute, ...] = (
    read_route(
        "/elections",
        "List elections with their leader, epoch and lease",
        list[ElectionView],
        lambda call: call.fleet.elections.list(),
    ),
    read_route(
        "/elections/{name}",
        "Show an election",
        ElectionView,
        lambda call: call.fleet.elections.get(call.path["name"]),
    ),
    read_route(
        "/elections/{name}/history",
        "List the terms of an election, the latest first",
        list[TermView],
        lambda call: call.fleet.elections.history(call.path["name"], call.query.page()),
        query=PageQuery,
    ),
    change_route(
        "/elections/{name}/resign",
        "Ask the leader to resign, and wait until another leads",
        ResignedView,
        lambda call: call.fleet.elections.resign(
            call.path["name"], call.query.timeout, call.body.reason
        ),
        query=ResignQuery,
        refuses=(404, 409, 504),
    ),
)
