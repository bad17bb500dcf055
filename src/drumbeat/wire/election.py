"""Elections on the wire: who leads, since when, and who did before."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from drumbeat.model.fleet.lease import FenceRow, Lease, TermRecord


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
    if lease is None:
        return LeaderView()
    return LeaderView(
        leader=lease.holder,
        election=lease.name,
        token=lease.token,
        ttl_seconds=lease.ttl.total_seconds(),
        domain=lease.domain,
    )


def election_view(name: str, lease: Lease | None, fence: FenceRow | None) -> ElectionView:
    return ElectionView(
        name=name,
        leader=None if lease is None else lease.holder,
        token=None if lease is None else lease.token,
        ttl_seconds=None if lease is None else lease.ttl.total_seconds(),
        domain=None if lease is None else lease.domain,
        epoch=None if fence is None else fence.epoch,
        fenced=None if fence is None else fence.holder,
    )


def term_view(term: TermRecord) -> TermView:
    return TermView(
        election=term.election,
        epoch=term.epoch,
        node=term.node,
        domain=term.domain,
        token=term.token,
        since=term.since,
    )
