"""Elections on the wire: who leads, since when, and who did before."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct

from drumbeat.model.ids import NodeId
from drumbeat.model.lease import FenceRow, Lease, TermRecord


class LeaderView(Struct, frozen=True, kw_only=True):
    """Who leads; every value is null if nobody does."""

    leader: str | None = None
    election: str | None = None
    token: int | None = None
    """The number of the term, as the coordinator counts them."""
    ttl_seconds: float | None = None
    domain: str | None = None
    """The coordinator that counts them."""


class ElectionView(Struct, frozen=True, kw_only=True):
    """An election, and who has won it."""

    name: str
    leader: str | None = None
    """Who leads, as the coordinator has it; null: nobody does."""
    token: int | None = None
    ttl_seconds: float | None = None
    epoch: int | None = None
    """The term as the store counts them; null: none was ever accepted."""
    fenced: str | None = None
    """The node whose epoch that is. It differs from `leader` for a moment at each change."""
    is_leader: bool = False
    """Whether it is the node that answers."""
    domain: str | None = None
    """The coordinator that counts the tokens."""
    lease_remaining_seconds: float | None = None
    """How long it may lead without a renewal. Only the leader itself knows; null elsewhere."""


class TermView(Struct, frozen=True, kw_only=True):
    """A term that became an epoch."""

    election: str
    epoch: int
    node: str
    domain: str
    token: int
    since: datetime


class ResignedView(Struct, frozen=True, kw_only=True):
    """Who led before, and who leads now."""

    before: LeaderView
    after: LeaderView


def leader_view(lease: Lease | None) -> LeaderView:
    """The leader as programs see it."""
    if lease is None:
        return LeaderView()
    return LeaderView(
        leader=lease.holder,
        election=lease.name,
        token=lease.token,
        ttl_seconds=lease.ttl.total_seconds(),
        domain=lease.domain,
    )


def leader_of(view: LeaderView) -> Lease | None:
    """The lease that the view is of."""
    if view.leader is None:
        return None
    return Lease(
        view.election or "",
        NodeId(view.leader),
        view.domain or "",
        view.token or 0,
        timedelta(seconds=view.ttl_seconds or 0.0),
    )


def election_view(name: str, lease: Lease | None, fence: FenceRow | None) -> ElectionView:
    """The election as programs see it, from a node that does not lead."""
    return ElectionView(
        name=name,
        leader=None if lease is None else lease.holder,
        token=None if lease is None else lease.token,
        ttl_seconds=None if lease is None else lease.ttl.total_seconds(),
        domain=None if lease is None else lease.domain,
        epoch=None if fence is None else fence.epoch,
        fenced=None if fence is None else fence.holder,
    )


def lease_of(view: ElectionView) -> Lease | None:
    """The lease of whoever has won the election that the view is of."""
    return leader_of(
        LeaderView(
            leader=view.leader,
            election=view.name,
            token=view.token,
            ttl_seconds=view.ttl_seconds,
            domain=view.domain,
        )
    )


def term_view(term: TermRecord) -> TermView:
    """The term as programs see it."""
    return TermView(
        election=term.election,
        epoch=term.epoch,
        node=term.node,
        domain=term.domain,
        token=term.token,
        since=term.since,
    )


def term_of(view: TermView) -> TermRecord:
    """The term that the view is of."""
    return TermRecord(
        view.election, view.epoch, NodeId(view.node), view.domain, view.token, view.since
    )
