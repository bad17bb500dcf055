"""A backend on the wire: how fast it answers a server."""

from __future__ import annotations

from msgspec import Struct


class BackendView(Struct, frozen=True, kw_only=True):
    """The store or the coordinator, as the server that answers reaches it."""

    name: str
    """`store` or `coordinator`."""
    kind: str
    """Of its address, such as `postgresql`."""
    seconds: float | None = None
    """How long it took to answer; null: it did not."""
    fault: str | None = None
    """Why it did not answer."""
    clock_ahead_seconds: float | None = None
    """How far its clock is ahead of that of the server; null: it tells no time."""
