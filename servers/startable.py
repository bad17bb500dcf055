"""What can be started by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from servers.cluster import Cluster
from servers.consul import Consul
from servers.etcd import Etcd
from servers.postgres import Postgres
from servers.redis import Redis
from servers.sentinel import Sentinel
from servers.server import Server
from servers.valkey import Valkey

STARTABLE: Mapping[str, Callable[[], Server | Cluster[Any]]] = {
    "postgres": Postgres.start,
    "redis": Redis.start,
    "sentinel": Sentinel.start,
    "valkey": Valkey.start,
    "etcd": Etcd.start,
    "consul": Consul.start,
}
"""The servers that need nothing but themselves."""
