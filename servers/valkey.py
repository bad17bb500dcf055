"""Valkey, a fork of Redis."""

from __future__ import annotations

from servers.packages import VALKEY
from servers.redis import Redis


class Valkey(Redis):
    """A Valkey server."""

    name = "Valkey"
    package = VALKEY
